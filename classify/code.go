package classify

import "strings"

// Code returns the classifier of AWS error codes. Its name is "aws-code".
func Code() Classifier { return codeClassifier{} }

type codeClassifier struct{}

func (codeClassifier) Name() string { return "aws-code" }

func (codeClassifier) Classify(o Outcome) Verdict {
	answer, ok := find(o.Err, func(e CodeError) bool { return e.ErrorCode() != "" })
	if !ok {
		return None()
	}
	switch code := bareCode(answer.ErrorCode()); {
	case isThrottlingCode(code):
		return RetryAs(Throttling)
	case isTransientCode(code) && o.Previous.Kind() != Throttling:
		return RetryAs(Transient)
	default:
		return None()
	}
}

// bareCode strips what the wire formats put around a code: the namespace of
// com.amazon#Code and the address of Code:http://...
func bareCode(code string) string {
	code, _, _ = strings.Cut(code, ":")
	if _, bare, ok := strings.Cut(code, "#"); ok {
		return bare
	}
	return code
}

// isThrottlingCode holds the throttling codes that the AWS SDKs agree on.
func isThrottlingCode(code string) bool {
	switch code {
	case "BandwidthLimitExceeded",
		"EC2ThrottledException",
		"LimitExceededException",
		"PriorRequestNotComplete",
		"ProvisionedThroughputExceededException",
		"RequestLimitExceeded",
		"RequestThrottled",
		"RequestThrottledException",
		"SlowDown",
		"ThrottledException",
		"Throttling",
		"ThrottlingException",
		"TooManyRequestsException",
		"TransactionInProgressException":
		return true
	default:
		return false
	}
}

// isTransientCode holds the transient codes that the AWS SDKs agree on.
func isTransientCode(code string) bool {
	return code == "RequestTimeout" || code == "RequestTimeoutException"
}
