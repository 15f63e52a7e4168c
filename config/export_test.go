package config

import "maps"

// Raw gives all values of all profiles, secrets included, for comparison.
func (p *Profiles) Raw() map[string]map[string]string {
	all := map[string]map[string]string{}
	for name, values := range p.data().values {
		all[name] = maps.Clone(values)
	}
	return all
}

// IsGroup says whether a property has sub-properties.
func (p *Profiles) IsGroup(profile, key string) bool {
	return p.data().groups[place{profile, key}]
}

// LastValues gives what the line index alone knows to have won.
func (f *Files) LastValues() (map[string]map[string]string, error) {
	config, credentials, err := f.index(scope{all: true, values: true})
	if err != nil {
		return nil, err
	}
	all := map[string]map[string]string{}
	for _, x := range []*index{config, credentials} {
		for _, s := range x.sections {
			if all[s.profile] == nil {
				all[s.profile] = map[string]string{}
			}
		}
		for _, p := range x.props {
			all[p.profile][p.key] = string(p.value)
		}
	}
	return all, nil
}

// Distance is the bounded edit distance.
func Distance(a, b string, limit int) int { return distance(a, b, limit) }
