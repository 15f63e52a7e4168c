package classify_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/awsretry/awsretry/classify"
)

// hardQuotas are errors that are about a quota of the account and no rate. The -models of TestModeledTable also write them.
var hardQuotas = modeledTable{
	file: "testdata/hardquotas.tsv", code: "hardquota_table.go",
	source: "# botocore %s: of %d services, %d have %d errors that are about a quota and no rate\n",
	of: func(shapes []modeledShape) (errs []modeledError) {
		throttles := slices.ContainsFunc(shapes, func(m modeledShape) bool {
			return m.code != "LimitExceededException" && (m.throttling || isThrottleCode(m.code))
		})
		for _, m := range shapes {
			if hardQuotaOf(m, throttles) {
				errs = append(errs, modeledError{service: m.service, code: m.code, status: m.status})
			}
		}
		return errs
	},
	text: func(t *testing.T, source string, errs []modeledError) []byte {
		t.Helper()
		services := map[string][]string{}
		for _, q := range errs {
			services[q.code] = append(services[q.code], q.service)
		}
		return switchText(t, "hardquota_table_test.go", "hardQuotaIn returns the ids of the services in which an error code is about a "+
			"quota of the account\n// and no rate, with a bar in between.\n//\n// Source: "+source+".", "hardQuotaIn", services)
	},
}

var (
	// quotaCode finds codes that mean a quota.
	quotaCode = regexp.MustCompile(`(Quota|Limits?)(PerResource|For[A-Z][a-z]+)?Exceeded|^TooMany[A-Z]`)
	// rateText finds what is about a rate, about work under way that ends by itself, or about the
	// size of one request, in the documentation or in the code.
	rateText = regexp.MustCompile(`(?i)throttl|\brates?\b|[a-z]RateLimit|TooManyRequest|too many requests|too many calls|requests? per|` +
		`per second|per unit of time|short period|frequen|concurren|simultaneous|in.?progress|under way|at (the same|one) time|` +
		`\bwait|try (your request )?again|retry|24 hours|daily|\bsizes?\b|too large|too long|length|\brequest(s|ed)? contains?|batch|FailedAttempts`)
)

// hardQuotaOf reports whether an error of a model is a hard quota. throttles is whether the service has
// another code for throttles: where it has none, LimitExceededException may be one.
func hardQuotaOf(m modeledShape, throttles bool) bool {
	if m.retryable || rateText.MatchString(m.code) || rateText.MatchString(m.documentation) {
		return false
	}
	switch {
	case m.code == "LimitExceededException":
		return throttles
	case isThrottleCode(m.code):
		return false
	default:
		return quotaCode.MatchString(m.code) || m.hasQuotaCode
	}
}

// isThrottleCode reports whether the code alone makes an error a throttle, as rule C01 has it.
func isThrottleCode(code string) bool {
	return classify.NewChain(classify.Code()).Classify(classify.Outcome{Err: codeError(code)}).Kind() == classify.Throttling
}

func TestHardQuotaTable(t *testing.T) { hardQuotas.requireWritten(t) }
