package conformance

import "strings"

// SharedConfig is a file of shared-config.json's form.
type SharedConfig struct {
	About

	Cases []SharedCase `json:"cases"`
}

// SharedCase is one pair of shared files, or one way to find them, and what comes
// of it; the description in the file says how to read one.
type SharedCase struct {
	Case

	Rule            string            `json:"rule"`
	Config          *string           `json:"config"`
	Credentials     *string           `json:"credentials"`
	ConfigBase64    []byte            `json:"config_base64"`
	ConfigRepeat    [][2]any          `json:"config_repeat"`
	ConfigKind      string            `json:"config_kind"`
	CredentialsKind string            `json:"credentials_kind"`
	Env             map[string]string `json:"env"`
	Platform        string            `json:"platform"`
	HomeFallback    string            `json:"home_fallback"`
	// StrictErrorContainsAny lists texts of which the error of strict reading has
	// one; without any the case reads the same in strict reading.
	StrictErrorContainsAny []string `json:"strict_error_contains_any"`

	Want struct {
		Profiles        map[string]map[string]any `json:"profiles"`
		ConfigPath      *string                   `json:"config_path"`
		CredentialsPath *string                   `json:"credentials_path"`
		Profile         *string                   `json:"profile"`
	} `json:"want"`
}

// ConfigText returns the text of the config file, and whether there is one.
func (c SharedCase) ConfigText() (text string, exists bool) {
	switch {
	case c.ConfigBase64 != nil:
		return string(c.ConfigBase64), true
	case c.ConfigRepeat != nil:
		var b strings.Builder
		for _, part := range c.ConfigRepeat {
			piece, _ := part[0].(string)
			times, _ := part[1].(float64)
			b.WriteString(strings.Repeat(piece, int(times)))
		}
		return b.String(), true
	case c.Config != nil:
		return *c.Config, true
	}
	return "", false
}

// CredentialsText returns the text of the credentials file, and whether there is
// one.
func (c SharedCase) CredentialsText() (text string, exists bool) {
	if c.Credentials == nil {
		return "", false
	}
	return *c.Credentials, true
}
