package standard_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/forecast"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestPlanHasTheNumbersOfTheGenerationAndTheService(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		config    standard.Config
		op        retry.Operation
		want      retry.Plan
		wantDelay float64
	}{
		{
			"default",
			standard.Config{},
			retry.Operation{},
			planOf(3, 500, [3]int{14, 14, 5}, 50*time.Millisecond, time.Second, 20*time.Second),
			3,
		},
		{
			"v2.1",
			standard.Config{Behavior: retry.V21},
			retry.Operation{Service: "s3"},
			planOf(3, 500, [3]int{14, 14, 5}, 50*time.Millisecond, time.Second, 20*time.Second),
			3,
		},
		{
			"v2.0",
			standard.Config{Behavior: retry.V20},
			retry.Operation{Service: "dynamodb"},
			planOf(3, 500, [3]int{5, 10, 5}, time.Second, time.Second, 20*time.Second),
			3,
		},
		{
			"DynamoDB",
			standard.Config{},
			retry.Operation{Service: "dynamodb"},
			planOf(4, 500, [3]int{14, 14, 5}, 25*time.Millisecond, time.Second, 20*time.Second),
			7,
		},
		{
			"own numbers",
			standard.Config{
				MaxAttempts: 5, QuotaCapacity: new(0), RetryCost: 1, TimeoutCost: 2, ThrottlingCost: 3,
				Base: 6 * time.Second, ThrottlingBase: 4 * time.Second, MaxBackoff: 10 * time.Second,
			},
			retry.Operation{},
			planOf(5, 0, [3]int{1, 2, 3}, 6*time.Second, 4*time.Second, 10*time.Second),
			36,
		},
		{
			"one attempt",
			standard.Config{MaxAttempts: 1},
			retry.Operation{},
			planOf(1, 500, [3]int{14, 14, 5}, 50*time.Millisecond, time.Second, 20*time.Second),
			0,
		},
		{
			"as many attempts as there can be",
			standard.Config{MaxAttempts: math.MaxInt32},
			retry.Operation{},
			planOf(math.MaxInt32, 500, [3]int{14, 14, 5}, 50*time.Millisecond, time.Second, 20*time.Second),
			1 + 2 + 4 + 8 + 16 + 20*float64(math.MaxInt32-6),
		},
		{
			"base above the longest delay",
			standard.Config{Base: time.Minute},
			retry.Operation{},
			planOf(3, 500, [3]int{14, 14, 5}, time.Minute, time.Second, 20*time.Second),
			40,
		},
		{
			"a shortest delay",
			standard.Config{MaxAttempts: 6, MinDelay: 3 * time.Second, MaxBackoff: 5 * time.Second},
			retry.Operation{},
			with(planOf(6, 500, [3]int{14, 14, 5}, 50*time.Millisecond, time.Second, 5*time.Second), func(p *retry.Plan) {
				p.MinDelay = 3 * time.Second
			}),
			3 + 3 + 4 + 5 + 5,
		},
		{
			"a shortest delay that is the longest one",
			standard.Config{MinDelay: 20 * time.Second},
			retry.Operation{},
			with(planOf(3, 500, [3]int{14, 14, 5}, 50*time.Millisecond, time.Second, 20*time.Second), func(p *retry.Plan) {
				p.MinDelay = 20 * time.Second
			}),
			40,
		},
		{
			"a limit on the elapsed time",
			standard.Config{MaxAttempts: 5, MaxElapsed: 10 * time.Second},
			retry.Operation{},
			with(planOf(5, 500, [3]int{14, 14, 5}, 50*time.Millisecond, time.Second, 20*time.Second), func(p *retry.Plan) {
				p.MaxElapsed = 10 * time.Second
			}),
			10,
		},
		{
			"a shorter limit of the operation",
			standard.Config{MaxElapsed: 10 * time.Second},
			retry.Operation{MaxElapsed: 2 * time.Second},
			with(planOf(3, 500, [3]int{14, 14, 5}, 50*time.Millisecond, time.Second, 20*time.Second), func(p *retry.Plan) {
				p.MaxElapsed = 2 * time.Second
			}),
			2,
		},
		{
			"a longer limit of the operation",
			standard.Config{MaxElapsed: 10 * time.Second},
			retry.Operation{MaxElapsed: time.Hour},
			with(planOf(3, 500, [3]int{14, 14, 5}, 50*time.Millisecond, time.Second, 20*time.Second), func(p *retry.Plan) {
				p.MaxElapsed = 10 * time.Second
			}),
			3,
		},
		{
			"delays that double to more than a duration can be",
			standard.Config{MaxAttempts: 5, Base: 1 << 61, MaxBackoff: math.MaxInt64},
			retry.Operation{},
			planOf(5, 500, [3]int{14, 14, 5}, 1<<61, time.Second, math.MaxInt64),
			(1<<61 + 1<<62 + 2*math.MaxInt64) / float64(time.Second),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := standard.New(c.config)
			require.NoError(t, err)
			plan := s.Plan(c.op)
			require.Equal(t, c.want, plan)
			require.InEpsilon(t, 1+c.wantDelay, 1+forecast.WorstCaseDelay(plan), 1e-12)
		})
	}
}

// planOf returns a Plan; costs are those of a retry, after a timeout and after a throttle.
func planOf(attempts, quota int, costs [3]int, base, throttlingBase, longest time.Duration) retry.Plan {
	return retry.Plan{
		MaxAttempts: attempts, QuotaCapacity: quota,
		RetryCost: costs[0], TimeoutCost: costs[1], ThrottlingCost: costs[2],
		Base: base, ThrottlingBase: throttlingBase, MaxBackoff: longest,
	}
}

func with(p retry.Plan, change func(p *retry.Plan)) retry.Plan {
	change(&p)
	return p
}
