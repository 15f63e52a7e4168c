package classify

import "syscall"

// What a number of a system call means.
const (
	Disconnected = disconnected
	TimedOut     = timedOut
)

// MeansOf is what a number of a system call means, on Windows or on this system.
func MeansOf(e syscall.Errno, windows bool) facet {
	f := facts{}
	f.addErrno(e, windows)
	return f.said
}

// MarkIn is for marks that the table does not have at present.
func MarkIn(services, service string) byte { return markIn(services, service) }

// Modeled returns the built-in classifier of this name.
func Modeled() Classifier { return &modeledClassifier{} }

// Transport returns the built-in classifier of this name.
func Transport() Classifier { return &transportClassifier{} }
