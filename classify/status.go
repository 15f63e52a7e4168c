package classify

// Status returns the classifier of HTTP status codes: 500, 502, 503 and 504 are
// transient, 429 is a throttle. Its name is "http-status".
func Status() Classifier { return statusClassifier{} }

type statusClassifier struct{}

func (statusClassifier) Name() string { return "http-status" }

func (statusClassifier) Classify(o Outcome) Verdict {
	answer, ok := find(o.Err, func(e StatusError) bool { return e.HTTPStatusCode() != 0 })
	if !ok {
		return None()
	}
	switch answer.HTTPStatusCode() {
	case 500, 502, 503, 504:
		return RetryAs(Transient)
	case 429:
		return RetryAs(Throttling)
	default:
		return None()
	}
}
