package config

// RawProfiles returns all values of all profiles, secrets included. A property with
// sub-properties has a map of them. The values come from the data, not from ini.v1.
func RawProfiles(src Sources) (map[string]map[string]any, error) {
	var found findings
	files, err := src.open(&found)
	if err != nil {
		return nil, err
	}
	all := map[string]map[string]any{}
	both := readings(files, "", true, &found)
	for _, at := range places(both) {
		if !at.profile {
			continue
		}
		all[at.name] = map[string]any{}
		for _, x := range both {
			for key, v := range x.sections[at].values() {
				if all[at.name][key] = string(v.text); v.group {
					all[at.name][key] = subProperties(x.sections[at], key)
				}
			}
		}
	}
	return all, nil
}

// subProperties returns those of the last property with the key.
func subProperties(s *section, key string) (subs map[string]any) {
	within := false
	for _, l := range s.lines {
		switch p := l.split(); {
		case l.kind == lineProperty && !p.dropped:
			if within = asciiLower(p.key) == key; within {
				subs = map[string]any{}
			}
		case l.kind == lineSubProperty && within && !p.dropped:
			subs[asciiLower(p.key)] = p.value
		}
	}
	return subs
}

// Malformed returns the malformed lines of both files with Kind, Line and Msg.
func Malformed(src Sources) ([]ParseError, error) {
	files, err := src.open(&findings{})
	if err != nil {
		return nil, err
	}
	var all []ParseError
	for _, f := range files {
		if f.utf16 {
			all = append(all, ParseError{Kind: f.Kind, Line: 1, Msg: msgUTF16})
		}
		var l line
		for s := (scanner{data: f.data, valid: f.valid, brief: true}); s.scan(&l); {
			if l.kind == lineMalformed {
				all = append(all, ParseError{Kind: f.Kind, Line: int(l.number), Msg: s.expected})
			}
		}
	}
	return all, nil
}

// IsSecret reports whether the value of a key is never shown.
func IsSecret(key string) bool { return isSecret(key) }

// These read values.
var (
	ReadMode        = readMode
	ReadMaxAttempts = readMaxAttempts
	ReadMaxBackoff  = readMaxBackoff
	ReadDuration    = readDuration
	AcceptBehavior  = acceptBehavior
)

// What the settings accept, and why a file cannot be read.
var (
	ErrMode        = errMode
	ErrBehavior    = errBehavior
	ErrMaxAttempts = errMaxAttempts
	ErrMaxBackoff  = errMaxBackoff
	ErrDuration    = errDuration
	ErrMultiLine   = errMultiLine
	ErrNotRegular  = errNotRegular
	ErrTooLarge    = errTooLarge
)
