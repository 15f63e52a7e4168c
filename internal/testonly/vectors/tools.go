package vectors

// ToolFile is one shared file of a case, as text or as bytes.
type ToolFile struct {
	Text   string `json:"text"`
	Base64 []byte `json:"base64"`
}

// Data returns the contents of the file, or nil if the file does not exist.
func (f *ToolFile) Data() []byte {
	switch {
	case f == nil:
		return nil
	case f.Base64 != nil:
		return f.Base64
	}
	return []byte(f.Text)
}

// ToolFiles are the files and the environment that the AWS tools have read.
type ToolFiles struct {
	Config      *ToolFile         `json:"config"`
	Credentials *ToolFile         `json:"credentials"`
	Env         map[string]string `json:"env"`
}

// ToolsTable is a file with the form of tools-table.json. It has what each of the AWS tools reads,
// as MODE/ATTEMPTS.
type ToolsTable struct {
	About

	Cases []struct {
		Case
		ToolFiles

		ReadAs map[string]string `json:"read_as"`
		// ReadOnce is what this module read before it had findings about other tools.
		ReadOnce string `json:"awsretry_2026_11"`
	} `json:"cases"`
}

// ToolsAgree is a file with the form of tools-agree.json. It has what all AWS tools read; nil is a
// setting without a value.
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
