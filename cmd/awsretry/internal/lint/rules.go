package lint

// Rule is a kind of finding: what docs/settings.md says of it.
type Rule struct {
	Code    string `json:"code"`
	Meaning string `json:"meaning"`
	Example string `json:"example"`
	Cure    string `json:"cure"`
}

// Rules returns all kinds of findings.
func Rules() []Rule {
	return []Rule{
		{"malformed-line", "The line is skipped. After a malformed header, lines up to the next header belong to no section.", "[profile dev", "complete it, or comment it out"},
		{"parse-error", "The same in strict reading, with severity error.", "retry_mode adaptive", "complete it, or comment it out"},
		{"read-differently", "Another AWS tool reads the line or the variable differently.", "max_attempts = 010", "write what the finding says"},
		{"shadowed-key", "The credentials file overrides the config file.", "max_attempts in both files", "remove one"},
		{"misspelt-key", "The key looks like a retry setting but is none.", "retry-mode = adaptive", "write retry_mode or max_attempts"},
		{"indented-key", "The setting belongs to the property above, or is skipped with it.", "s3 = above an indented max_attempts = 5", "remove the indentation"},
		{"duplicate-key", "The later value counts.", "region twice in one profile", "remove one"},
		{"duplicate-section", "The two count as one.", "[profile dev] twice", "merge them"},
		{"default-twice", "[default] does not count.", "[default] beside [profile default]", "keep one"},
		{"unused-profile", "It has no effect on the profile in use.", "max_attempts in another profile", "none, if meant"},
		{"ignored-section", "The section is no profile.", "[dev] in the config file", "write [profile dev]"},
		{"invalid-value", "An error if it wins, else a warning.", "max_attempts = ten", "write an accepted value"},
		{"mapped-mode", "A mode of other tools, read as standard or adaptive.", "retry_mode = legacy", "write the mode you mean"},
		{"no-effect", "The variable changes nothing.", "AWS_NEW_RETRIES_2026=true", "unset it"},
		{"missing-file", "The named file counts as empty.", "AWS_CONFIG_FILE=/nowhere", "correct the path"},
		{"profile-not-found", "Neither file has the profile.", "AWS_PROFILE=prd", "correct the name"},
		{"unreadable-file", "The file counts as empty.", "no permission, a directory", "correct path or permissions"},
		{"no-home-directory", "The files in it are not read.", "HOME unset in a container", "set HOME, or name the files"},
	}
}
