package wire

// EntryError marks the error of an entry of a batch. Services spell the codes of entries in other ways than those of answers,
// and package classify reads them so.
type EntryError struct {
	Err error
	// Throttled of Entries were throttled, if others were written. Both are zero if none was.
	Throttled, Entries int
}

func (e EntryError) Error() string { return e.Err.Error() }
func (e EntryError) Unwrap() error { return e.Err }

// BatchEntry is what package classify looks for.
func (EntryError) BatchEntry() {}

// CanceledError is an error that throttles have caused, such as that of a transaction, which came to nothing because of some of
// its entries.
type CanceledError struct {
	Err                        error
	Throttled, Causes, Entries int // so many of the entries were throttled, and so many have a part in the failure; at least one
}

func (e CanceledError) Error() string { return e.Err.Error() }
func (e CanceledError) Unwrap() error { return e.Err }

// EntryCodeError is the error of an entry of which only the code is known.
type EntryCodeError string

func (c EntryCodeError) Error() string { return string(c) }

// ErrorCode returns the code.
func (c EntryCodeError) ErrorCode() string { return string(c) }

// BatchEntry is what package classify looks for.
func (EntryCodeError) BatchEntry() {}
