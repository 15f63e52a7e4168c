//go:build unix

// Package cputime tells how much processor time this process has taken.
package cputime

import (
	"syscall"
	"time"
)

// Spent returns the processor time of the whole process so far, garbage collection
// included; zero where the system does not tell.
func Spent() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
