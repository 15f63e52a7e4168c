package classify

// Unknown reports whether nothing is known of an error but its text: neither a code nor a status, nothing of a connection and
// nothing that it says of itself. No classifier of [Default] has an opinion on such an error, so it ends an operation after one attempt.
// retry.Mark and a classifier of the program can say that it may be retried. It is false for nil and for the ends of a context.
func Unknown(err error) bool {
	var f facts
	f.read(err)
	return f.said == silent && f.code == "" && f.status == 0 && f.sqlState == "" && f.lookup == nil && f.judged == nil &&
		Default().Classify(Outcome{Err: err}) == Verdict{}
}
