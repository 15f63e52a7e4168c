package conformance_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/lab/conformance"
	"github.com/awsretry/awsretry/retry"
)

// fault is one way in which a loop differs from the rules; empty means that it keeps them all.
type fault string

// loop is a retryer that is written by the wording of the rules. It breaks those of its fault.
type loop struct {
	fault      fault
	old        bool // v2.0
	polling    bool
	dynamo     bool
	max        int
	capacity   int
	maxBackoff time.Duration
	random     func() float64
	rate       *sendRate // nil in standard mode

	mu    sync.Mutex
	quota int
}

// newLoop returns the New of a subject with a fault.
func newLoop(f fault, adaptive bool) func(*conformance.Settings) (conformance.Do, error) {
	return func(s *conformance.Settings) (conformance.Do, error) {
		l := &loop{
			fault: f, old: s.Behavior() == retry.V20, polling: s.LongPolling(), max: s.MaxAttempts(),
			capacity: s.QuotaCapacity(), quota: s.QuotaCapacity(), maxBackoff: s.MaxBackoff(), random: s.Random(),
		}
		special := !l.old && f != "DynamoDB is nothing special" || f == "DynamoDB is special"
		l.dynamo = strings.HasPrefix(s.Service(), "dynamodb") && special
		switch {
		case l.dynamo && (l.max == 0 || f == "DynamoDB overrules the user"):
			l.max = 4
		case l.max == 0:
			l.max = 3
		}
		if adaptive {
			l.rate = newSendRate(f)
		}
		return l.do, nil
	}
}

func (l *loop) do(ctx context.Context, attempt func(context.Context) error) error {
	var paid []int
	var first classify.Kind
	for retries := 0; ; retries++ {
		if err := l.rate.acquire(ctx, retries); err != nil {
			return err
		}
		sent := time.Now()
		err := attempt(ctx)
		kind := l.kind(err, sent)
		l.rate.report(err, kind, retries+1 == l.max)
		gone := ctx.Err() != nil && (l.fault != "retries after the caller's end" || retries > 0)
		switch last := retries+1 >= l.max; {
		case err == nil:
			l.give(l.refund(paid))
			return nil
		case gone, kind == classify.KindNone && ctx.Err() == nil, last:
			return l.end(ctx, err, kind, last, paid)
		}
		if first == classify.KindNone || l.fault != "base of the first failure" {
			first = kind
		}
		wait, cost := l.hinted(l.backoff(first, retries), err), l.cost(kind)
		if !l.take(cost) {
			if l.sleepsOnRefusal() {
				sleep(ctx, wait)
			}
			return err
		}
		paid = append(paid, cost)
		if l.fault == "send token before the backoff" {
			if err := l.rate.wait(ctx); err != nil {
				return err
			}
		}
		sleep(ctx, wait)
		if ctx.Err() != nil && l.fault != "retries after the caller's end" {
			l.give(cost)
			return err
		}
	}
}

// end ends an operation without success.
func (l *loop) end(ctx context.Context, err error, kind classify.Kind, last bool, paid []int) error {
	switch {
	case l.fault == "failures refund" && last && len(paid) > 0:
		l.give(paid[len(paid)-1])
	case l.fault == "charge before the limit" && last && kind != classify.KindNone:
		l.take(l.cost(kind))
	case l.fault == "long poll sleeps before any end" && l.polling:
		sleep(ctx, time.Second)
	}
	return err
}

func (l *loop) sleepsOnRefusal() bool {
	switch l.fault {
	case "long poll does not sleep":
		return false
	case "long poll sleeps":
		return l.polling
	case "sleeps before a refusal":
		return true
	default:
		return l.polling && !l.old
	}
}

// sleep waits, at most until ctx ends.
func sleep(ctx context.Context, d time.Duration) { _ = clock.System{}.Sleep(ctx, d) }

// kind returns what a failure is; KindNone if it is final.
func (l *loop) kind(err error, sent time.Time) classify.Kind {
	seen := seenError{error: err}
	status, header := responseOf(err)
	if date, invalid := http.ParseTime(header.Get("Date")); invalid == nil {
		seen.skew, seen.ok = classify.CandidateSkew(sent, time.Now(), date, false)
	}
	kind := classify.KindNone
	if err != nil {
		kind = classify.Default().Classify(classify.Outcome{Err: seen}).Kind()
	}
	transient := l.fault == "404 is retried" && status == http.StatusNotFound ||
		l.fault == "501 is retried" && status == http.StatusNotImplemented ||
		l.fault == "skew codes are always retried" && status == http.StatusForbidden ||
		l.fault == "429 is ordinary" && status == http.StatusTooManyRequests ||
		l.fault == "throttling codes are ordinary" && kind == classify.Throttling && status != http.StatusTooManyRequests
	final := l.fault == "504 is final" && status == http.StatusGatewayTimeout ||
		l.fault == "connections are not retried" && status == 0 && kind != classify.Timeout ||
		l.fault == "every deadline is the caller's" && errors.Is(err, context.DeadlineExceeded) ||
		l.fault == "skew is not retried" && kind == classify.ClockSkew
	switch {
	case transient:
		return classify.Transient
	case final:
		return classify.KindNone
	default:
		return kind
	}
}

// responseOf returns the status and the headers of a failure; 0 if it has no response.
func responseOf(err error) (status int, header http.Header) {
	response, _ := conformance.HTTPResponse(err) //nolint:bodyclose // of memory
	if err == nil || response == nil {
		return 0, nil
	}
	return response.StatusCode, response.Header
}

// seenError is a failure with the skew of the clock.
type seenError struct {
	error

	skew time.Duration
	ok   bool
}

func (e seenError) Unwrap() error { return e.error }

func (e seenError) ClockSkew() (used, observed time.Duration, ok bool) { return 0, e.skew, e.ok }

func (l *loop) cost(kind classify.Kind) int {
	ordinary := 14
	if l.old || l.fault == "retries cost five" {
		ordinary = 5
	}
	switch {
	case kind == classify.Throttling && l.fault != "throttles cost as other failures":
		return 5
	case kind == classify.Timeout && (l.old && l.fault != "timeouts cost as other failures" || l.fault == "timeouts cost ten"):
		return 10
	case kind == classify.ClockSkew && l.fault == "skew is free":
		return 0
	default:
		return ordinary
	}
}

// refund returns what a success gives to the quota.
func (l *loop) refund(paid []int) int {
	if len(paid) == 0 {
		switch l.fault {
		case "first success adds nothing":
			return 0
		case "first success adds 2":
			return 2
		default:
			return 1
		}
	}
	last := paid[len(paid)-1]
	switch l.fault {
	case "no refund":
		return 0
	case "refund and one token":
		return last + 1
	case "refund twice":
		return 2 * last
	case "refund of all retries":
		for _, cost := range paid[:len(paid)-1] {
			last += cost
		}
	}
	return last
}

func (l *loop) take(cost int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.fault == "no quota":
		return true
	case l.quota >= cost:
		l.quota -= cost
		return true
	case l.fault == "a refusal empties the quota":
		l.quota = 0
	}
	return false
}

func (l *loop) give(tokens int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.quota += tokens; l.fault != "refund above the capacity" {
		l.quota = min(l.quota, l.capacity)
	}
}

func (l *loop) backoff(kind classify.Kind, retries int) time.Duration {
	base := 50 * time.Millisecond
	if l.dynamo {
		base /= 2
	}
	if l.old || kind == classify.Throttling && l.fault != "one base for all" {
		base = time.Second
	}
	if l.fault == "index from 1" {
		retries++
	}
	u, limit := l.random(), float64(l.maxBackoff)
	whole := float64(base) * math.Pow(2, float64(retries))
	switch l.fault {
	case "no maximum":
		return time.Duration(u * min(whole, 1e18))
	case "jitter before the cap":
		return time.Duration(min(u*whole, limit))
	case "equal jitter":
		return time.Duration((1 + u) / 2 * min(whole, limit))
	default:
		return time.Duration(u * min(whole, limit))
	}
}

// hinted returns a backoff with the hint of the server.
func (l *loop) hinted(backoff time.Duration, err error) time.Duration {
	_, header := responseOf(err)
	hint, ok := classify.ParseRetryAfterMillis(header.Get("x-amz-retry-after"))
	switch {
	case !ok, l.fault == "hint ignored":
		return backoff
	case l.fault == "hint shortens":
		return min(hint, backoff+5*time.Second)
	case l.fault == "hint without a limit":
		return max(hint, backoff)
	case l.old:
		return max(backoff, min(hint, l.maxBackoff))
	default:
		return max(backoff, min(hint, backoff+5*time.Second))
	}
}
