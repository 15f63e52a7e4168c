package config

// RawProfiles gives all values of all profiles, secrets included, with a map of
// sub-properties for each property that has them. Values come from the data, not
// from ini.v1.
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

// Malformed lists the malformed lines of both files as kind and line.
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

// ProfileName is the name of the profile that the environment chooses.
func ProfileName(src Sources) string {
	r := resolution{sources: src}
	s, _ := r.choose(Query{}.table().profile)
	return s.Value
}

// Distance is the bounded edit distance.
func Distance(a, b string, limit int) int { return distance(a, b, limit) }

// IsSecret says whether the value of a key is never shown.
func IsSecret(key string) bool { return isSecret(key) }

// ParseMode, ParseMaxAttempts and ParseBehavior read values.
var (
	ParseMode        = parseMode
	ParseMaxAttempts = parseMaxAttempts
	ParseBehavior    = parseBehavior
)

// MaxFileSize is the limit on the size of a file.
const MaxFileSize = maxFileSize
