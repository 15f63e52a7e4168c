package quota_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/quota"
	"github.com/awsretry/awsretry/internal/refill"
	"github.com/awsretry/awsretry/ratelimit"
)

// tick is the step of time of the model. Eighths of tokens times it are exact in a float, so
// that the model and the quota can be compared for equality.
const tick = time.Second / 512

// modelQuota is a quota that counts in parts of a token, 8*512 to each: what a rate of one
// eighth of a token a second brings in one tick.
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
	between := func(low, high float64) float64 { return low * math.Pow(high/low, random.Float64()) }
	for range 20_000 {
		config := quota.Config{Capacity: 1 << 30, Refill: ratelimit.Rate(between(1e-3, 1e7))}
		passed := time.Duration(random.Int64N(int64(time.Second)))
		begin := at(0).Add(passed)
		q := newQuota(config)
		cost := q.on(begin).Available() + int(math.Ceil(between(1e-1, 1e6)))

		wait := q.on(begin).Until(cost)

		require.Equal(t, refill.Left(refill.Wait(0, float64(cost), float64(config.Refill)), passed), wait)
		for part := range 8 {
			q.on(begin.Add(time.Duration(float64(wait) * float64(part) / 8))).Available()
		}
		require.NotNil(t, q.on(begin.Add(wait)).Charge(cost), "%v for %v at %v/s after looks", wait, cost, config.Refill)
	}
}

func playQuota(t *testing.T, random *rand.Rand) {
	t.Helper()
	model := modelQuota{capacity: random.IntN(20), eighths: random.IntN(4) * random.IntN(40)}
	initial := random.IntN(model.capacity + 1)
	model.parts = initial * modelToken
	config := quota.Config{
		Capacity: model.capacity, Initial: initial, Refill: ratelimit.Rate(model.eighths) / 8,
	}
	now := at(0)
	q := newQuota(config)
	for step := range 300 {
		ticks := 1 + random.IntN(400)
		now = now.Add(time.Duration(ticks) * tick)
		model.pass(ticks)
		require.Equal(t, model.parts/modelToken, q.on(now).Available(), "step %d, %+v", step, config)
		amount := random.IntN(8)
		if random.IntN(3) == 0 {
			model.refund(amount)
			q.Refund(amount)
			continue
		}
		asOf := now.Add(-time.Duration(random.IntN(2)*random.IntN(1000)) * tick)
		require.Equal(t, model.take(amount), q.on(asOf).Charge(amount) != nil, "step %d, %+v", step, config)
		require.Equal(t, model.parts/modelToken, q.Available(), "step %d, %+v", step, config)
	}
}
