package config

// RawProfiles returns all values of all profiles, secrets included. A property with
// sub-properties has a map of them. The values come from the data, not from ini.v1.
func RawProfiles(src Sources) (map[string]map[string]any, error) {
	files, _, err := src.open()
	if err != nil {
		return nil, err
	}
	both := indexes(files, "", true)
	all := map[string]map[string]any{}
	for g := range groups(both) {
		if !g.profile {
			continue
		}
		values := map[string]any{}
		for i, x := range both {
			for _, p := range x.last(g.parts[i]) {
				key := asciiLower(string(x.keyAt(p)))
				value, _, group := x.value(p)
				if values[key] = string(value); group {
					values[key] = x.subProperties(p)
				}
			}
		}
		all[string(g.name)] = values
	}
	return all, nil
}

func (x *index) subProperties(p property) map[string]any {
	subs := map[string]any{}
	x.block(p, func(it *item) {
		if it.kind == lineSubProperty && isIdentifier(it.key) {
			subs[asciiLower(string(it.key))] = string(it.value)
		}
	})
	return subs
}

// Malformed returns the malformed lines of both files with Kind, Line and Msg.
func Malformed(src Sources) ([]ParseError, error) {
	files, _, err := src.open()
	if err != nil {
		return nil, err
	}
	var all []ParseError
	for _, f := range files {
		lines, it := f.scanner(section{}), item{}
		lines.brief = true // As the pass over the whole file has it.
		for lines.scan(&it) {
			if it.kind == lineMalformed {
				all = append(all, ParseError{Kind: f.Kind, Line: it.number, Msg: it.msg})
			}
		}
	}
	return all, nil
}

// ProfileName returns the name of the profile that the environment chooses.
func ProfileName(src Sources) string {
	r := resolution{sources: src}
	s, _ := r.choose(Query{}.table().profile)
	return s.Value
}

// IsSecret reports whether the value of a key is never shown.
func IsSecret(key string) bool { return isSecret(key) }

// These read values.
var (
	ParseMode        = parseMode
	ParseMaxAttempts = parseMaxAttempts
	ParseMaxBackoff  = parseMaxBackoff
	ParseDuration    = parseDuration
	ParseBehavior    = parseBehavior
)

// MaxFileSize is the limit on the size of a file.
const MaxFileSize = maxFileSize

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
