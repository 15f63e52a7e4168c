package vectors

import "strings"

// SharedConfig is a file with the form of shared-config.json.
type SharedConfig struct {
	About

	Cases []SharedCase `json:"cases"`
}

// SharedCase is one pair of shared files, or one way to find the files, and the wanted result.
// The description in the file explains the members.
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
	// StrictErrorContainsAny lists texts. The error of strict reading contains one of them. If
	// the list is empty, strict reading has the same result.
	StrictErrorContainsAny []string `json:"strict_error_contains_any"`

	Want struct {
		Profiles        map[string]map[string]any `json:"profiles"`
		ConfigPath      *string                   `json:"config_path"`
		CredentialsPath *string                   `json:"credentials_path"`
		Profile         *string                   `json:"profile"`
	} `json:"want"`
}

// ConfigText returns the text of the config file, and whether the file exists.
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

// CredentialsText returns the text of the credentials file, and whether the file exists.
func (c SharedCase) CredentialsText() (text string, exists bool) {
	if c.Credentials == nil {
		return "", false
	}
	return *c.Credentials, true
}
