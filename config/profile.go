package config

// Profile is what the two files say about the retries of one profile. It holds
// values of retry settings only.
type Profile struct {
	// Name is the name that was asked for.
	Name string
	// Found says whether any of the files has the profile.
	Found bool
	// Diagnostics are the findings about this profile, file by file.
	Diagnostics []Diagnostic

	candidates map[string][]Candidate
}

// Candidates gives the values of a setting, [KeyRetryMode] or [KeyMaxAttempts],
// the one that won first: those of the credentials file before those of the
// config file, and in a file the later before the earlier. Valid is not set yet.
// A value that is empty, or that has sub-properties, is the empty text.
func (p *Profile) Candidates(key string) []Candidate {
	return append([]Candidate(nil), p.candidates[key]...)
}

// Profile reads both files and picks one profile. The name is used as it is.
// askedBy says who named it: a profile that an option or a variable named must
// exist, else the error is a *[ProfileNotFoundError]; one with an origin of kind
// [OriginDefault] may be missing. Any line that is not well formed, also one of
// another profile, is a *[ParseError].
func (f *Files) Profile(name string, askedBy Origin) (*Profile, error) {
	config, credentials, err := f.index(scope{name: name})
	if err != nil {
		return nil, err
	}
	p := &Profile{
		Name:       name,
		Found:      len(config.sections)+len(credentials.sections) > 0,
		candidates: map[string][]Candidate{},
	}
	if !p.Found && askedBy.Kind != OriginDefault {
		return nil, f.notFound(name, askedBy)
	}
	values, err := merge(config.props, credentials.props)
	if err != nil {
		return nil, err
	}
	for _, key := range []string{KeyRetryMode, KeyMaxAttempts} {
		won, ok := values.value(name, key)
		if !ok {
			continue
		}
		candidates := append(credentials.candidates(key), config.candidates(key)...)
		candidates[0].Raw = won
		p.candidates[key] = candidates
	}
	for _, x := range []*index{config, credentials} {
		p.Diagnostics = append(p.Diagnostics, x.findings(credentials)...)
	}
	return p, nil
}

// index makes the pass over both files.
func (f *Files) index(want scope) (config, credentials *index, err error) {
	if config, err = buildIndex(f.data().files[0], want); err != nil {
		return nil, nil, err
	}
	if credentials, err = buildIndex(f.data().files[1], want); err != nil {
		return nil, nil, err
	}
	return config, credentials, nil
}

// candidates gives the values that one file has for a key of its only wanted
// profile, the last one first.
func (x *index) candidates(key string) []Candidate {
	var all []Candidate
	for i := len(x.props) - 1; i >= 0; i-- {
		if p := &x.props[i]; p.key == key {
			all = append(all, Candidate{Raw: string(p.value), Origin: x.origin(p)})
		}
	}
	return all
}

// origin is where a property stands.
func (x *index) origin(p *property) Origin {
	kind := OriginSharedConfig
	if x.kind == KindCredentials {
		kind = OriginSharedCredentials
	}
	return Origin{Kind: kind, File: x.file, Line: p.line, Profile: p.profile, Key: p.key}
}
