// Package entry marks the errors of the entries of a batch. Services spell their codes in other ways than those of answers,
// and package classify reads them so.
package entry

// Error is the error of an entry.
type Error struct {
	Err error
	// Throttled of Entries were throttled, if others were written. Both are zero if none was.
	Throttled, Entries int
}

func (e Error) Error() string { return e.Err.Error() }
func (e Error) Unwrap() error { return e.Err }

// BatchEntry is what package classify looks for.
func (Error) BatchEntry() {}

// CodeError is the error of an entry of which only the code is known.
type CodeError string

func (c CodeError) Error() string { return string(c) }

// ErrorCode returns the code.
func (c CodeError) ErrorCode() string { return string(c) }

// BatchEntry is what package classify looks for.
func (CodeError) BatchEntry() {}
