package classify

import "syscall"

// WASI has no numbers of their own for these.
const (
	errHostDown = syscall.EHOSTUNREACH
	errShutDown = syscall.EPIPE
)
