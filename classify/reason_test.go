package classify_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

// reasonedError is an error of a service that says what a throttle is about.
type reasonedError struct {
	codeError
	reasons []classify.Reason
}

func (e reasonedError) ThrottledBy() []classify.Reason { return e.reasons }

func about(reaches ...classify.Reach) reasonedError {
	e := reasonedError{codeError: "ThrottlingException"}
	for _, r := range reaches {
		e.reasons = append(e.reasons, classify.Reason{Reach: r})
	}
	return e
}

func TestReachOfAThrottleIsThatOfItsWidestReason(t *testing.T) {
	t.Parallel()
	const unknown, part, scope, wider, other = classify.ReachUnknown, classify.ReachPart, classify.ReachScope, classify.ReachWider,
		classify.ReachOther
	for _, c := range []struct {
		reasons []classify.Reach
		want    classify.Reach
	}{
		{nil, unknown},
		{[]classify.Reach{part}, part},
		{[]classify.Reach{part, part}, part},
		{[]classify.Reach{part, unknown}, unknown},
		{[]classify.Reach{unknown, part}, unknown},
		{[]classify.Reach{part, other}, other},
		{[]classify.Reach{scope, other, part}, scope},
		{[]classify.Reach{wider, scope}, wider},
		{[]classify.Reach{part, 200}, 200},
	} {
		for how, err := range wrappings(about(c.reasons...)) {
			require.Equal(t, c.want, verdictOf(err).Reach(), "%v, %s", c.reasons, how)
			require.Equal(t, classify.Throttling, verdictOf(err).Kind(), "%v, %s", c.reasons, how)
		}
	}
}

func TestReasonsMakeNoErrorAThrottle(t *testing.T) {
	t.Parallel()
	for code, want := range map[codeError]classify.Verdict{"ValidationException": none, "RequestTimeout": transient} {
		require.Equal(t, want, verdictOf(reasonedError{code, about(classify.ReachPart).reasons}))
	}
}

// outerError is an error around another one.
type outerError struct {
	reasonedError
	inner error
}

func (e *outerError) Unwrap() error { return e.inner }

func TestOutermostErrorWithReasonsCounts(t *testing.T) {
	t.Parallel()
	inner := about(classify.ReachWider)
	require.Equal(t, classify.ReachPart, verdictOf(&outerError{about(classify.ReachPart), inner}).Reach())
	require.Equal(t, classify.ReachWider, verdictOf(&outerError{about(), inner}).Reach(), "no reasons say nothing")
	require.Equal(t, classify.ReachPart, verdictOf(errors.Join(about(classify.ReachPart), inner)).Reach())
}

func TestReachIsAddedToAnyThrottle(t *testing.T) {
	t.Parallel()
	err := about(classify.ReachPart)
	require.Equal(t, classify.ReachPart, verdictOf(&classify.JudgedError{Verdict: throttle, Err: err}).Reach())
	require.Equal(t, classify.ReachPart, classify.Outcome{Err: err}.Judge(constant{throttle}, nil).Reach())
	require.Equal(t, forbidden, classify.Outcome{Err: err}.Judge(constant{forbidden}, nil))
}

func TestTrailEndsWithTheReasons(t *testing.T) {
	t.Parallel()
	err := reasonedError{"ThrottlingException", []classify.Reason{
		{Reach: classify.ReachPart, Word: "TableReadKeyRangeThroughputExceeded"},
		{Reach: classify.ReachWider, Word: "CallerRateLimitExceeded", Quota: "lambda/L-548AE339"},
		{Reach: classify.ReachOther, Quota: "L-1"},
		{},
	}}
	chain := classify.NewChain(classify.Code())
	verdict, trail := chain.Explain(classify.Outcome{Err: err})
	require.Equal(t, "retry(throttling, wider)", verdict.String())
	require.Equal(t, "aws-code: retry(throttling); throttled-by: TableReadKeyRangeThroughputExceeded (part), "+
		"CallerRateLimitExceeded, lambda/L-548AE339 (wider), L-1 (other), unknown", trail.String())
	require.Equal(t, err.reasons, trail[1].ThrottledBy)
	require.Equal(t, verdict, trail[1].Verdict)
	_, trail = chain.Explain(classify.Outcome{Err: reasonedError{"NoThrottle", err.reasons}})
	require.Len(t, trail, 1)
}

func TestNamesOfReaches(t *testing.T) {
	t.Parallel()
	for reach, name := range map[classify.Reach]string{
		classify.ReachUnknown: "unknown", classify.ReachPart: "part", classify.ReachScope: "scope",
		classify.ReachWider: "wider", classify.ReachOther: "other", 200: "unknown",
	} {
		require.Equal(t, name, reach.String())
	}
}
