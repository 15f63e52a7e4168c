package conformance

// ToolFile is one shared file of a case, as text or as bytes.
type ToolFile struct {
	Text   string `json:"text"`
	Base64 []byte `json:"base64"`
}

// Data returns the contents of the file, nil if it does not exist.
func (f *ToolFile) Data() []byte {
	switch {
	case f == nil:
		return nil
	case f.Base64 != nil:
		return f.Base64
	}
	return []byte(f.Text)
}

// ToolFiles is what the AWS tools were given.
type ToolFiles struct {
	Config      *ToolFile         `json:"config"`
	Credentials *ToolFile         `json:"credentials"`
	Env         map[string]string `json:"env"`
}

// ToolsTable is a file of tools-table.json's form: what each of the AWS tools reads,
// as MODE/ATTEMPTS.
type ToolsTable struct {
	About

	Cases []struct {
		Case
		ToolFiles

		ReadAs map[string]string `json:"read_as"`
		// ReadOnce is how this module read the file once, before it named the tools that
		// read a line differently.
		ReadOnce string `json:"awsretry_2026_11"`
	} `json:"cases"`
}

// ToolsAgree is a file of tools-agree.json's form: what all of the AWS tools read,
// with nil for a setting that is not given.
type ToolsAgree struct {
	About

	Cases []struct {
		Case
		ToolFiles

		Want struct {
			RetryMode   *string `json:"retry_mode"`
			MaxAttempts *string `json:"max_attempts"`
		} `json:"want"`
	} `json:"cases"`
}
