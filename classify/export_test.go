package classify

// What a number of a system call means on Windows.
const (
	Disconnected = disconnected
	TimedOut     = timedOut
)

// WindowsErrno is for tests on other systems.
func WindowsErrno(n uintptr) facet { return windowsErrno(n) }

// KindIn is for kinds that the table does not have at present.
func KindIn(services, service string) Kind { return kindIn(services, service) }

// Modeled returns the built-in classifier of this name.
func Modeled() Classifier { return &modeledClassifier{} }

// Transport returns the built-in classifier of this name.
func Transport() Classifier { return &transportClassifier{} }
