package config

import "strconv"

// notFound makes the error for a profile that no file has. Only here are the
// names of all profiles gathered.
func (f *Files) notFound(name string, askedBy Origin) error {
	e := &ProfileNotFoundError{Profile: name, Origin: askedBy, Files: f.Status()}
	config, credentials, err := f.index(scope{all: true})
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	var names []string
	for _, s := range append(config.sections, credentials.sections...) {
		if !seen[s.profile] {
			seen[s.profile] = true
			names = append(names, s.profile)
		}
	}
	e.Near = nearest(name, names)
	e.Hint = f.hint(name)
	return e
}

// hint looks for sections that would be the profile if their header were
// written as their file wants it.
func (f *Files) hint(name string) string {
	for i, meant := range []string{"[profile " + name + "]", "[" + name + "]"} {
		file := f.data().files[i]
		s, err := newScanner(file)
		if err != nil {
			return ""
		}
		for {
			var line item
			err := s.scan(&line)
			if err != nil || line.kind == lineEnd {
				break
			}
			if line.kind == lineHeader && misses(file.status.Kind, line.key, name) {
				return s.file + ":" + strconv.Itoa(s.line) + " has " + shorten("["+string(line.key)+"]") + ", which would have to be " + meant
			}
		}
	}
	return ""
}

// misses says whether a header names the profile in the way of the other file.
func misses(kind FileKind, header []byte, name string) bool {
	other := KindConfig
	if kind == KindConfig {
		other = KindCredentials
	}
	return string(classify(other, header).profile) == name
}
