package classify_test

import (
	"context"
	"crypto/tls"
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

// sendError has the methods of the error that smithy-go puts around everything that
// goes wrong on the way: it always calls itself a connection error.
type sendError struct{ err error }

func (e *sendError) Error() string         { return "request send failed" }
func (e *sendError) Unwrap() error         { return e.err }
func (e *sendError) ConnectionError() bool { return true }

// canceledError has those of aws-sdk-go-v2's for a caller that gave up.
type canceledError bool

func (canceledError) Error() string         { return "canceled" }
func (e canceledError) CanceledError() bool { return bool(e) }

func TestFailuresWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	failed := func(err error) error { return &url.Error{Op: "Get", Err: err} }
	sent := func(err error) error { return &sendError{failed(err)} }
	rows := []row{
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
		{"aborted", opError("read", syscall.ECONNABORTED), transient},
		{"broken pipe", opError("write", syscall.EPIPE), transient},
		{"host unreachable", opError("read", syscall.EHOSTUNREACH), transient},
		{"network unreachable", opError("write", syscall.ENETUNREACH), transient},
		{"use of a closed connection", opError("write", net.ErrClosed), transient},
		{"cut short", io.ErrUnexpectedEOF, transient},
		{"closed without an answer", failed(io.EOF), transient},
		{"closed without an answer, as net/http says", failed(fmt.Errorf("transport: %w", io.EOF)), transient},
		{"a stream that ended", io.EOF, none},
		{"another url error", &url.Error{Op: "parse", Err: errors.New("bad scheme")}, none},
		{"alert of a connection that is not of the net package", failed(tls.AlertError(20)), transient},
		{"firewall", opError("write", syscall.EPERM), transient},
		{"address in use", opError("listen", syscall.EADDRINUSE), none},
		{"no file", os.ErrNotExist, none},
		{"plain", errors.New("plain"), none},
		{"temporary", opError("read", temporaryError{}), transient},
		{"timeout below others that say they are none", failed(fmt.Errorf("call: %w", opError("read", timeoutError{}))), timeout},
		{"timeout below one of two", errors.Join(failed(errors.New("other")), timeoutError{}), timeout},
		{"text that reads like a reset", errors.New("read tcp: connection reset by peer"), none},

		{"sent: unknown cause", sent(errors.New("what")), transient},
		{"sent: timeout", sent(timeoutError{}), timeout},
		{"sent: a client that cancels", sent(context.Canceled), transient}, // aws-sdk-go-v2 has another error for callers
		{"sent: caller did not cancel", sent(canceledError(false)), transient},
		{"sent: attempt had no more time", sent(context.DeadlineExceeded), timeout},
		{"sent: unknown host", sent(opError("dial", &net.DNSError{IsNotFound: true})), none},
		{"sent: lookup that may work later", sent(opError("dial", &net.DNSError{IsTemporary: true})), transient},
		{"sent: certificate", sent(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}), transient},
	}
	for _, c := range []struct {
		name   string
		lookup *net.DNSError
		want   classify.Verdict
	}{
		{"unknown host", &net.DNSError{IsNotFound: true}, none},
		{"unknown for now", &net.DNSError{IsNotFound: true, IsTemporary: true}, none},
		{"timeout", &net.DNSError{IsTimeout: true, IsTemporary: true}, timeout},
		{"server misbehaving", &net.DNSError{IsTemporary: true}, transient},
		{"the same from the C library", &net.DNSError{Err: "Non-recoverable failure in name resolution"}, transient},
	} {
		dial := opError("dial", c.lookup)
		rows = append(rows, row{"lookup: " + c.name, c.lookup, c.want}, row{"lookup in a dial: " + c.name, dial, c.want},
			row{"lookup in a request: " + c.name, failed(dial), c.want}, row{"lookup by a proxy: " + c.name, opError("proxyconnect", dial), c.want})
	}
	requireVerdicts(t, rows)
	for _, c := range rows {
		require.Equal(t, throttle, verdictOf(fmt.Errorf("%w %w", statusError(429), c.err)), "%s: a throttle stays one", c.name)
	}
	requireVerdicts(t, []row{
		{"caller canceled, says aws-sdk-go-v2", sent(canceledError(true)), none},
		{"the same beside a throttle", fmt.Errorf("%w %w", statusError(429), sent(canceledError(true))), forbidden},
	})
}

func TestTransportOverridesEveryKindButAThrottle(t *testing.T) {
	t.Parallel()
	for kind := classify.KindNone; kind <= classify.ClockSkew; kind++ {
		o := classify.Outcome{Err: opError("read", syscall.ECONNRESET), Previous: classify.RetryAs(kind)}
		require.Equal(t, map[bool]classify.Verdict{false: transient}[kind == classify.Throttling], classify.Transport().Classify(o), kind)
	}
}

// TestWhatTheCallerEndedIsLeftAlone, unlike the end of a context that is not that of the operation.
func TestWhatTheCallerEndedIsLeftAlone(t *testing.T) {
	t.Parallel()
	type outcome struct {
		err        error
		want, gone classify.Verdict // gone: the caller has
	}
	below := &url.Error{Op: "Get", Err: context.DeadlineExceeded}
	rows := map[string]outcome{
		"of an answer with status 200":    {fmt.Errorf("%w: %w", statusError(200), below), timeout, none},
		"of an answer with status 503":    {fmt.Errorf("%w: %w", statusError(503), below), timeout, transient},
		"of an answer with status 429":    {fmt.Errorf("%w: %w", statusError(429), below), throttle, throttle},
		"of a lookup":                     {&net.DNSError{IsTimeout: true, UnwrapErr: context.DeadlineExceeded}, timeout, none},
		"and it must not be sent again":   {errors.Join(no, below), forbidden, forbidden},
		"and it may be sent again":        {errors.Join(yes, below), timeout, none},
		"and the caller canceled":         {errors.Join(below, context.Canceled), none, none},
		"of a caller, says aws-sdk-go-v2": {fmt.Errorf("%w: %w", canceledError(true), below), none, none},
		"only equal to it":                {timeoutError{}, timeout, timeout},
	}
	for ended, want := range map[error]classify.Verdict{context.Canceled: none, context.DeadlineExceeded: timeout} {
		for name, err := range map[string]error{
			"itself":               ended,
			"in a request":         &url.Error{Op: "Get", Err: ended},
			"in a dial":            opError("dial", ended),
			"before a reset":       errors.Join(ended, opError("read", syscall.ECONNRESET)),
			"after a reset":        errors.Join(opError("read", syscall.ECONNRESET), ended),
			"after a timeout":      fmt.Errorf("%w: %w", timeoutError{}, ended),
			"deep beside a closed": fmt.Errorf("a: %w", errors.Join(net.ErrClosed, fmt.Errorf("b: %w", ended))),
		} {
			rows[ended.Error()+" "+name] = outcome{err, want, none}
		}
	}
	for name, c := range rows {
		require.Equal(t, c.want, verdictOf(c.err), name)
		require.Equal(t, c.gone, verdictOfGone(c.err), name)
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
		for gone, want := range map[bool]classify.Verdict{false: timeout, true: none} {
			o := classify.Outcome{Err: context.DeadlineExceeded, CallerGone: gone}
			require.Equal(t, want, c.Classify(o), name)
			require.Equal(t, want, o.Judge(c, classify.Also(last)), name)
			require.Equal(t, gone, last.asked[len(last.asked)-1].CallerGone, name)
		}
	}
}

// TestNumbersOfSystems looks at what a connection returns that is not of the net package, and at what only Windows calls so.
func TestNumbersOfSystems(t *testing.T) {
	t.Parallel()
	for _, e := range []syscall.Errno{
		syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.ECONNABORTED, syscall.EPIPE, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENETDOWN,
		syscall.ENETRESET, syscall.EHOSTDOWN, syscall.ESHUTDOWN, syscall.ENOTCONN, syscall.EPROTO, syscall.ENOBUFS, syscall.EADDRNOTAVAIL, 64,
	} {
		require.Equal(t, transient, verdictOf(e), "%v", e)
		require.Equal(t, transient, verdictOf(&url.Error{Err: os.NewSyscallError("read", e)}), "%v", e)
		require.Equal(t, transient, verdictOf(equalError{e}), "%v", e)
		require.Equal(t, none, verdictOf(opError("listen", e)), "%v", e)
	}
	require.Equal(t, timeout, verdictOf(equalError{syscall.ETIMEDOUT}))
	require.Equal(t, none, verdictOf(syscall.ENOENT))

	var disconnected, timedOut []syscall.Errno
	for n := range syscall.Errno(12000) {
		switch here, windows := classify.MeansOf(n, false), classify.MeansOf(n, true); {
		case here == windows:
		case windows == classify.Disconnected:
			disconnected = append(disconnected, n)
		case windows == classify.TimedOut:
			timedOut = append(timedOut, n)
		}
	}
	require.Equal(t, []syscall.Errno{
		109, 232, 1222, 1225, 1231, 1232, 1236, 10049, 10050, 10051, 10052, 10053, 10054, 10055, 10057, 10058, 10061, 10064, 10065, 10101,
	}, disconnected)
	require.Equal(t, []syscall.Errno{121, 1460, 10060}, timedOut)
}
