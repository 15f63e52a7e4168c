package ratelimit

import "time"

// Constants of the measured rate, the same in every AWS SDK.
const (
	measureWindow = 500 * time.Millisecond
	measureSmooth = 0.8
)

// MeasuredRate measures how many tokens a second the attempts took whose responses
// arrive, in windows of half a second that lie on the clock's own grid, smoothed
// exponentially. Use NewMeasuredRate; it is not safe for concurrent use.
type MeasuredRate struct {
	second time.Time // the whole second of the start; windows are counted from it
	window int64     // the window that responses are being counted in
	count  float64
	rate   Rate
}

// NewMeasuredRate returns a measurement that begins in the whole second of
// start, with a rate of zero.
func NewMeasuredRate(start time.Time) MeasuredRate {
	return MeasuredRate{second: start.Add(-time.Duration(start.Nanosecond()))}
}

// Response counts the response at now to an attempt of so many tokens, and returns the
// rate. The first response of a later window closes the present one and counts in it:
//
//	rate' = 0.8 * count / (seconds between the windows) + 0.2 * rate
//
// A time before the newest window counts in the newest window; more than 365 days
// before it, the measurement begins anew.
func (m *MeasuredRate) Response(now time.Time, cost float64) Rate {
	if ofAnotherClock(now, m.second.Add(time.Duration(m.window)*measureWindow)) {
		*m = NewMeasuredRate(now)
	}
	m.count += cost
	if window := int64(now.Sub(m.second) / measureWindow); window > m.window {
		seconds := float64(window-m.window) * measureWindow.Seconds()
		m.rate = Rate(float64(measureSmooth*(m.count/seconds)) + float64((1-measureSmooth)*float64(m.rate)))
		m.window, m.count = window, 0
	}
	return m.rate
}

// Rate reports the rate as of the last response.
func (m *MeasuredRate) Rate() Rate { return m.rate }
