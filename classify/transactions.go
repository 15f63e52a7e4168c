package classify

// ThrottledTransactions returns the classifier "throttled-transactions", which retries a transaction of DynamoDB that was
// canceled by throttles and by nothing else, as a throttle, and a failed source of Glue that was throttled. Add it to the default
// ones: Also(ThrottledTransactions()). Like the AWS SDKs, [Default] retries neither. It knows the failures of package awssdk.
func ThrottledTransactions() Classifier { return &transactionClassifier{} }

type transactionClassifier struct{}

func (*transactionClassifier) Name() string { return "throttled-transactions" }

func (c *transactionClassifier) Classify(o Outcome) Verdict { return alone(c, &o) }

func (*transactionClassifier) opinion(_ *Outcome, f *facts) Verdict {
	if f.has(canceledByThrottles) {
		return RetryAs(Throttling)
	}
	return Verdict{}
}
