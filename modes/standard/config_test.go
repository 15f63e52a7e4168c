package standard_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/forecast"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func TestNewNamesWhatIsOutOfRange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		config standard.Config
		want   string
	}{
		{"generation", standard.Config{Behavior: "v3"}, `standard: Behavior "v3": must be "v2.0" or "v2.1"`},
		{"capacity", standard.Config{QuotaCapacity: new(-5)}, "standard: QuotaCapacity -5: must not be negative"},
		{"first quota", standard.Config{QuotaInitial: new(-1)}, "standard: QuotaInitial -1: must not be negative"},
		{"cost", standard.Config{RetryCost: -2}, "standard: RetryCost -2: must not be negative"},
		{"cost of a timeout", standard.Config{TimeoutCost: -2}, "standard: TimeoutCost -2: must not be negative"},
		{"cost of a throttle", standard.Config{ThrottlingCost: -2}, "standard: ThrottlingCost -2: must not be negative"},
		{"quota wait", standard.Config{MaxQuotaWait: -1}, "standard: MaxQuotaWait -1ns: must not be negative"},
		{"delay", standard.Config{Base: -time.Second}, "standard: Base -1s: must not be negative"},
		{"delay after a throttle", standard.Config{ThrottlingBase: -1}, "standard: ThrottlingBase -1ns: must not be negative"},
		{"longest delay", standard.Config{MaxBackoff: -1}, "standard: MaxBackoff -1ns: must not be negative"},
		{"elapsed time", standard.Config{MaxElapsed: -1}, "standard: MaxElapsed -1ns: must not be negative"},
		{"shortest delay", standard.Config{MinDelay: -1}, "standard: MinDelay -1ns: must not be negative"},
		{
			"shortest delay above the longest one",
			standard.Config{MinDelay: 2 * time.Second, MaxBackoff: time.Second},
			"standard: MinDelay 2s: must not be above MaxBackoff, which is 1s",
		},
		{
			"shortest delay above the default of the longest one",
			standard.Config{MinDelay: time.Minute},
			"standard: MinDelay 1m0s: must not be above MaxBackoff, which is 20s",
		},
		{"longest hint", standard.Config{MaxHint: -1}, "standard: MaxHint -1ns: must not be negative"},
		{"scopes", standard.Config{MaxScopes: -1}, "standard: MaxScopes -1: must not be negative"},
		{"jitter", standard.Config{Jitter: 99}, "standard: Jitter 99: unknown kind"},
		{"refill", standard.Config{QuotaRefill: -1}, "standard: QuotaRefill -1: must be a finite number of 0 or more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := standard.New(c.config)
			require.EqualError(t, err, c.want)
			require.Nil(t, s)
		})
	}
	_, err := standard.New(standard.Config{QuotaRefill: ratelimit.Rate(math.NaN())})
	require.ErrorContains(t, err, "QuotaRefill NaN")
}

func TestFieldWithoutEffectBesideAnotherIsAnError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config standard.Config
		want   string
	}{
		{standard.Config{NoQuota: true, QuotaCapacity: new(0)}, "QuotaCapacity 0: has no effect beside NoQuota (option WithoutQuota)"},
		{standard.Config{NoQuota: true, QuotaInitial: new(7)}, "QuotaInitial 7: has no effect beside NoQuota (option WithoutQuota)"},
		{standard.Config{NoQuota: true, RetryCost: 1}, "RetryCost 1: has no effect beside NoQuota (option WithoutQuota)"},
		{standard.Config{NoQuota: true, TimeoutCost: 2}, "TimeoutCost 2: has no effect beside NoQuota (option WithoutQuota)"},
		{standard.Config{NoQuota: true, ThrottlingCost: 3}, "ThrottlingCost 3: has no effect beside NoQuota (option WithoutQuota)"},
		{standard.Config{NoQuota: true, QuotaRefill: 0.5}, "QuotaRefill 0.5: has no effect beside NoQuota (option WithoutQuota)"},
		{standard.Config{NoQuota: true, MaxQuotaWait: time.Second}, "MaxQuotaWait 1s: has no effect beside NoQuota (option WithoutQuota)"},
		{standard.Config{NoQuota: true, BackoffWhenEmpty: true}, "BackoffWhenEmpty true: has no effect beside NoQuota (option WithoutQuota)"},
		{standard.Config{Backoff: noBackoff, Base: time.Second}, "Base 1s: has no effect beside Backoff"},
		{standard.Config{Backoff: noBackoff, ThrottlingBase: 2 * time.Second}, "ThrottlingBase 2s: has no effect beside Backoff"},
		{standard.Config{Backoff: noBackoff, Jitter: standard.Equal}, "Jitter equal: has no effect beside Backoff"},
	} {
		_, err := standard.New(c.config)
		require.EqualError(t, err, "standard: "+c.want)
	}
	_, err := standard.New(standard.Config{NoQuota: true, RetryCost: 1, ThrottlingCost: 3})
	require.ErrorContains(t, err, "RetryCost 1")
	require.ErrorContains(t, err, "ThrottlingCost 3")
}

func noBackoff(int, error) time.Duration { return 0 }

func TestDelaysOfABackoffOfOnesOwn(t *testing.T) {
	t.Parallel()
	hinted := vectors.Response{
		Status: 500, Kind: "transient", Headers: map[string]string{"x-amz-retry-after": "7000"},
	}.Err()
	const s = time.Second
	for _, c := range []struct {
		name    string
		config  standard.Config
		result  time.Duration
		failure error
		want    time.Duration
	}{
		{"as it is", standard.Config{}, 3 * s, errServer, 3 * s},
		{"after a throttle", standard.Config{}, 3 * s, errThrottle, 3 * s},
		{"none", standard.Config{}, 0, errServer, 0},
		{"negative", standard.Config{}, -s, errServer, 0},
		{"the smallest duration", standard.Config{}, math.MinInt64, errServer, 0},
		{"above the default of the longest", standard.Config{}, time.Minute, errServer, 20 * s},
		{"the longest duration", standard.Config{}, math.MaxInt64, errServer, 20 * s},
		{"below a longest of its own", standard.Config{MaxBackoff: time.Hour}, time.Minute, errServer, time.Minute},
		{"above a longest of its own", standard.Config{MaxBackoff: s}, 2 * s, errServer, s},
		{"below the shortest", standard.Config{MinDelay: 2 * s}, s, errServer, 2 * s},
		{"negative, with a shortest", standard.Config{MinDelay: 2 * s}, -s, errServer, 2 * s},
		{"a hint in v2.1", standard.Config{}, 3 * s, hinted, 7 * s},
		{"a longer hint in v2.1", standard.Config{}, s, hinted, 6 * s},
		{"a shorter hint in v2.1", standard.Config{}, 8 * s, hinted, 8 * s},
		{"a hint after a negative result", standard.Config{}, -time.Hour, hinted, 5 * s},
		{"a hint after the longest duration", standard.Config{MaxBackoff: math.MaxInt64}, math.MaxInt64, hinted, math.MaxInt64},
		{"a hint in v2.0", standard.Config{Behavior: retry.V20}, s, hinted, 7 * s},
		{"a hint above the longest in v2.0", standard.Config{Behavior: retry.V20, MaxBackoff: 4 * s}, s, hinted, 4 * s},
		{"a hint above MaxHint", standard.Config{MaxHint: 2 * s}, s, hinted, 2 * s},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.config.Backoff = func(int, error) time.Duration { return c.result }
			c.config.Random = func() float64 { panic("there is no jitter") }
			strategy, err := standard.New(c.config)
			require.NoError(t, err)
			token, err := strategy.AcquireInitialToken(t.Context(), retry.Operation{})
			require.NoError(t, err)
			token, err = strategy.RefreshRetryToken(t.Context(), token, c.failure)
			require.NoError(t, err)
			require.Equal(t, c.want, token.Delay())
		})
	}
}

func TestPlanWithABackoffOfOnesOwn(t *testing.T) {
	t.Parallel()
	s, _ := newStrategy(t, func(c *standard.Config) {
		c.MinDelay, c.MaxBackoff = time.Second, 10*time.Second
		c.Backoff = func(attempt int, err error) time.Duration {
			require.Equal(t, errServer, err)
			return time.Duration(attempt-2) * 6 * time.Second
		}
	})
	plan := s.Plan(retry.Operation{Service: "dynamodb"})
	for attempt, want := range map[int]time.Duration{1: time.Second, 2: time.Second, 3: 6 * time.Second, 4: 10 * time.Second} {
		require.Equal(t, want, plan.Backoff(attempt, errServer))
	}
	require.InDelta(t, 30, forecast.WorstCaseDelay(plan), 0)
	plan.Backoff = nil
	require.Equal(t, with(planOf(4, 500, [3]int{14, 14, 5}, 0, 0, 10*time.Second), func(p *retry.Plan) { p.MinDelay = time.Second }), plan)
}

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
			0, // The quota pays for no retry.
		},
		{
			"no quota",
			standard.Config{NoQuota: true, Behavior: retry.V20},
			retry.Operation{},
			planOf(3, 500, [3]int{}, time.Second, time.Second, 20*time.Second),
			3,
		},
		{
			"no quota, DynamoDB",
			standard.Config{NoQuota: true},
			retry.Operation{Service: "dynamodb"},
			planOf(4, 500, [3]int{}, 25*time.Millisecond, time.Second, 20*time.Second),
			7,
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
			1 + 2 + 4 + 8 + 16 + 20*95, // The quota pays for a hundred throttles.
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

func TestServiceOfTheOperationDecidesTheDefaults(t *testing.T) {
	t.Parallel()
	s, _ := newStrategy(t, func(c *standard.Config) { c.Service = "dynamodb" })
	require.Equal(t, 4, s.Plan(retry.Operation{}).MaxAttempts)
	require.Equal(t, 4, s.Plan(retry.Operation{Service: "DynamoDB Streams"}).MaxAttempts)
	require.Equal(t, 3, s.Plan(retry.Operation{Service: "s3"}).MaxAttempts)
}

func TestDynamoDBIsKnownHoweverItIsSpelt(t *testing.T) {
	t.Parallel()
	s, _ := newStrategy(t, nil)
	for _, service := range []string{
		"dynamodb", "DynamoDB", "DynamoDB Streams", "dynamodb-streams", "dynamodb_streams", "DynamoDBStreams",
	} {
		for _, spelling := range []string{service, strings.ToUpper(service)} {
			op := retry.Operation{Service: spelling}
			require.Equal(t, 4, s.Plan(op).MaxAttempts, spelling)
			require.Equal(t, 25*time.Millisecond, s.Plan(op).Base, spelling)
		}
	}
	for _, service := range []string{"", "dynamo", "dynamodb ", "dax", "s3"} {
		require.Equal(t, 3, s.Plan(retry.Operation{Service: service}).MaxAttempts, service)
	}
}

func TestDelaysAreRandomUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	s, _ := newStrategy(t, func(c *standard.Config) { c.Random = nil })
	delays := map[time.Duration]bool{}
	for range 30 {
		token, err := s.RefreshRetryToken(t.Context(), begin(t, s, ""), errServer)
		require.NoError(t, err)
		require.LessOrEqual(t, token.Delay(), 50*time.Millisecond)
		delays[token.Delay()] = true
	}
	require.Greater(t, len(delays), 24)
}

func TestNoDelayIsBelowTheShortestOne(t *testing.T) {
	t.Parallel()
	hinted := vectors.Response{
		Status: 500, Kind: "transient", Headers: map[string]string{"x-amz-retry-after": "7000"},
	}.Err()
	for _, c := range []struct {
		name    string
		config  standard.Config
		failure error
		want    [3]time.Duration // before the first three retries
	}{
		{"no jitter", standard.Config{MinDelay: 150 * time.Millisecond, Jitter: standard.NoJitter}, errServer, [3]time.Duration{150e6, 150e6, 200e6}},
		{"the smallest random number", standard.Config{MinDelay: 300 * time.Millisecond}, errServer, [3]time.Duration{300e6, 300e6, 300e6}},
		{"the smallest random number after a throttle", standard.Config{MinDelay: 300 * time.Millisecond}, errThrottle, [3]time.Duration{300e6, 300e6, 300e6}},
		{"equal", standard.Config{MinDelay: 30 * time.Millisecond, Jitter: standard.Equal}, errServer, [3]time.Duration{30e6, 50e6, 100e6}},
		{"decorrelated", standard.Config{MinDelay: time.Second, Jitter: standard.Decorrelated}, errServer, [3]time.Duration{1e9, 1e9, 1e9}},
		{"cap after the jitter", standard.Config{MinDelay: time.Second, Jitter: standard.FullThenCap}, errServer, [3]time.Duration{1e9, 1e9, 1e9}},
		{"as long as the longest one", standard.Config{MinDelay: 20 * time.Second}, errServer, [3]time.Duration{20e9, 20e9, 20e9}},
		{"hint above it in v2.1", standard.Config{MinDelay: time.Second}, hinted, [3]time.Duration{6e9, 6e9, 6e9}},
		{"hint below it in v2.1", standard.Config{MinDelay: 8 * time.Second}, hinted, [3]time.Duration{8e9, 8e9, 8e9}},
		{"hint above it in v2.0", standard.Config{MinDelay: time.Second, Behavior: retry.V20}, hinted, [3]time.Duration{7e9, 7e9, 7e9}},
		{"hint below it in v2.0", standard.Config{MinDelay: 8 * time.Second, Behavior: retry.V20}, hinted, [3]time.Duration{8e9, 8e9, 8e9}},
		{"hint with a longest one below it", standard.Config{MinDelay: 2 * time.Second, MaxHint: time.Second}, hinted, [3]time.Duration{2e9, 2e9, 2e9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.config.MaxAttempts, c.config.Random = 4, func() float64 { return 0 }
			s, err := standard.New(c.config)
			require.NoError(t, err)
			token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
			require.NoError(t, err)
			for i, want := range c.want {
				token, err = s.RefreshRetryToken(t.Context(), token, c.failure)
				require.NoError(t, err)
				require.Equal(t, want, token.Delay(), "retry %d", i)
			}
		})
	}
}

// The longest delay before the jitter of decorrelated jitter follows the delay that was slept.
func TestDecorrelatedJitterGrowsFromTheShortestDelay(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *standard.Config) {
		c.Jitter, c.MaxAttempts, c.MinDelay = standard.Decorrelated, 4, time.Second
	})
	_, err := do(t.Context(), clk, s, retry.Operation{}, errServer, errServer, errServer)
	require.NoError(t, err)
	require.Equal(t, []time.Duration{time.Second, 3 * time.Second, 9 * time.Second}, clk.Waits())
}

func TestOperationThatAnEmptyQuotaSlowsDownSleepsTheShortestDelay(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *standard.Config) {
		c.QuotaCapacity, c.BackoffWhenEmpty, c.MinDelay = new(0), true, time.Second
	})
	_, err := do(t.Context(), clk, s, retry.Operation{}, errServer)
	require.ErrorIs(t, err, retry.ErrQuotaExhausted)
	require.Equal(t, []time.Duration{time.Second}, clk.Waits())
}

func TestHintsOfTheServer(t *testing.T) {
	t.Parallel()
	hinted := func(header string) error {
		return vectors.Response{
			Status: 500, Kind: "transient", Headers: map[string]string{"x-amz-retry-after": header},
		}.Err()
	}
	for _, c := range []struct {
		behavior retry.Behavior
		maxHint  time.Duration
		header   string
		want     time.Duration
	}{
		{retry.V20, 0, "4000", 4 * time.Second},
		{retry.V20, 0, "30000", 20 * time.Second},
		{retry.V20, 0, "9223372036854775807", 20 * time.Second},
		{retry.V20, 0, "-1", time.Second},
		{retry.V20, time.Minute, "30000", 30 * time.Second},
		{retry.V20, time.Minute, "9223372036854775807", time.Minute},
		{retry.V20, 3 * time.Second, "4000", 3 * time.Second},
		{retry.V20, time.Millisecond, "4000", time.Second},
		{retry.V21, 0, "4000", 4 * time.Second},
		{retry.V21, 0, "9223372036854775807", 5050 * time.Millisecond},
		{retry.V21, 0, "1", 50 * time.Millisecond},
		{retry.V21, time.Minute, "30000", 30 * time.Second},
		{retry.V21, time.Minute, "9223372036854775807", time.Minute},
		{retry.V21, time.Minute, "1", 50 * time.Millisecond},
		{retry.V21, 3 * time.Second, "4000", 3 * time.Second},
		{retry.V21, time.Millisecond, "4000", 50 * time.Millisecond},
	} {
		t.Run(fmt.Sprintf("%s, at most %v, %s", c.behavior, c.maxHint, c.header), func(t *testing.T) {
			t.Parallel()
			s, _ := newStrategy(t, func(config *standard.Config) { config.Behavior, config.MaxHint = c.behavior, c.maxHint })
			token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
			require.NoError(t, err)
			next, err := s.RefreshRetryToken(t.Context(), token, hinted(c.header))
			require.NoError(t, err)
			require.Equal(t, c.want, next.Delay())
		})
	}
}
