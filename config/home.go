package config

// Home gives the home directory by the rules that find the shared files in it:
// HOME; on Windows then USERPROFILE, then HOMEDRIVE and HOMEPATH; then what the
// system says. It is empty if none of them says anything.
func (s Sources) Home() string {
	l := locator{src: s}
	return l.homeDir()
}
