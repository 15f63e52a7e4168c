package classify_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

func TestCodes(t *testing.T) {
	t.Parallel()
	throttle, transient := classify.RetryAs(classify.Throttling), classify.RetryAs(classify.Transient)
	for code, want := range map[string]classify.Verdict{
		"BandwidthLimitExceeded":                 throttle,
		"EC2ThrottledException":                  throttle,
		"LimitExceededException":                 throttle,
		"PriorRequestNotComplete":                throttle,
		"ProvisionedThroughputExceededException": throttle,
		"RequestLimitExceeded":                   throttle,
		"RequestThrottled":                       throttle,
		"RequestThrottledException":              throttle,
		"SlowDown":                               throttle,
		"ThrottledException":                     throttle,
		"Throttling":                             throttle,
		"ThrottlingException":                    throttle,
		"TooManyRequestsException":               throttle,
		"TransactionInProgressException":         throttle,
		"RequestTimeout":                         transient,
		"RequestTimeoutException":                transient,
		"InternalError":                          {},
		"ServiceUnavailable":                     {},
		"RequestExpired":                         {},
		"RequestTimeTooSkewed":                   {},
		"CRC32CheckFailed":                       {},
		"Slowdown":                               {},
		" SlowDown":                              {},
		"SlowDown ":                              {},
		"":                                       {},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, classify.Code().Classify(classify.Outcome{Err: codeError(code)}))
		})
	}
}

func TestCodesLoseWhatTheWireAdds(t *testing.T) {
	t.Parallel()
	throttle, none := classify.RetryAs(classify.Throttling), classify.Verdict{}
	for _, c := range []struct {
		code string
		want classify.Verdict
	}{
		{"com.amazonaws.kinesis#SlowDown", throttle},
		{"SlowDown:http://internal.example/coral/", throttle},
		{"com.amazon#SlowDown:http://internal.example", throttle},
		{"com.amazon#SlowDown:http://x/#NoSuchKey", throttle},
		{"SlowDown:", throttle},
		{"#SlowDown", throttle},
		{"#SlowDown:", throttle},
		{"SlowDown:SlowDown#NoSuchKey", throttle},
		{"com.amazon#NoSuchKey:http://x/#SlowDown", none},
		{"SlowDown#NoSuchKey", none},
		{"NoSuchKey:SlowDown", none},
		{"NoSuchKey#", none},
		{"com#amazon#SlowDown", none},
		{":SlowDown", none},
		{"com.amazon.SlowDown", none},
		{"#", none},
		{":", none},
	} {
		t.Run(c.code, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, classify.Code().Classify(classify.Outcome{Err: codeError(c.code)}))
		})
	}
}

// FuzzCode puts something around a code that the wire formats could have put there.
func FuzzCode(f *testing.F) {
	f.Fuzz(func(t *testing.T, namespace, code, address string) {
		namespace = strings.NewReplacer("#", "", ":", "").Replace(namespace)
		code = strings.NewReplacer("#", "", ":", "").Replace(code)
		want := verdictOf(codeError(code))
		require.Equal(t, want, verdictOf(codeError(namespace+"#"+code)))
		require.Equal(t, want, verdictOf(codeError(code+":"+address)))
		require.Equal(t, want, verdictOf(codeError(namespace+"#"+code+":"+address)))
		throttle := codeError(namespace + "#SlowDown:" + address)
		require.Equal(t, classify.RetryAs(classify.Throttling), verdictOf(throttle))
	})
}
