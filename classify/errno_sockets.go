//go:build !wasip1

package classify

import "syscall"

const (
	errHostDown = syscall.EHOSTDOWN
	errShutDown = syscall.ESHUTDOWN
)
