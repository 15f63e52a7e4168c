package classify_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

// timeoutError says that it is a timeout, and as those of net/http also that it
// is context.DeadlineExceeded, which it does not wrap.
type timeoutError struct{}

func (timeoutError) Error() string        { return "timeout" }
func (timeoutError) Timeout() bool        { return true }
func (timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// opError is how the net package reports a failed system call.
func opError(op string, cause error) error {
	if _, ok := errors.AsType[syscall.Errno](cause); ok {
		cause = os.NewSyscallError(op, cause)
	}
	return &net.OpError{Op: op, Net: "tcp", Err: cause}
}

func TestTransportFailures(t *testing.T) {
	t.Parallel()
	timeout, transient, none := classify.RetryAs(classify.Timeout), classify.RetryAs(classify.Transient), classify.Verdict{}
	for _, c := range []struct {
		name string
		err  error
		want classify.Verdict
	}{
		{"timeout", timeoutError{}, timeout},
		{"deadline of a connection", os.ErrDeadlineExceeded, timeout},
		{"dial timeout", opError("dial", os.ErrDeadlineExceeded), timeout},
		{"read timeout", opError("read", os.ErrDeadlineExceeded), timeout},
		{"connect timed out", opError("connect", syscall.ETIMEDOUT), timeout},
		{"dial through a proxy timed out", opError("proxyconnect", opError("dial", timeoutError{})), timeout},
		{"any dial failure", opError("dial", errors.New("proxy said no")), transient},
		{"refused", opError("connect", syscall.ECONNREFUSED), transient},
		{"refused by a proxy", opError("proxyconnect", opError("dial", syscall.ECONNREFUSED)), transient},
		{"reset", opError("read", syscall.ECONNRESET), transient},
		{"reset while writing", opError("write", syscall.ECONNRESET), transient},
		{"aborted", opError("read", syscall.ECONNABORTED), transient},
		{"broken pipe", opError("write", syscall.EPIPE), transient},
		{"host unreachable", opError("read", syscall.EHOSTUNREACH), transient},
		{"network unreachable", opError("write", syscall.ENETUNREACH), transient},
		{"use of a closed connection", opError("write", net.ErrClosed), transient},
		{"cut short", io.ErrUnexpectedEOF, transient},
		{"closed without an answer", &url.Error{Op: "Get", Err: io.EOF}, transient},
		{"closed without an answer, as net/http says", &url.Error{Op: "Get", Err: fmt.Errorf("transport: %w", io.EOF)}, transient},
		{"a stream that ended", io.EOF, none},
		{"a stream that ended, wrapped", fmt.Errorf("decode: %w", io.EOF), none},
		{"another url error", &url.Error{Op: "parse", Err: errors.New("bad scheme")}, none},
		{"another system call", opError("read", syscall.EINVAL), none},
		{"no permission", opError("write", syscall.EPERM), none},
		{"no file", os.ErrNotExist, none},
		{"plain", errors.New("plain"), none},
		{"text that reads like a reset", errors.New("read tcp: connection reset by peer"), none},
	} {
		for how, err := range wrappings(c.err) {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, c.want, classify.Transport().Classify(classify.Outcome{Err: err}))
				throttled := classify.Outcome{Err: err, Previous: classify.RetryAs(classify.Throttling)}
				require.Equal(t, classify.Verdict{}, classify.Transport().Classify(throttled), "a throttle stays one")
			})
		}
	}
}

func TestTransportOverridesEveryKindButAThrottle(t *testing.T) {
	t.Parallel()
	for kind := classify.KindNone; kind <= classify.ClockSkew; kind++ {
		want := classify.RetryAs(classify.Transient)
		if kind == classify.Throttling {
			want = classify.Verdict{}
		}
		o := classify.Outcome{Err: opError("read", syscall.ECONNRESET), Previous: classify.RetryAs(kind)}
		require.Equal(t, want, classify.Transport().Classify(o), kind)
	}
}

func TestLookupFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		lookup net.DNSError
		want   classify.Verdict
	}{
		{"unknown host", net.DNSError{Err: "no such host", IsNotFound: true}, classify.Verdict{}},
		{"unknown for now", net.DNSError{Err: "no such host", IsNotFound: true, IsTemporary: true}, classify.Verdict{}},
		{"timeout", net.DNSError{Err: "i/o timeout", IsTimeout: true, IsTemporary: true}, classify.RetryAs(classify.Timeout)},
		{"server misbehaving", net.DNSError{Err: "server misbehaving", IsTemporary: true}, classify.RetryAs(classify.Transient)},
		{"REFUSED, NOTIMP or FORMERR", net.DNSError{Err: "server misbehaving", Server: "192.0.2.1:53"}, classify.RetryAs(classify.Transient)},
		{"the same from the C library", net.DNSError{Err: "Non-recoverable failure in name resolution"}, classify.RetryAs(classify.Transient)},
		{"malformed answer", net.DNSError{Err: "cannot unmarshal DNS message"}, classify.RetryAs(classify.Transient)},
	} {
		lookup := &c.lookup
		for how, err := range map[string]error{
			"alone":          lookup,
			"in a dial":      opError("dial", lookup),
			"in a request":   &url.Error{Op: "Get", Err: opError("dial", lookup)},
			"by a proxy":     opError("proxyconnect", opError("dial", lookup)),
			"in a wrapping":  fmt.Errorf("call: %w", opError("dial", lookup)),
			"beside another": errors.Join(errors.New("other"), lookup),
		} {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, c.want, verdictOf(err))
			})
		}
	}
}

func TestWhatTheCallerEndedIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		for name, err := range map[string]error{
			"itself":               ended,
			"in a request":         &url.Error{Op: "Get", Err: ended},
			"in a dial":            opError("dial", ended),
			"before a reset":       errors.Join(ended, opError("read", syscall.ECONNRESET)),
			"after a reset":        errors.Join(opError("read", syscall.ECONNRESET), ended),
			"after a timeout":      fmt.Errorf("%w: %w", timeoutError{}, ended),
			"deep beside a closed": fmt.Errorf("a: %w", errors.Join(net.ErrClosed, fmt.Errorf("b: %w", ended))),
		} {
			t.Run(ended.Error()+"/"+name, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, classify.Verdict{}, verdictOfGone(err))
				want := classify.Verdict{}
				if ended == context.DeadlineExceeded { //nolint:errorlint // the value itself
					want = classify.RetryAs(classify.Timeout)
				}
				require.Equal(t, want, verdictOf(err), "it comes from below the operation")
			})
		}
	}
}

// TestLimitsBelowAnOperationAreTimeouts has what comes beside the end of a context that is not that
// of the operation.
func TestLimitsBelowAnOperationAreTimeouts(t *testing.T) {
	t.Parallel()
	below := &url.Error{Op: "Get", Err: context.DeadlineExceeded}
	timeout, none := classify.RetryAs(classify.Timeout), classify.Verdict{}
	for name, c := range map[string]struct {
		err        error
		want, gone classify.Verdict
	}{
		"of an answer with status 200":     {fmt.Errorf("%w: %w", statusError(200), below), timeout, none},
		"of an answer with status 503":     {fmt.Errorf("%w: %w", statusError(503), below), timeout, classify.RetryAs(classify.Transient)},
		"of an answer with status 429":     {fmt.Errorf("%w: %w", statusError(429), below), classify.RetryAs(classify.Throttling), classify.RetryAs(classify.Throttling)},
		"of a lookup":                      {&net.DNSError{IsTimeout: true, UnwrapErr: context.DeadlineExceeded}, timeout, none},
		"and it must not be sent again":    {errors.Join(no, below), classify.Forbidden(), classify.Forbidden()},
		"and it may be sent again":         {errors.Join(yes, below), timeout, none},
		"and the caller canceled":          {errors.Join(below, context.Canceled), none, none},
		"of a caller, says aws-sdk-go-v2":  {fmt.Errorf("%w: %w", canceledError(true), below), none, none},
		"and the certificate is not known": {errors.Join(x509.UnknownAuthorityError{}, below), none, none},
		"only equal to it":                 {timeoutError{}, timeout, timeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, verdictOf(c.err))
			require.Equal(t, c.gone, verdictOfGone(c.err))
		})
	}
}

// TestEveryClassifierIsToldThatTheCallerHasGone asks the transport classifier in a chain, in a part
// of one and by itself, and one of the user's behind it.
func TestEveryClassifierIsToldThatTheCallerHasGone(t *testing.T) {
	t.Parallel()
	last := &fixed{name: "last"}
	for name, c := range map[string]classify.Classifier{
		"default":            classify.Default(),
		"a part of it":       changed(t)(classify.Default().Without("http-status")),
		"with another":       classify.Also(&fixed{name: "other"}),
		"the transport only": classify.Transport(),
	} {
		for gone, want := range map[bool]classify.Verdict{false: classify.RetryAs(classify.Timeout), true: {}} {
			o := classify.Outcome{Err: context.DeadlineExceeded, CallerGone: gone}
			require.Equal(t, want, c.Classify(o), name)
			require.Equal(t, want, o.Judge(c, classify.Also(last)), name)
			require.Equal(t, gone, last.asked[len(last.asked)-1].CallerGone, name)
		}
	}
}
