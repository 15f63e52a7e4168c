package lint

// Rule is a kind of finding. docs/settings.md has the same table, which a test compares.
type Rule struct {
	Code    string `json:"code"`
	Example string `json:"example"`
	Meaning string `json:"meaning"`
	Cure    string `json:"cure"`
}

// Rules returns all kinds of findings. The texts are in Markdown.
func Rules() []Rule {
	return []Rule{
		{"malformed-line", "`[profile dev`, a file in UTF-16", "The line is skipped; after a malformed header, lines up to the next header belong to no section. A file in UTF-16 counts as empty, an error of `lint`.", "complete it, comment it out, or convert the file"},
		{"parse-error", "`retry_mode adaptive`", "The same in strict reading, with severity `error`.", "complete it, or comment it out"},
		{"read-differently", "`max_attempts = 010`", "Another AWS tool reads the line or variable differently; `tools` names the tools.", "write what the finding says"},
		{"shadowed-key", "`max_attempts = 5` in both files", "The credentials file overrides the config file.", "remove one"},
		{"misspelt-key", "`retry-mode = adaptive`", "The key looks like a retry setting but is none.", "write `retry_mode` or `max_attempts`"},
		{"indented-key", "`s3 =`, or a line that is skipped, above an indented `max_attempts = 5`", "The setting belongs to the property above, or is skipped too.", "remove the indentation"},
		{"default-twice", "`[default]` beside `[profile default]`", "`[default]` does not count.", "keep one"},
		{"ignored-section", "`[dev]` in the config file, `max_attempts = 5` below `[services s]`", "The section is no profile.", "write `[profile dev]`"},
		{"invalid-value", "`max_attempts = ten`, `AWS_MAX_ATTEMPTS=0`", "An error if it wins, else a warning.", "write an accepted value"},
		{"mapped-mode", "`retry_mode = legacy`", "A mode of other tools, read as `standard` or `adaptive`.", "write the mode you mean"},
		{"no-effect", "`AWS_NEW_RETRIES_2026=true`", "AWS removed it. The same for `AWS_SDK_LOAD_CONFIG`, and `AWS_DEFAULT_PROFILE` beside `AWS_PROFILE`. Not in `lint`.", "unset it"},
		{"missing-file", "`AWS_CONFIG_FILE=/nowhere`", "The named file counts as empty. An error of `lint`.", "correct the path"},
		{"profile-not-found", "`AWS_PROFILE=prd`", "Neither file has the profile. An error of `lint`, or a warning if a flag names a file. `Load` refuses the profile of `AWS_PROFILE`; with that of `AWS_DEFAULT_PROFILE` it starts with the defaults.", "correct the name"},
		{"unreadable-file", "no permission, a directory", "The file counts as empty. An error of `lint`.", "correct path or permissions"},
		{"no-home-directory", "`HOME` unset in a container", "The files in it are not read.", "set `HOME`, or name the files"},
	}
}
