package classify_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

// aroundError says something and wraps what may say the same.
type aroundError struct {
	answer

	inner error
}

func (e *aroundError) Unwrap() error { return e.inner }

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
