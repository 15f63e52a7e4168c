package sendrate

import (
	"time"

	"github.com/awsretry/awsretry/ratelimit"
)

// The state machines behind a SendRate, for their own tests.
type (
	Bucket       = bucket
	Cubic        = cubic
	MeasuredRate = measuredRate
)

const (
	MinCapacity   = minCapacity
	HoldLeast     = float64(holdLeast)
	CubicBeta     = cubicBeta
	CubicScale    = cubicScale
	MeasureSmooth = measureSmooth
	MeasureWindow = measureWindow
)

var NewMeasuredRate = newMeasuredRate

// NewCubic returns a curve that last was throttled at start, with a maximum of lastMax.
func NewCubic(start time.Time, lastMax ratelimit.Rate) Cubic {
	c := cubic{lastThrottle: start}
	c.setMax(lastMax)
	return c
}

// At moves the time on.
func (b *bucket) At(now time.Time) *bucket {
	if now.After(b.now) {
		b.now = now
	}
	return b
}

func (b *bucket) Fill() ratelimit.Rate       { return b.fill }
func (b *bucket) Capacity() float64          { return b.capacity }
func (b *bucket) Tokens() float64            { return b.tokens }
func (m *measuredRate) Rate() ratelimit.Rate { return m.rate }

// SetRate sets the send rate, at most to the ceiling, and turns limiting on.
func (s *SendRate) SetRate(now time.Time, rate ratelimit.Rate) {
	s.forward(now)
	s.limited = true
	s.bucket.SetRate(min(rate, s.ceiling))
}

// Newest returns the newest instant seen.
func (s *SendRate) Newest() time.Time { return s.bucket.now }

// WhileLocked runs f while the lock of the limiter is held.
func (l *Limiter) WhileLocked(f func()) {
	l.line.Lock()
	defer l.line.Release()
	f()
}
