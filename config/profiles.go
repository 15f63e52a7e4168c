package config

import (
	"slices"
	"strings"
)

// Hidden is shown in place of a value.
const Hidden = "***"

// Profiles is everything that AWS tools see in the two files. It keeps values
// of all keys, and never gives those of secrets away.
type Profiles struct {
	data func() *profilesData // A function, since no verb of fmt looks behind one.
}

// profilesData is the properties of all profiles, as both files together have them.
type profilesData struct {
	names  []string
	values map[string]map[string]string
	groups map[place]bool // Properties that have sub-properties.
}

// Profiles reads both files and gives all profiles. Values are not validated.
// The error is a *[ParseError] if any line is not well formed.
func (f *Files) Profiles() (*Profiles, error) {
	config, credentials, err := f.index(scope{all: true, values: true})
	if err != nil {
		return nil, err
	}
	merged, err := merge(config.props, credentials.props)
	if err != nil {
		return nil, err
	}
	d := &profilesData{values: map[string]map[string]string{}, groups: map[place]bool{}}
	for _, x := range []*index{config, credentials} {
		d.addSections(x)
		d.addValues(x, merged)
	}
	slices.Sort(d.names)
	return &Profiles{data: func() *profilesData { return d }}, nil
}

func (d *profilesData) addSections(x *index) {
	for _, s := range x.sections {
		if d.values[s.profile] == nil {
			d.values[s.profile] = map[string]string{}
			d.names = append(d.names, s.profile)
		}
	}
}

func (d *profilesData) addValues(x *index, values *merged) {
	for _, p := range x.props {
		if value, ok := values.value(p.profile, p.key); ok {
			d.values[p.profile][p.key] = value
			d.groups[place{p.profile, p.key}] = p.group
		}
	}
}

// Names gives the names of all profiles in the order of their bytes.
func (p *Profiles) Names() []string { return slices.Clone(p.data().names) }

// Map gives the properties of every profile. Each value is [Hidden], unless
// showValues asks for it; values of secrets, as [IsSecret] knows them, always
// are. A property with sub-properties has the empty text for a value, and its
// sub-properties are not given. The map is the caller's to keep.
func (p *Profiles) Map(showValues bool) map[string]map[string]string {
	all := make(map[string]map[string]string, len(p.data().names))
	for _, name := range p.data().names {
		shown := map[string]string{}
		for key, value := range p.data().values[name] {
			switch {
			case p.data().groups[place{name, key}]:
				value = ""
			case !showValues || IsSecret(key):
				value = Hidden
			}
			shown[key] = value
		}
		all[name] = shown
	}
	return all
}

// IsSecret says whether the value of a key is never shown: whether its name, in
// lower case, contains secret, token or access_key.
func IsSecret(key string) bool {
	key = asciiLower(key)
	return strings.Contains(key, "secret") || strings.Contains(key, "token") || strings.Contains(key, "access_key")
}
