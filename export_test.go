package awsretry

import "github.com/awsretry/awsretry/config"

// WithPlatform follows the rules of a platform, given as a GOOS value.
func WithPlatform(goos string) ResolveOption {
	return resolveOption(func(q *config.Query) { q.Platform = goos })
}

// WithHomeDir replaces the home directory that the operating system knows.
func WithHomeDir(home func() (string, error)) ResolveOption {
	return resolveOption(func(q *config.Query) { q.HomeDir = home })
}
