package sendrate

// The state machines behind a SendRate, for their own tests.
type (
	Bucket       = bucket
	Cubic        = cubic
	MeasuredRate = measuredRate
	SuccessRate  = successRate
)

const (
	MinCapacity   = minCapacity
	CubicBeta     = cubicBeta
	CubicScale    = cubicScale
	MeasureSmooth = measureSmooth
	MeasureWindow = measureWindow
)

var (
	NewCubic        = newCubic
	NewMeasuredRate = newMeasuredRate
)

// WhileLocked runs f while the lock of the limiter is held.
func (l *Limiter) WhileLocked(f func()) {
	now := l.line.Lock()
	defer l.line.Unlock(now, false)
	f()
}
