package proptest_test

import (
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func (r *adaptiveRun) begin(t *rapid.T) {
	op := drawOperation(t)
	token, err := r.strategy.AcquireInitialToken(t.Context(), op)
	require.NoError(t, err)
	r.quotas.scope(op)
	r.rate(op)
	r.open = append(r.open, &sending{operationModel: operationModel{op: op, attempt: 1}, token: token})
}

// pick draws an operation.
func (r *adaptiveRun) pick(t *rapid.T) *sending {
	if len(r.open) == 0 {
		r.begin(t)
	}
	return r.open[drawInt(t, 0, len(r.open)-1, "operation")]
}

// end takes an operation off those that are open.
func (r *adaptiveRun) end(done *sending) {
	for i, o := range r.open {
		if o == done {
			r.open = append(r.open[:i:i], r.open[i+1:]...)
			return
		}
	}
}

// send waits for the backoff and then for the send token (A09, A10). The model goes
// on from the instant of the strategy, so that rounding does not add up.
func (r *adaptiveRun) send(t *rapid.T) {
	o := r.pick(t)
	if o.underWay {
		r.clock.Advance(drawPause(t, "latency"))
		return
	}
	due := r.clock.Now().Add(o.token.Delay())
	err := o.token.Wait(t.Context())
	want := r.rate(o.op).until(due, r.cost())
	switch {
	case r.borderline(want):
		// The last nanosecond decides, and the model does not count in nanoseconds.
	case r.refuses(want):
		require.ErrorIs(t, err, retry.ErrSendRateLimited)
	default:
		require.NoError(t, err)
	}
	if err != nil {
		require.Equal(t, due, r.clock.Now())
		return
	}
	r.wasSent(t, o, due)
}

// wasSent compares the instant of an attempt that was due with the model's.
func (r *adaptiveRun) wasSent(t *rapid.T, o *sending, due time.Time) {
	rate, cost := r.rate(o.op), r.cost()
	o.underWay, o.sent = true, r.clock.Now()
	requireClose(t, rate.until(due, cost), o.sent.Sub(due).Seconds(), "wait for the send token")
	rate.lifted = cost // A12
	rate.take(o.sent, cost)
	rate.lifted = 0
	rate.spend(0)
}

func (r *adaptiveRun) cost() float64 { return or(r.config.SendCost, 1) }

// refuses reports whether a wait of so many seconds is more than is accepted.
func (r *adaptiveRun) refuses(wait float64) bool {
	longest := r.config.MaxSendWait.Seconds()
	return r.config.NoSendWait && wait > 0 || longest > 0 && wait > longest
}

func (r *adaptiveRun) borderline(wait float64) bool {
	const nanoseconds = 10e-9
	return r.refuses(wait+nanoseconds) != r.refuses(max(wait-nanoseconds, 0))
}

// report tells the model of an attempt that was made (A08), and of no other.
func (r *adaptiveRun) report(o *sending, throttled bool) {
	if o.underWay {
		r.rate(o.op).report(r.clock.Now(), ratelimit.Response{Sent: o.sent, Throttled: throttled, Cost: r.cost()})
	}
	o.underWay = false
}

// responded lets the time until the response pass, mostly.
func (r *adaptiveRun) responded(t *rapid.T) *sending {
	if drawBool(t, "send first") {
		r.send(t)
	}
	o := r.pick(t)
	r.clock.Advance(drawFrom(t, "latency", 0, time.Millisecond, 70*time.Millisecond, time.Second))
	return o
}

func (r *adaptiveRun) refresh(t *rapid.T) {
	o, f := r.responded(t), drawFailure(t)
	f.hint = min(f.hint, time.Hour) // which is slept
	r.report(o, f.kind == throttle)
	want, wantDelay := r.quotas.fail(&o.operationModel, f, limits{})
	next, err := r.strategy.RefreshRetryToken(t.Context(), o.token, f.err())
	require.Equal(t, want, outcomeOf(err), "%v", err)
	require.Equal(t, wantDelay, next.Delay())
	o.token = next
	if err != nil { // which says nothing about the attempt any more
		r.end(o)
		require.NoError(t, r.strategy.RecordFailure(o.token, f.err()))
	}
}

func (r *adaptiveRun) succeed(t *rapid.T) {
	o := r.responded(t)
	r.report(o, false)
	r.quotas.succeed(&o.operationModel)
	r.end(o)
	require.NoError(t, r.strategy.RecordSuccess(o.token))
}

func (r *adaptiveRun) fail(t *rapid.T) {
	o, f := r.responded(t), drawFailure(t)
	o.made = o.underWay
	r.report(o, f.kind == throttle)
	r.quotas.end(&o.operationModel)
	r.end(o)
	require.NoError(t, r.strategy.RecordFailure(o.token, f.err()))
}
