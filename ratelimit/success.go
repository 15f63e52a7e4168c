package ratelimit

import (
	"math"
	"time"
)

// Constants of Steady. They are this package's own; the proof in
// modes/adaptive shows what they come to.
const (
	steadyBeta   = 0.9
	steadyMemory = time.Second           // after which an answer weighs 1/e
	steadyIdle   = 5 * steadyMemory      // after which the past says nothing
	steadyShort  = 50 * time.Millisecond // the shortest time to divide by
)

// SuccessRate measures how many tokens a second the attempts took that succeeded, each
// weighing less the older it is. The zero value has seen none; it is not safe for concurrent use.
type SuccessRate struct {
	seen        bool // an answer
	began, last time.Time
	weight      float64 // per second, as of last
}

// Response notes an answer at now, which must not be before the last one, to an attempt
// that succeeded with so many tokens, or failed if that is 0. It returns the rate:
//
//	rate = sum of tokens * exp(-age of a success / 1 s) / 1 s / (1 - exp(-T / 1 s))
//
// with the time T since the first of these answers, at least 50 ms, so that the rate
// is right from the start and not only after some seconds. After 5 s without an
// answer the measurement begins anew.
func (m *SuccessRate) Response(now time.Time, succeeded float64) Rate {
	passed := now.Sub(m.last)
	if !m.seen || passed > steadyIdle {
		*m = SuccessRate{seen: true, began: now}
		passed = 0
	}
	m.weight *= math.Exp(-passed.Seconds() / steadyMemory.Seconds())
	m.last = now
	m.weight += succeeded / steadyMemory.Seconds()
	return m.Rate()
}

// Rate reports the rate as of the last answer.
func (m *SuccessRate) Rate() Rate {
	measured := max(m.last.Sub(m.began), steadyShort)
	return Rate(m.weight / -math.Expm1(-measured.Seconds()/steadyMemory.Seconds()))
}
