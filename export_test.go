package awsretry

import (
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/machine"
)

// WithPlatform follows the rules of a platform, given as a GOOS value. It comes after WithFS.
func WithPlatform(goos string) ResolveOption {
	return onMachine(func(m *machine.FS) { m.Platform = goos })
}

// WithHomeDir replaces the home directory that the operating system knows. It comes after WithFS.
func WithHomeDir(home func() (string, error)) ResolveOption {
	return onMachine(func(m *machine.FS) { m.HomeDir = home })
}

func onMachine(change func(m *machine.FS)) ResolveOption {
	return resolveOption(func(q *config.Query) {
		m, ok := q.FS.(machine.FS)
		if !ok {
			m.FS = q.FS
		}
		change(&m)
		q.FS = m
	})
}
