package models

import (
	"cmp"
	"regexp"

	"github.com/awsretry/awsretry/classify"
)

// failure is an error of a model, and what it means:
//
//	throttling, retryable   the model marks it so
//	quota                   it is about a quota of the account and no rate
//	throttle                its name says so, or its documentation
//	relay                   the same of another service that the service calls
//	none                    its documentation has the words of a throttle, but it is none
type failure struct {
	service, code string
	status        int // 0 if the model has none
	means         string
}

// decided has the errors whose documentation, and not their name, has the words of a throttle.
func decided(service, code string) string {
	switch code {
	case "ClientLimitExceededException", "ConnectionLimitExceededException": // Kinesis Video: "has throttled the request"
		return "throttle"
	case "ServiceUnavailableException":
		if service == "Firehose" { // "throughput limits for the Firehose stream may have been exceeded"
			return "throttle"
		}
	case "RequestLimitExceededException": // AppStream: calls of Amazon EC2 are throttled
		return "relay"
	case "SlowDownException": // SSO OIDC: to poll less often (RFC 8628), and no retry
		return "none"
	case "TransactionCanceledException": // DynamoDB: its reasons are read
		return "none"
	case "AccessDeniedException", "KmsDisabled", "PolicyEnforcedException", "ServiceQuotaExceededException", "ThroughputLimitExceeded",
		"IDPCommunicationError", "PackedPolicyTooLarge":
		return "none"
	}
	return ""
}

var (
	// throttleName finds the codes of throttles, and relayName those of another service.
	throttleName = regexp.MustCompile(`(?i)throttl|TooManyRequests?(Exception|Error)?$|RateLimit(Exceeded|Error)|ThroughputExceeded|BufferLimitExceeded`)
	relayName    = regexp.MustCompile(`(?i)kms|dependen|lambda|ec2|eks|upstream|ssm|eventbridge|^Resource`)
	throttleText = regexp.MustCompile(`(?i)throttl|too many requests|rate exceeded|rate limit|request rate|too frequent|throughput limit`)
	// faultName finds the codes of entries that are the service's fault, which has no status there.
	faultName = regexp.MustCompile(`(?i)^(internal|service_?unavailable|service_?failure|transient_?failure)`)

	// quotaCode finds codes that mean a quota.
	quotaCode = regexp.MustCompile(`(Quota|Limits?)(PerResource|For[A-Z][a-z]+)?Exceeded|^TooMany[A-Z]`)
	// rateText finds what is about a rate, about work under way that ends by itself, or about the
	// size of one request, in the documentation or in the code.
	rateText = regexp.MustCompile(`(?i)throttl|\brates?\b|[a-z]RateLimit|TooManyRequest|too many requests|too many calls|requests? per|` +
		`per second|per unit of time|short period|frequen|concurren|simultaneous|in.?progress|under way|at (the same|one) time|` +
		`\bwait|try (your request )?again|retry|24 hours|daily|\bsizes?\b|too large|too long|length|\brequest(s|ed)? contains?|batch|FailedAttempts`)
)

// byName says what the name of a code, of an answer or of an entry, means.
func byName(code string) string {
	switch {
	case !throttleName.MatchString(code):
		return ""
	case relayName.MatchString(code):
		return "relay"
	default:
		return "throttle"
	}
}

// failuresOf returns the errors of a model that are in a row, or should be.
func (m *model) failuresOf() (found []failure) {
	// Where a service has no other code for throttles, LimitExceededException may be one.
	throttles := false
	for name, s := range m.Shapes {
		code := s.code(name)
		throttles = throttles || s.failed() && code != "LimitExceededException" && (s.Retryable != nil && s.Retryable.Throttling || isThrottleCode(code))
	}
	for name, s := range m.Shapes {
		if !s.failed() {
			continue
		}
		code := s.code(name)
		if means := m.meaning(code, s, throttles); means != "" {
			found = append(found, failure{m.Metadata.ServiceID, code, s.status(), means})
		}
		if means := byName(name); means != "" && name != code && !isThrottleCode(name) { // entries may have the name
			found = append(found, failure{m.Metadata.ServiceID, name, s.status(), means})
		}
	}
	return found
}

func (m *model) meaning(code string, s shape, throttles bool) string {
	service := m.Metadata.ServiceID
	quota := !rateText.MatchString(code) && !rateText.MatchString(s.Documentation)
	switch {
	case s.Retryable != nil && s.Retryable.Throttling:
		return "throttling"
	case s.Retryable != nil && byName(code) == "":
		return "retryable"
	case code == "LimitExceededException" && quota:
		return map[bool]string{true: "quota"}[throttles]
	case isThrottleCode(code):
		return ""
	case quota && (quotaCode.MatchString(code) || s.hasQuotaCode()):
		return "quota"
	case byName(code) != "":
		return byName(code)
	case throttleText.MatchString(s.Documentation):
		return cmp.Or(decided(service, code), "?")
	default:
		return ""
	}
}

// isThrottleCode reports whether the code alone makes an error a throttle for all SDKs, as rule C01 has it.
func isThrottleCode(code string) bool {
	return classify.NewChain(classify.Code()).Classify(classify.Outcome{Err: answer{code: code}}).Kind() == classify.Throttling
}

// answer is an error with a code, and a status if it is not 0.
type answer struct {
	code   string
	status int
}

func (a answer) Error() string       { return a.code }
func (a answer) ErrorCode() string   { return a.code }
func (a answer) HTTPStatusCode() int { return a.status }
