package engine

import (
	"time"

	"github.com/awsretry/awsretry/internal/token"
)

// Reserve decides as RefreshRetryToken will, and keeps what the retry needs for it. So many attempts may be ended
// at the same time, and each gets the retry for which it was ended. It takes no token for which it would have to
// wait. What it takes goes back if the attempt ends meanwhile.
//
// Code of the user takes its time, and by then the record may serve another operation. So Reserve works on a copy.
func (r *record) Reserve(ref token.Ref, failure error, needed time.Duration, end func() bool) (ended bool) {
	var o operation
	if !ref.WhileReady(func() { o = r.operation }) || o.reserved.payer != nil {
		return false
	}
	o.made, o.granted.payer = int(ref.Number), nil // the last retry was made
	defer func() {
		_ = recover() // of a classifier or a limiter, which will panic again where the caller sees it
		if !ended {
			defer func() { _ = recover() }() // of a limiter: a timer has no caller, so its panic would end the process
			o.refund(&o.granted)
		}
	}()
	if o.reserve(failure, needed) {
		ref.WhileReady(func() {
			if ended = r.reserved.payer == nil && end(); ended {
				r.reserved = o.granted
			}
		})
	}
	return ended
}

// reserve takes quota and send tokens, and reports false if a retry would not be granted.
func (o *operation) reserve(failure error, needed time.Duration) bool {
	o.judge(o.ctx, failure)
	if _, refusal := o.decide(o.ctx); refusal != nil || o.granted.payer == nil { // it would have to wait for quota
		return false
	}
	if deadline, ok := o.ctx.Deadline(); ok && deadline.Sub(o.engine.config.Clock.Now()) < o.granted.delay+needed {
		return false
	}
	if !o.limited {
		return true
	}
	request := o.request
	request.NoWait = true
	_, err := o.scope.Limiter.Acquire(o.ctx, request)
	o.granted.sendPaid = err == nil
	return err == nil
}
