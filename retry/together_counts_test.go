package retry_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestThrottlesThatSayNothingOfAServiceDoNotCount(t *testing.T) {
	t.Parallel()
	named := func(op retry.Operation, change func(op *retry.Operation)) retry.Operation {
		change(&op)
		return op
	}
	for name, c := range map[string]struct {
		change func(c *standard.Config)
		third  retry.Operation
		told   bool
	}{
		"a third table":   {third: table("users"), told: true},
		"a known table":   {third: table("orders")},
		"another service": {third: named(table("users"), func(op *retry.Operation) { op.Service = "s3" })},
		"another region":  {third: named(table("users"), func(op *retry.Operation) { op.Region = "eu-west-2" })},
		"another account": {third: named(table("users"), func(op *retry.Operation) { op.Account = "444455556666" })},
		"an operation that takes no send tokens": {
			third: named(table("users"), func(op *retry.Operation) { op.Unpaced = true }), told: true,
		},
		"a scope with a name of its own": {
			third: named(table("users"), func(op *retry.Operation) { op.Scope = "mine" }), told: true,
		},
		"another operation where the scope is the operation": {
			change: func(c *standard.Config) {
				c.Scope = func(op retry.Operation) retry.ScopeKey { return retry.ScopeKey{Name: op.Name + op.Resource} }
			},
			third: named(table("orders"), func(op *retry.Operation) { op.Name = "PutItem" }), told: true,
		},
		"one scope for all": {
			change: func(c *standard.Config) {
				c.Scope = func(retry.Operation) retry.ScopeKey { return retry.ScopeKey{Scope: "all"} }
			},
			third: table("users"),
		},
		"the strategy as a whole": {
			change: func(c *standard.Config) {
				c.Scope = func(op retry.Operation) retry.ScopeKey {
					if op.Resource == "users" {
						return retry.ScopeKey{}
					}
					return op.Key()
				}
			},
			third: table("users"),
		},
		"an operation without a place": {
			change: func(c *standard.Config) {
				c.Scope = func(op retry.Operation) retry.ScopeKey {
					if op.Resource == "users" {
						return retry.OverflowKey()
					}
					return op.Key()
				}
			},
			third: table("users"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forBothObserved(t, c.change, func(t *testing.T, s retry.Strategy, _ *clock.Fake, r *recorder) {
				t.Helper()
				before := []retry.Token{sent(t, s, table("orders")), sent(t, s, table("carts"))}
				third := sent(t, s, c.third)
				for _, token := range append(before, third) {
					require.NoError(t, s.RecordFailure(token, errThrottled))
				}
				require.Len(t, r.together(), map[bool]int{true: 1}[c.told])
			})
		})
	}
}

func TestThrottlesOfOperationsWithoutAServiceAreNotTold(t *testing.T) {
	t.Parallel()
	byConfig := func(c *standard.Config) { c.Service = "dynamodb" } // which only selects defaults
	forBothObserved(t, byConfig, func(t *testing.T, s retry.Strategy, _ *clock.Fake, r *recorder) {
		t.Helper()
		for i := range 10 {
			throttle(t, s, retry.Operation{Region: "eu-west-1", Resource: strconv.Itoa(i)})
		}
		require.Empty(t, r.together())
	})
}

// judging is a classifier that counts its calls.
type judging struct{ calls *int }

func (judging) Name() string { return "judging" }

func (j judging) Classify(classify.Outcome) classify.Verdict {
	*j.calls++
	return classify.RetryAs(classify.Throttling)
}

func TestFailureThatIsNotRetriedIsJudgedForTheSendRateAndTheObserver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode     string
		observer retry.Observer
		op       retry.Operation
		want     int
	}{
		"standard mode":                          {mode: "standard", op: table("orders")},
		"standard mode and an observer":          {mode: "standard", observer: &recorder{}, op: table("orders"), want: 1},
		"standard mode, observer and no service": {mode: "standard", observer: &recorder{}, want: 1},
		"adaptive mode":                          {mode: "adaptive", op: table("orders"), want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			s := modes(t, &clock.Fake{}, func(config *standard.Config) {
				config.Classifier, config.Observer = judging{&calls}, c.observer
			})[c.mode]
			throttle(t, s, c.op)
			require.Equal(t, c.want, calls)
		})
	}
}

func TestAttemptThatWasNotMadeIsNoThrottle(t *testing.T) {
	t.Parallel()
	forBothObserved(t, nil, func(t *testing.T, s retry.Strategy, _ *clock.Fake, r *recorder) {
		t.Helper()
		for i := range 10 {
			token, err := s.AcquireInitialToken(t.Context(), table(strconv.Itoa(i)))
			require.NoError(t, err)
			_, err = s.RefreshRetryToken(t.Context(), token, errThrottled)
			require.NoError(t, err)
		}
		require.Empty(t, r.together())
	})
}
