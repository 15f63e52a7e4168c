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
	transient, throttle, none := classify.RetryAs(classify.Transient), classify.RetryAs(classify.Throttling), classify.Verdict{}
	hint := func(after time.Duration) error { return hintError{after: after, hinted: true} }
	server, client := faultError(true), faultError(false)
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
		{"fault", server, client, classify.RetryAs(classify.Server)},
		{"fault, the other way round", client, server, none},
		{"lookup", unknownHost, unknownNow, none},
		{"lookup, the other way round", unknownNow, unknownHost, transient},
		{"skew", &skewedError{err: codeError("AuthFailure")}, &skewedError{used: time.Hour, err: codeError("X")}, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for how, err := range wrappings(errors.Join(c.outer, c.inner)) {
				require.Equal(t, c.want, verdictOf(err), how)
			}
			require.Equal(t, c.want, verdictOf(fmt.Errorf("%w: %w", c.outer, fmt.Errorf("inner: %w", c.inner))))
		})
	}
}

func TestErrorsThatSayMuchAndWrapMore(t *testing.T) {
	t.Parallel()
	all := &aroundError{answer: answer{hintError{503, time.Second, true}, "X"}}
	transient := classify.RetryAs(classify.Transient).WithHint(time.Second)
	for _, c := range []struct {
		name  string
		inner error
		want  classify.Verdict
	}{
		{"nothing", nil, transient},
		{"another status", statusError(404), transient},
		{"another code", codeError("SlowDown"), transient},
		{"a throttle", throttlingError(true), classify.RetryAs(classify.Throttling).WithHint(time.Second)},
		{"not safe", errors.Join(errors.New("x"), no), classify.Forbidden()},
		{"a timeout", timeoutError{}, classify.RetryAs(classify.Timeout).WithHint(time.Second)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := *all
			err.inner = c.inner
			require.Equal(t, c.want, verdictOf(&err))
		})
	}
}

// equalError is equal to another error that it does not wrap.
type equalError struct{ to error }

func (equalError) Error() string          { return "equal" }
func (e equalError) Is(target error) bool { return target == e.to }

func TestErrorsThatAreEqualToOthers(t *testing.T) {
	t.Parallel()
	for _, to := range []error{
		syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.ECONNABORTED, syscall.EPIPE,
		syscall.EHOSTUNREACH, syscall.ENETUNREACH, net.ErrClosed, io.ErrUnexpectedEOF,
	} {
		require.Equal(t, classify.RetryAs(classify.Transient), verdictOf(equalError{to}), to)
		require.Equal(t, classify.Verdict{}, verdictOf(errors.Join(equalError{to}, equalError{context.Canceled})), to)
	}
	for _, to := range []error{context.Canceled, context.DeadlineExceeded, io.EOF, syscall.EINVAL} {
		require.Equal(t, classify.Verdict{}, verdictOf(equalError{to}), to)
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
	silent := errors.Join(errors.New("plain"), ringOf(2))
	for _, c := range []struct {
		name string
		err  error
		want classify.Verdict
	}{
		{"an error that wraps itself", ringOf(1), classify.Verdict{}},
		{"two that wrap each other", ringOf(2), classify.Verdict{}},
		{"a list of itself", self, classify.Verdict{}},
		{"a long list of itself", nothing, classify.Verdict{}},
		{"an answer before a ring", errors.Join(statusError(503), ringOf(2)), classify.RetryAs(classify.Transient)},
		{"a code before a ring", errors.Join(codeError("RetryableConflictException"), ringOf(1)), classify.Verdict{}},
		{"a silent error before a ring", silent, classify.Verdict{}},
		{"a ring below a failed request", &url.Error{Op: "Get", Err: ringOf(3)}, classify.Verdict{}},
		{"an end before a ring below a failed request", &url.Error{Op: "Get", Err: &web{[]error{io.EOF, ringOf(3)}}}, classify.RetryAs(classify.Transient)},
		{"a throttle below many wrappings", chainOf(200, codeError("Throttling")), classify.RetryAs(classify.Throttling)},
		{"an answer in a tree of all ways", doubled, classify.RetryAs(classify.Transient)},
		{"a verdict in a ring", &ring{&classify.JudgedError{Verdict: classify.Forbidden(), Err: ringOf(2)}}, classify.Forbidden()},
		{"a verdict on a ring", &classify.JudgedError{Verdict: classify.RetryAs(classify.Server), Err: ringOf(2)}, classify.RetryAs(classify.Server)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := classify.Outcome{Err: c.err}
			require.Equal(t, c.want, classify.Default().Classify(o))
			explained, _ := classify.Default().Explain(o)
			require.Equal(t, c.want, explained)
			require.Equal(t, c.want, o.Judge(classify.Default(), classify.Also(classify.Status(418))))
		})
	}
}

func TestErrorsBeyondTheLimitAreNotThere(t *testing.T) {
	t.Parallel()
	throttle := codeError("Throttling")
	near := wire.MaxErrors - 1
	require.Equal(t, classify.RetryAs(classify.Throttling), verdictOf(chainOf(near, throttle)))
	require.Equal(t, classify.Verdict{}, verdictOf(chainOf(near+1, throttle)))

	lost := errors.New("http: server closed idle connection")
	require.Equal(t, classify.RetryAs(classify.Transient), verdictOf(chainOf(near, lost)))
	require.Equal(t, classify.Verdict{}, verdictOf(chainOf(near+1, lost)))

	judged := &classify.JudgedError{Verdict: classify.Forbidden()}
	require.Equal(t, classify.Forbidden(), verdictOf(chainOf(near, judged)))
	require.Equal(t, classify.Verdict{}, verdictOf(chainOf(near+1, judged)))

	wide := &web{inner: make([]error, 2*wire.MaxErrors)}
	wide.inner[near-1] = throttle
	require.Equal(t, classify.RetryAs(classify.Throttling), verdictOf(wide))
	wide.inner[near-1], wide.inner[near] = nil, throttle
	require.Equal(t, classify.Verdict{}, verdictOf(wide))
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
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v, trail := classify.Default().Explain(classify.Outcome{Err: c.err})
			require.Equal(t, c.want, v.HintInFull())
			last := trail[len(trail)-1]
			require.Equal(t, c.want, last.Classifier == "retry-after", trail)
			if c.want {
				require.Equal(t, "retry-after: retry(throttling, not before 30s)", last.String())
				require.False(t, v.WithHint(time.Second).HintInFull(), "a hint of a classifier")
			}
		})
	}
}

// hinting has a hint around another error.
type hinting struct {
	error
	after time.Duration
}

func (e *hinting) Unwrap() error { return e.error }

func (e *hinting) RetryAfter() (time.Duration, bool) { return e.after, true }
