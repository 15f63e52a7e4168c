package proptest_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/quota"
	"github.com/awsretry/awsretry/ratelimit"
)

// quotaModel is a quota in exact numbers: it counts all of what time brings.
type quotaModel struct {
	capacity, tokens *big.Rat
	perNanosecond    *big.Rat
	newest           time.Time
}

func (m *quotaModel) pass(now time.Time) {
	if passed := now.Sub(m.newest); passed > 0 {
		m.newest = now
		m.add(product(ratOf(passed), m.perNanosecond))
	}
}

func (m *quotaModel) add(tokens *big.Rat) { m.tokens = smaller(sum(m.tokens, tokens), m.capacity) }

// within reports whether the tokens are at least low and less than high, give or
// take what float64 arithmetic may be off.
func (m *quotaModel) within(low, high int) bool {
	slack := big.NewRat(1, 1_000_000)
	return sum(m.tokens, slack).Cmp(whole(low)) >= 0 && difference(m.tokens, slack).Cmp(whole(high)) < 0
}

func whole(n int) *big.Rat { return new(big.Rat).SetInt64(int64(n)) }

func TestQuotaWithRefillIsAsExactArithmetic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		run := newQuotaRun(t)
		t.Repeat(map[string]func(*rapid.T){
			"pass":   run.pass,
			"take":   run.take,
			"refund": run.refund,
			"look":   run.look,
		})
		run.look(t)
	})
}

type quotaRun struct {
	quota *quota.Quota
	model *quotaModel
	now   time.Time
}

func newQuotaRun(t *rapid.T) *quotaRun {
	config := quota.Config{
		Capacity: rapid.OneOf(rapid.IntRange(-1, 12), rapid.IntRange(0, 1_000_000)).Draw(t, "capacity"),
		Initial:  drawInt(t, -2, 20, "initial"),
		Refill: ratelimit.Rate(rapid.OneOf(
			rapid.Float64Range(0, 5), rapid.Float64Range(-1, 1e6), rapid.Float64Range(1e-12, 1e-3),
		).Draw(t, "refill")),
	}
	capacity := max(config.Capacity, 0)
	perSecond := new(big.Rat).SetFloat64(max(float64(config.Refill), 0))
	return &quotaRun{
		quota: quota.New(config, start(), clock.System{}),
		now:   start(),
		model: &quotaModel{
			capacity:      whole(capacity),
			tokens:        whole(min(max(config.Initial, 0), capacity)),
			perNanosecond: product(perSecond, big.NewRat(1, int64(time.Second))),
			newest:        start(),
		},
	}
}

func (r *quotaRun) pass(t *rapid.T) {
	r.now = r.now.Add(drawPause(t, "pause") * time.Duration(drawFrom(t, "times", 1, 1, 1, 10_000)))
}

// asOf is the time of a call: a caller may have read the clock before another one.
func (r *quotaRun) asOf(t *rapid.T) time.Time {
	return r.now.Add(-drawFrom(t, "late", 0, 0, time.Nanosecond, time.Second, time.Hour))
}

func (r *quotaRun) take(t *rapid.T) {
	at, cost := r.asOf(t), drawInt(t, -1, 15, "cost")
	r.model.pass(at)
	before := r.quota.Available(at)
	after, granted := r.quota.Take(at, cost)
	cost = max(cost, 0)
	require.Equal(t, before >= cost, granted)
	if granted {
		require.Equal(t, before-cost, after)
		r.model.add(whole(-cost))
	} else {
		require.Equal(t, before, after, "a refusal changed the quota")
		require.Equal(t, before, r.quota.Available(at), "a refusal changed the quota")
	}
	r.agree(t, after)
}

func (r *quotaRun) refund(t *rapid.T) {
	at, tokens := r.asOf(t), drawInt(t, -1, 15, "tokens")
	r.model.pass(at)
	after := r.quota.Refund(at, tokens)
	r.model.add(whole(max(tokens, 0)))
	r.agree(t, after)
}

func (r *quotaRun) look(t *rapid.T) {
	at := r.asOf(t)
	r.model.pass(at)
	r.agree(t, r.quota.Available(at))
}

func (r *quotaRun) agree(t *rapid.T, available int) {
	require.GreaterOrEqual(t, available, 0)
	require.LessOrEqual(t, available, r.quota.Capacity())
	require.True(t, r.model.within(available, available+1), "the model has %s, not %d",
		r.model.tokens.FloatString(9), available)
}
