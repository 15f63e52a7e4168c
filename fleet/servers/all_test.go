//go:build servers

package servers

const calls = 20_000
