package wire

// Batch says where the outputs of an operation have the codes of entries, and its inputs the entries. The names are those of
// fields, one inside of the other.
type Batch struct {
	Entries string // of the input; "" if only the output has them
	Results string // of the output: all of the entries, or those that failed; "" for a transaction, see CanceledError
	Code    string // of one of the results; "" if all of them were throttled
}
