package sendrate

import (
	"time"

	"github.com/awsretry/awsretry/ratelimit"
)

// Cubic is the curve behind a SendRate.
type Cubic = cubic

const (
	MinCapacity   = minCapacity
	HoldLeast     = float64(holdLeast)
	LineThrottles = lineThrottles
	CubicBeta     = cubicBeta
	CubicScale    = cubicScale
	MeasureSmooth = measureSmooth
	MeasureWindow = measureWindow
)

// NewCubic returns a curve that last was throttled at start, with a maximum of lastMax.
func NewCubic(start time.Time, lastMax ratelimit.Rate) Cubic {
	c := cubic{lastThrottle: start}
	c.setMax(lastMax)
	return c
}

// Alone reports whether the finder has the rate.
func (s *SendRate) Alone() bool { return s.finder.state > doubt }

// Tokens returns how many send tokens there are as of the last call.
func (s *SendRate) Tokens() float64 { return s.tokens() }

// Capacity returns how many fit without a lift.
func (s *SendRate) Capacity() float64 { return s.capacity }

// SetRate sets the send rate, as CUBIC does, and turns limiting on.
func (s *SendRate) SetRate(now time.Time, rate ratelimit.Rate) {
	s.forward(now)
	s.limited = true
	s.setRate(max(rate, s.least))
}

// Newest returns the newest instant seen.
func (s *SendRate) Newest() time.Time { return s.now }

// WhileLocked runs f while the lock of the limiter is held.
func (l *Limiter) WhileLocked(f func()) {
	l.line.Lock()
	defer l.line.Unlock()
	f()
}
