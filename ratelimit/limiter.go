package ratelimit

import (
	"context"
	"time"

	"github.com/awsretry/awsretry/retry"
)

// Limiter holds the attempts of a scope back, and learns from their answers. The one of adaptive mode is that of
// adaptive.Config.Limiter; a program may have its own. It must be safe for concurrent use.
type Limiter interface {
	// Acquire returns when the attempt may be sent, and that instant. Its error is a
	// [*WaitError], ctx.Err() or the limiter's own. Report is not called for an
	// attempt that was refused.
	Acquire(ctx context.Context, r Request) (sent time.Time, err error)
	// Report is called once for each attempt that was acquired and made.
	Report(r Response) Change
	// Expected returns how long an attempt with this request that came now would have to wait if the
	// rate stays as it is. Only Cost and Part of the request count.
	Expected(r Request) time.Duration
	// Give takes back the tokens of an attempt that was acquired with this request but not made, because
	// its operation has ended or an observer has called [runtime.Goexit]. Only Cost and Part count.
	Give(r Request)
	// State returns the send rate part of a snapshot: the fields from SendRateSource on. The
	// strategy sets the others.
	State() retry.ScopeSnapshot
}
