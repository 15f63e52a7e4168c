package retry

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// AttemptTimeout says how long an attempt may take: a [FixedTimeout], a [*LearnedTimeout], or a
// [TimeoutFunc] that chooses one of them by operation. [WithAttemptTimeout], AttemptTimeout of
// httpretry.Config and awssdk.WithAttemptTimeout take one. Nil means no limit.
type AttemptTimeout interface{ attemptTimeout() }

// FixedTimeout is a timeout that depends only on the number of the attempt. It ends the last attempt too,
// and so the call.
type FixedTimeout struct {
	// First is how long the first attempt may take. It must be more than zero.
	First time.Duration
	// Factor multiplies the timeout for each further attempt. Zero means 1, which is no growth.
	// Otherwise it must be 1 or more. For S3 requests of less than 512 KB, the guide "Optimizing
	// Amazon S3 performance" amounts to 2 s and a factor of 2.
	Factor float64
	// Max is the longest timeout. Zero means no such limit. Otherwise it must not be less than
	// First, and Factor must be more than 1.
	Max time.Duration
}

func (FixedTimeout) attemptTimeout() {}

// TimeoutFunc returns the timeout of the attempts of an operation; nil means no limit. It is called
// once for each operation, must be safe for concurrent use, and must not return a TimeoutFunc. If the
// timeout is out of range, no attempt is made and the operation fails with that error.
type TimeoutFunc func(op Operation) AttemptTimeout

func (TimeoutFunc) attemptTimeout() {}

// CheckTimeout returns an error for a timeout that is out of range. Nil is in range, and so is any
// [TimeoutFunc]. Call it in code that keeps a timeout for later, such as a constructor.
func CheckTimeout(t AttemptTimeout) error {
	switch t := t.(type) {
	case nil, TimeoutFunc:
		return nil
	case FixedTimeout:
		return t.check()
	case *LearnedTimeout:
		if t == nil || t.scopes.Load() == nil {
			return errNotLearned
		}
		return nil
	default:
		return fmt.Errorf("retry: AttemptTimeout of type %T: must be a FixedTimeout, a *LearnedTimeout or a TimeoutFunc", t)
	}
}

var errNotLearned = errors.New("retry: a *LearnedTimeout that was not made by NewLearnedTimeout: use what that returns")

func (f *FixedTimeout) check() error {
	switch {
	case f.First <= 0:
		return fmt.Errorf("retry: FixedTimeout.First %v: must be more than zero", f.First)
	case f.Factor != 0 && !(f.Factor >= 1 && f.Factor <= math.MaxFloat64): // also NaN
		return fmt.Errorf("retry: FixedTimeout.Factor %v: must be zero, or a finite number of 1 or more", f.Factor)
	case f.Max != 0 && f.Max < f.First:
		return fmt.Errorf("retry: FixedTimeout.Max %v: must be zero, or not less than First, which is %v", f.Max, f.First)
	case f.Max != 0 && f.Factor <= 1:
		return fmt.Errorf("retry: FixedTimeout.Max %v: has no effect without a Factor of more than 1", f.Max)
	default:
		return nil
	}
}

// of returns the timeout of an attempt; the first is 1.
func (f *FixedTimeout) of(attempt int) time.Duration {
	longest := time.Duration(math.MaxInt64)
	if f.Max > 0 {
		longest = f.Max
	}
	if f.Factor <= 1 {
		return f.First
	}
	// First * Factor^(attempt-1), at most Max.
	if d := float64(f.First) * math.Pow(f.Factor, float64(max(attempt, 1)-1)); d < float64(longest) {
		return time.Duration(d)
	}
	return longest
}

// TimeoutOf returns the timeout of the attempts of an operation: t, or what a [TimeoutFunc] returns for
// op; nil means no limit. The error names the operation and the value that is out of range. Call it in
// your own client before the first attempt waits, so that such an error takes no send token.
func TimeoutOf(t AttemptTimeout, op Operation) (AttemptTimeout, error) {
	choose, ok := t.(TimeoutFunc)
	switch {
	case !ok:
		return t, CheckTimeout(t)
	case choose == nil:
		return nil, nil
	}
	t = choose(op)
	err := CheckTimeout(t)
	if _, again := t.(TimeoutFunc); again {
		err = errFuncOfFunc
	}
	if err != nil {
		return nil, fmt.Errorf("retry: TimeoutFunc for %q in scope %q: %s", op.Name, op.Key(), withoutPackage(err))
	}
	return t, nil
}

var errFuncOfFunc = errors.New("returned a TimeoutFunc: must be a FixedTimeout, a *LearnedTimeout or nil")
