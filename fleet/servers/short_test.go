//go:build !servers

package servers

const calls = 5_000
