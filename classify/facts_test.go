package classify_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/wire"
)

func TestTheOutermostThatHasSomethingToSayCounts(t *testing.T) {
	t.Parallel()
	hint := func(after time.Duration) error { return hintError{after: after, hinted: true} }
	unknownHost, unknownNow := &net.DNSError{IsNotFound: true}, &net.DNSError{IsTemporary: true}
	for _, c := range []struct {
		name         string
		outer, inner error
		want         classify.Verdict
	}{
		{"code", codeError("SlowDown"), codeError("RequestTimeout"), throttle},
		{"code, the other way round", codeError("RequestTimeout"), codeError("SlowDown"), transient},
		{"final code", codeError("NoSuchKey"), codeError("SlowDown"), none},
		{"no code", codeError(""), codeError("SlowDown"), throttle},
		{"status", statusError(503), statusError(404), transient},
		{"final status", statusError(404), statusError(503), none},
		{"no status", statusError(0), statusError(503), transient},
		{"hint", errors.Join(statusError(503), hint(1)), hint(2), transient.WithHint(1)},
		{"hint of zero", errors.Join(statusError(503), hint(0)), hint(2), transient.WithHint(0)},
		{"negative hint", errors.Join(statusError(503), hint(-1)), hint(2), transient.WithHint(2)},
		{"fault", faultError(true), faultError(false), ofServer},
		{"fault, the other way round", faultError(false), faultError(true), none},
		{"lookup", unknownHost, unknownNow, none},
		{"lookup, the other way round", unknownNow, unknownHost, transient},
		{"skew", &skewedError{err: codeError("AuthFailure")}, &skewedError{used: time.Hour, err: codeError("X")}, none},
	} {
		requireVerdicts(t, []row{
			{c.name, errors.Join(c.outer, c.inner), c.want},
			{c.name, fmt.Errorf("%w: %w", c.outer, fmt.Errorf("inner: %w", c.inner)), c.want},
		})
	}
	requireVerdicts(t, []row{
		{"code with room for a hint, without a status", coded("SlowDown"), throttle},
		{"code beside a status, without a hint", hintlessError{"SlowDown", 404}, throttle},
		{"status beside a code, without a hint", hintlessError{"NoSuchKey", 503}, transient},
	})
	around := func(inner error) error { return &aroundError{answer{hintError{503, time.Second, true}, "X"}, inner} }
	requireVerdicts(t, []row{
		{"all, around nothing", around(nil), transient.WithHint(time.Second)},
		{"all, around another status", around(statusError(404)), transient.WithHint(time.Second)},
		{"all, around another code", around(codeError("SlowDown")), transient.WithHint(time.Second)},
		{"all, around a throttle", around(throttlingError(true)), throttle.WithHint(time.Second)},
		{"all, around one that is not safe", around(errors.Join(errors.New("x"), no)), forbidden},
		{"all, around a timeout", around(timeoutError{}), timeout.WithHint(time.Second)},
	})
}

// coded is an error with a code and room for a hint, and without a status.
type coded string

func (c coded) Error() string                   { return string(c) }
func (c coded) ErrorCode() string               { return string(c) }
func (coded) RetryAfter() (time.Duration, bool) { return 0, false }

// hintlessError is an answer that has no room for a hint.
type hintlessError struct {
	codeError
	status int
}

func (e hintlessError) HTTPStatusCode() int { return e.status }

// equalError is equal to another error that it does not wrap.
type equalError struct{ to error }

func (equalError) Error() string          { return "equal" }
func (e equalError) Is(target error) bool { return target == e.to }

func TestErrorsThatAreEqualToOthers(t *testing.T) {
	t.Parallel()
	for _, to := range []error{
		syscall.ECONNRESET, syscall.EHOSTUNREACH, syscall.ENETDOWN, net.ErrClosed, io.ErrUnexpectedEOF,
	} {
		require.Equal(t, transient, verdictOf(equalError{to}), to)
		require.Equal(t, none, verdictOf(errors.Join(equalError{to}, equalError{context.Canceled})), to)
	}
	for _, to := range []error{context.Canceled, context.DeadlineExceeded, io.EOF, syscall.EINVAL} {
		require.Equal(t, none, verdictOf(equalError{to}), to)
	}
}

// ring is an error that wraps one error, perhaps itself.
type ring struct{ inner error }

func (*ring) Error() string   { return "ring" }
func (r *ring) Unwrap() error { return r.inner }

// web is an error that wraps several, perhaps itself.
type web struct{ inner []error }

func (*web) Error() string     { return "web" }
func (w *web) Unwrap() []error { return w.inner }

// ringOf returns a ring of that many errors.
func ringOf(n int) error {
	last := &ring{}
	last.inner = chainOf(n-1, last)
	return last
}

// chainOf wraps an error that many times.
func chainOf(n int, err error) error {
	for range n {
		err = &ring{err}
	}
	return err
}

func TestErrorsThatWrapWithoutEndAreJudged(t *testing.T) {
	t.Parallel()
	self := &web{}
	self.inner = []error{self, self, nil, self}
	nothing := &web{inner: make([]error, 1_000_000)}
	nothing.inner[500_000] = nothing
	for i := range nothing.inner[:500_000] {
		nothing.inner[i] = nothing
	}
	doubled := error(statusError(503))
	for range 64 {
		doubled = errors.Join(doubled, doubled)
	}
	for _, c := range []row{
		{"an error that wraps itself", ringOf(1), none},
		{"two that wrap each other", ringOf(2), none},
		{"a list of itself", self, none},
		{"a long list of itself", nothing, none},
		{"an answer before a ring", errors.Join(statusError(503), ringOf(2)), transient},
		{"a code before a ring", errors.Join(codeError("RetryableConflictException"), ringOf(1)), none},
		{"a silent error before a ring", errors.Join(errors.New("plain"), ringOf(2)), none},
		{"a ring below a failed request", &url.Error{Op: "Get", Err: ringOf(3)}, none},
		{"an end before a ring below a failed request", &url.Error{Op: "Get", Err: &web{[]error{io.EOF, ringOf(3)}}}, transient},
		{"a throttle below many wrappings", chainOf(200, codeError("Throttling")), throttle},
		{"an answer in a tree of all ways", doubled, transient},
		{"a verdict in a ring", &ring{&classify.JudgedError{Verdict: forbidden, Err: ringOf(2)}}, forbidden},
		{"a verdict on a ring", &classify.JudgedError{Verdict: ofServer, Err: ringOf(2)}, ofServer},
	} {
		o := classify.Outcome{Err: c.err}
		require.Equal(t, c.want, classify.Default().Classify(o), c.name)
		explained, _ := classify.Default().Explain(o)
		require.Equal(t, c.want, explained, c.name)
		require.Equal(t, c.want, o.Judge(classify.Default(), classify.Also(classify.Status(418))), c.name)
	}
}

func TestErrorsBeyondTheLimitAreNotThere(t *testing.T) {
	t.Parallel()
	near, code := wire.MaxErrors-1, codeError("Throttling")
	for err, want := range map[error]classify.Verdict{
		code: throttle, errors.New("http: server closed idle connection"): transient, &classify.JudgedError{Verdict: forbidden}: forbidden,
	} {
		require.Equal(t, want, verdictOf(chainOf(near, err)))
		require.Equal(t, none, verdictOf(chainOf(near+1, err)))
	}
	wide := &web{inner: make([]error, 2*wire.MaxErrors)}
	wide.inner[near-1] = code
	require.Equal(t, throttle, verdictOf(wide))
	wide.inner[near-1], wide.inner[near] = nil, code
	require.Equal(t, none, verdictOf(wide))
}

// knot is an error of a random graph.
type knot struct {
	answer
	inner []error
}

func (k *knot) Unwrap() []error { return k.inner }

// TestGraphOfErrorsIsJudgedAsTheListOfThem compares the verdict on a random graph,
// with rings as a rule, to that on the plain list of the errors that a walk comes by.
func TestGraphOfErrorsIsJudgedAsTheListOfThem(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 1))
		knots := make([]*knot, 1+random.IntN(6))
		for i := range knots {
			knots[i] = &knot{}
			if random.IntN(3) == 0 {
				knots[i].status = []int{200, 404, 429, 503}[random.IntN(4)]
			}
			if random.IntN(3) == 0 {
				knots[i].code = []codeError{"Throttling", "RequestTimeout", "Odd"}[random.IntN(3)]
			}
		}
		for _, k := range knots {
			for range random.IntN(4) {
				k.inner = append(k.inner, knots[random.IntN(len(knots))])
			}
		}
		met, seen, left := []error{}, map[*knot]bool{}, wire.MaxErrors
		var visit func(k *knot)
		visit = func(k *knot) {
			if left--; left < 0 {
				return
			}
			if !seen[k] {
				seen[k] = true
				met = append(met, &k.answer)
			}
			for _, inner := range k.inner {
				visit(inner.(*knot)) //nolint:errorlint,forcetypeassert // all are knots
				if left <= 0 {
					return
				}
			}
		}
		visit(knots[0])
		require.Equal(t, verdictOf(errors.Join(met...)), verdictOf(knots[0]), fmt.Sprint("seed ", seed))
	}
}

// headerError is an error with the header Retry-After.
type headerError struct{ hintError }

func (headerError) RetryAfterInFull() bool { return true }

func (e headerError) Unwrap() error { return statusError(429) }

func TestHintsCountInFullWhereTheErrorSaysSo(t *testing.T) {
	t.Parallel()
	inFull := headerError{hintError{after: 30 * time.Second, hinted: true}}
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"says so", inFull, true},
		{"wrapped", fmt.Errorf("call: %w", inFull), true},
		{"a hint around it", &hinting{inFull, time.Minute}, false},
		{"around another hint", errors.Join(inFull, hintError{after: time.Minute, hinted: true}), true},
		{"says nothing", errors.Join(statusError(429), hintError{after: 30 * time.Second, hinted: true}), false},
		{"not retried", errors.Join(hintError{after: 30 * time.Second, hinted: true}, statusError(404)), false},
	} {
		v, trail := classify.Default().Explain(classify.Outcome{Err: c.err})
		require.Equal(t, c.want, v.HintInFull(), c.name)
		last := trail[len(trail)-1]
		require.Equal(t, c.want, last.Classifier == "retry-after", "%s: %v", c.name, trail)
		if c.want {
			require.Equal(t, "retry-after: retry(throttling, not before 30s)", last.String())
			require.False(t, v.WithHint(time.Second).HintInFull(), "a hint of a classifier")
		}
	}
}

// hinting has a hint around another error.
type hinting struct {
	error
	after time.Duration
}

func (e *hinting) Unwrap() error { return e.error }

func (e *hinting) RetryAfter() (time.Duration, bool) { return e.after, true }
