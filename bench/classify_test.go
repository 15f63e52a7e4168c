package bench

import (
	"testing"

	awsretryer "github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

// wrappedErrors are errors as a real client wraps them.
func wrappedErrors(tb testing.TB) map[string]error {
	tb.Helper()
	client := awshttp.NewBuildableClient()
	return map[string]error{
		"throttle": callSSO(tb.Context(), tb, answering(tb, 429, "TooManyRequestsException"), client),
		"server":   callSSO(tb.Context(), tb, answering(tb, 503, "ServiceUnavailable"), client),
		"final":    callSSO(tb.Context(), tb, answering(tb, 404, "ResourceNotFoundException"), client),
	}
}

func BenchmarkVerdict(b *testing.B) {
	chain, retryer := classify.Default(), awsretryer.NewStandard()
	for name, err := range wrappedErrors(b) {
		b.Run("error="+name+"/of=awsretry", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = chain.Classify(classify.Outcome{Err: err, Attempt: 1})
			}
		})
		b.Run("error="+name+"/of=aws-sdk-go-v2", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = retryer.IsErrorRetryable(err)
			}
		})
	}
}

// TestVerdictsOnWrappedErrorsAllocateNothing runs alone: other tests allocate too.
func TestVerdictsOnWrappedErrorsAllocateNothing(t *testing.T) {
	chain, retryer := classify.Default(), awsretryer.NewStandard()
	for name, err := range wrappedErrors(t) {
		require.Zero(t, testing.AllocsPerRun(100, func() { chain.Classify(classify.Outcome{Err: err}) }), name)
		require.NotZero(t, testing.AllocsPerRun(100, func() { retryer.IsErrorRetryable(err) }), name)
	}
}
