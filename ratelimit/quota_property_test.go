package ratelimit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/ratelimit"
)

// tick is the step of time of the model; eighths of tokens times it are exact in
// a float, so that the model and the quota may be compared for equality.
const tick = time.Second / 512

// modelQuota is a quota that counts in parts of a token, 8*512 to each: what a
// rate of one eighth of a token a second brings in one tick.
type modelQuota struct{ capacity, parts, eighths int }

const modelToken = 8 * 512

func (m *modelQuota) pass(ticks int) {
	m.parts = min(m.parts+ticks*m.eighths, m.capacity*modelToken)
}

func (m *modelQuota) take(cost int) bool {
	if m.parts/modelToken < cost {
		return false
	}
	m.parts -= cost * modelToken
	return true
}

func (m *modelQuota) refund(tokens int) {
	m.parts = min(m.parts+tokens*modelToken, m.capacity*modelToken)
}

func TestQuotaIsAsTheModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			playQuota(t, rand.New(rand.NewPCG(seed, 1)))
		})
	}
}

// The wait begins with a fraction of a token, and time adds tokens during it.
func TestQuotaWaitIsTheShortestThatSuffices(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 5))
	for range 20_000 {
		config := ratelimit.QuotaConfig{Capacity: 1 << 30, RefillPerSecond: ratelimit.Rate(between(random, 1e-3, 1e7))}
		begin := at(0).Add(time.Duration(random.Int64N(int64(time.Second))))
		begun := func() (*ratelimit.Quota, float64) {
			quota := ratelimit.NewQuota(config, at(0))
			return quota, begin.Sub(at(0)).Seconds() * float64(config.RefillPerSecond)
		}
		quota, tokens := begun()
		cost := quota.Available(begin) + int(math.Ceil(between(random, 1e-1, 1e6)))

		wait := quota.Until(begin, cost)

		requireShortest(t, wait, tokens, float64(cost), config.RefillPerSecond, func(after time.Duration) bool {
			quota, _ := begun()
			quota.Available(begin)
			_, ok := quota.Take(begin.Add(after), cost)
			return ok
		})
		for part := range 8 {
			quota.Available(begin.Add(time.Duration(float64(wait) * float64(part) / 8)))
		}
		_, ok := quota.Take(begin.Add(wait), cost)
		require.True(t, ok, "%v for %v at %v/s after looks", wait, cost, config.RefillPerSecond)
	}
}

func playQuota(t *testing.T, random *rand.Rand) {
	t.Helper()
	model := modelQuota{capacity: random.IntN(20), eighths: random.IntN(4) * random.IntN(40)}
	initial := random.IntN(model.capacity + 1)
	model.parts = initial * modelToken
	config := ratelimit.QuotaConfig{
		Capacity: model.capacity, Initial: initial, RefillPerSecond: ratelimit.Rate(model.eighths) / 8,
	}
	now := at(0)
	quota := ratelimit.NewQuota(config, now)
	for step := range 300 {
		ticks := 1 + random.IntN(400)
		now = now.Add(time.Duration(ticks) * tick)
		model.pass(ticks)
		require.Equal(t, model.parts/modelToken, quota.Available(now), "step %d, %+v", step, config)
		amount := random.IntN(8)
		if random.IntN(3) == 0 {
			model.refund(amount)
			quota.Refund(amount)
			continue
		}
		asOf := now.Add(-time.Duration(random.IntN(2)*random.IntN(1000)) * tick)
		after, ok := quota.Take(asOf, amount)
		require.Equal(t, model.take(amount), ok, "step %d, %+v", step, config)
		require.Equal(t, model.parts/modelToken, after, "step %d, %+v", step, config)
	}
}
