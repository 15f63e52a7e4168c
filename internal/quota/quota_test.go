package quota_test

import (
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/quota"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/ratelimit"
)

// at is an instant so many seconds after a whole second.
func at(seconds float64) time.Time {
	return time.Unix(1_000_000, 0).Add(vectors.Seconds(seconds))
}

// newQuota returns a quota that begins at second 0.
func newQuota(config quota.Config) timed {
	clk := &settable{}
	return timed{quota.New(config, at(0), clk), clk}
}

// timed is a quota whose clock a test sets.
type timed struct {
	*quota.Quota
	clk *settable
}

// at sets the clock to so many seconds after second 0.
func (q timed) at(seconds float64) *quota.Quota { return q.on(at(seconds)) }

func (q timed) on(now time.Time) *quota.Quota {
	q.clk.since.Store(int64(now.Sub(at(0))))
	return q.Quota
}

// settable is a clock that begins at second 0.
type settable struct {
	clock.System
	since atomic.Int64
}

func (c *settable) Now() time.Time { return at(0).Add(time.Duration(c.since.Load())) }

func TestQuotaFollowsTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Standard](t, "standard.json") {
		for _, c := range file.QuotaOps {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				q := newQuota(quota.Config{Capacity: c.Capacity, Initial: c.Initial})
				for i, op := range c.Ops {
					if op.Acquire != nil {
						ok := q.Charge(vectors.Int(*op.Acquire)) != nil
						require.Equal(t, op.WantOK, ok, "step %d", i)
					} else {
						q.Refund(vectors.Int(*op.Release))
					}
					require.Equal(t, op.WantAfter, q.Available(), "step %d", i)
				}
			})
		}
	}
}

func TestNewQuotaCutsItsConfigToWhatMakesSense(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		config        quota.Config
		wantAvailable int
		wantCapacity  int
		wantRefills   bool
	}{
		"zero value":             {quota.Config{}, 0, 0, false},
		"initial below capacity": {quota.Config{Capacity: 500, Initial: 20}, 20, 500, false},
		"initial above capacity": {quota.Config{Capacity: 5, Initial: 6}, 5, 5, false},
		"negative initial":       {quota.Config{Capacity: 5, Initial: -1}, 0, 5, false},
		"negative capacity":      {quota.Config{Capacity: -5, Initial: 3}, 0, 0, false},
		"refill":                 {quota.Config{Capacity: 5, Refill: 0.1}, 0, 5, true},
		"negative refill":        {quota.Config{Capacity: 5, Refill: -1}, 0, 5, false},
		"refill not a number":    {quota.Config{Capacity: 5, Refill: ratelimit.Rate(math.NaN())}, 0, 5, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQuota(tt.config)

			require.Equal(t, tt.wantAvailable, q.Available())
			require.Equal(t, tt.wantCapacity, q.Capacity())
			require.Equal(t, tt.wantRefills, q.at(3600).Available() > tt.wantAvailable)
		})
	}
}

func TestQuotaAmountsOutOfRange(t *testing.T) {
	t.Parallel()
	full := quota.Config{Capacity: 10, Initial: 10}
	tests := map[string]struct {
		config    quota.Config
		take      int
		wantOK    bool
		wantAfter int
		refund    int
		wantEnd   int
	}{
		"negative cost takes nothing":               {full, -3, true, 10, 0, 10},
		"negative refund gives nothing":             {full, 4, true, 6, -2, 6},
		"largest cost":                              {full, math.MaxInt, false, 10, 0, 10},
		"largest refund":                            {full, 10, true, 0, math.MaxInt, 10},
		"largest capacity does not overflow":        {quota.Config{Capacity: math.MaxInt, Initial: math.MaxInt}, 1, true, math.MaxInt - 1, math.MaxInt, math.MaxInt},
		"no capacity refuses one":                   {quota.Config{}, 1, false, 0, 5, 0},
		"no capacity grants what costs nothing":     {quota.Config{}, 0, true, 0, 5, 0},
		"initial above capacity, all there is goes": {quota.Config{Capacity: 5, Initial: 50}, 5, true, 0, 1, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQuota(tt.config)

			require.Equal(t, tt.wantOK, q.Charge(tt.take) != nil)
			require.Equal(t, tt.wantAfter, q.Available())
			q.Refund(tt.refund)
			require.Equal(t, tt.wantEnd, q.Available())
		})
	}
}

func TestQuotaRefills(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		config quota.Config
		after  []float64 // seconds since the start at which Available is asked
		want   []int
	}{
		"not without a rate":               {quota.Config{Capacity: 10, Initial: 1}, []float64{1, 1e6}, []int{1, 1}},
		"whole tokens only":                {quota.Config{Capacity: 10, Refill: 1}, []float64{0.5, 0.75, 1, 1.75, 2}, []int{0, 0, 1, 1, 2}},
		"the fraction is kept":             {quota.Config{Capacity: 10, Refill: 2}, []float64{0.75, 1}, []int{1, 2}},
		"never above the capacity":         {quota.Config{Capacity: 10, Initial: 9, Refill: 4}, []float64{0.25, 0.5, 100}, []int{10, 10, 10}},
		"never above it in one leap":       {quota.Config{Capacity: 10, Initial: 9, Refill: 4}, []float64{1e9}, []int{10}},
		"time going back adds nothing":     {quota.Config{Capacity: 10, Refill: 1}, []float64{3, 1, 2, 3, 4}, []int{3, 3, 3, 3, 4}},
		"time before the start is no debt": {quota.Config{Capacity: 10, Initial: 2, Refill: 1}, []float64{-5, 0, 1}, []int{2, 2, 3}},
		"an endless rate fills it at once": {quota.Config{Capacity: 10, Refill: ratelimit.Rate(math.Inf(1))}, []float64{0, 1e-9, 1}, []int{0, 10, 10}},
		"nothing fits a capacity of zero":  {quota.Config{Refill: 5}, []float64{1, 10}, []int{0, 0}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQuota(tt.config)
			for i, seconds := range tt.after {
				require.Equal(t, tt.want[i], q.at(seconds).Available(), "at %v s", seconds)
			}
		})
	}
}

func TestQuotaThatIsFullKeepsNoFraction(t *testing.T) {
	t.Parallel()
	config := quota.Config{Capacity: 10, Initial: 10, Refill: 1}
	tests := map[string]struct {
		fill func(q timed)
	}{
		"full from the start": {func(q timed) {
			q.at(3.75).Available()
		}},
		"filled by time": {func(q timed) {
			q.Charge(2)
			q.at(3.75).Available()
		}},
		"filled by a refund": {func(q timed) {
			q.Charge(4)
			require.Equal(t, 9, q.at(3.5).Available())
			q.Refund(1)
			require.Equal(t, 10, q.Available())
			q.at(3.75).Available()
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQuota(config)
			tt.fill(q)

			require.NotNil(t, q.at(3.75).Charge(1))

			require.Equal(t, 9, q.Available())
			require.Equal(t, 9, q.at(4.5).Available())
			require.Equal(t, 10, q.at(4.75).Available())
		})
	}
}

func TestLargestCapacityRefills(t *testing.T) {
	t.Parallel()
	q := newQuota(quota.Config{Capacity: math.MaxInt, Refill: ratelimit.Rate(math.Inf(1))})
	require.Equal(t, math.MaxInt, q.at(1).Available())
}

// A refund fills the quota, and a caller that read the clock before finds it full: what has
// come since that instant has been counted.
func TestQuotaThatOldTimeFindsFullRefillsFromTheNewestTime(t *testing.T) {
	t.Parallel()
	q := newQuota(quota.Config{Capacity: 2, Refill: 1})
	require.Equal(t, 1, q.at(1.25).Available())
	q.Refund(1)
	require.Equal(t, 2, q.Available())

	require.NotNil(t, q.at(0.25).Charge(1))

	require.Equal(t, 1, q.Available())
	require.Equal(t, 1, q.at(1.25).Available())
	require.Equal(t, 1, q.at(2).Available())
	require.Equal(t, 2, q.at(2.25).Available())
}

// A refund to a full quota says what time it is. What older callers take then does not come back before its time.
func TestQuotaFullBeforeARefundRefillsFromThen(t *testing.T) {
	t.Parallel()
	q := newQuota(quota.Config{Capacity: 1, Initial: 1, Refill: 5})
	q.at(10).Refund(1)
	require.Equal(t, 1, q.Available())
	require.NotNil(t, q.at(9).Charge(1))
	require.Equal(t, 0, q.at(10).Available())
	require.Equal(t, 1, q.at(10.2).Available())
}

func TestQuotaFillsOnAnotherClock(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * 3600
	q := newQuota(quota.Config{Capacity: 9, Refill: 2})
	for _, late := range []float64{0.25, -1, 0.25 - year} {
		require.Zero(t, q.at(late).Available())
	}
	require.Zero(t, q.at(-year).Available(), "of another clock")
	require.Equal(t, 1, q.at(-year+0.5).Available())
}

func TestQuotaRefillsOnAClockThatHasGoneBack(t *testing.T) {
	t.Parallel()
	q := newQuota(quota.Config{Capacity: 10, Refill: 1})
	require.Equal(t, 1, q.at(1.5).Available())
	require.Equal(t, 1, q.at(-3600).Available(), "going back brings nothing")
	require.Equal(t, 1, q.at(-3599.6).Available())
	require.Equal(t, 2, q.at(-3599.5).Available(), "and loses no fraction")
	require.Equal(t, 2, q.at(-3600).Available(), "that is only late")
	require.Equal(t, 3, q.at(-3598.5).Available())
}
