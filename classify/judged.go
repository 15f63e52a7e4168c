package classify

// JudgedError is an error with a verdict that whoever made it already knows, such
// as the policy of a call. The verdict counts where the JudgedError itself is
// judged, not where it is wrapped: what was decided for an inner call does not
// decide an outer one.
type JudgedError struct {
	// Verdict is what to do with the error.
	Verdict Verdict
	// Err is the error itself; nil if a value was judged.
	Err error
}

// Error returns the text of the error, or says what the verdict is.
func (e *JudgedError) Error() string {
	if e.Err == nil {
		return "classify: judged " + e.Verdict.String()
	}
	return e.Err.Error()
}

// Unwrap returns the error itself.
func (e *JudgedError) Unwrap() error { return e.Err }

// Judgement returns the verdict of an error that is a JudgedError, with the hint of
// the error in it where the verdict is a retry without one. It reports false for
// any other error.
func Judgement(err error) (Verdict, bool) {
	judged, ok := err.(*JudgedError) //nolint:errorlint // only what is judged here
	if !ok {
		return Verdict{}, false
	}
	var f facts
	f.read(judged.Err)
	return f.hint(judged.Verdict), true
}
