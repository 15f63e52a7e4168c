package classify_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

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
		{"network down", opError("read", syscall.ENETDOWN), transient},
		{"firewall", opError("write", syscall.EPERM), transient},
		{"address in use", opError("listen", syscall.EADDRINUSE), none},
		{"no file", os.ErrNotExist, none},
		{"plain", errors.New("plain"), none},
		{"temporary", opError("read", temporaryError{}), transient},
		{"timeout below others that say they are none", &url.Error{Op: "Get", Err: fmt.Errorf("call: %w", opError("read", timeoutError{}))}, timeout},
		{"timeout below one of two", errors.Join(&url.Error{Op: "Get", Err: errors.New("other")}, timeoutError{}), timeout},
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
		"of an answer with status 200":    {fmt.Errorf("%w: %w", statusError(200), below), timeout, none},
		"of an answer with status 503":    {fmt.Errorf("%w: %w", statusError(503), below), timeout, classify.RetryAs(classify.Transient)},
		"of an answer with status 429":    {fmt.Errorf("%w: %w", statusError(429), below), classify.RetryAs(classify.Throttling), classify.RetryAs(classify.Throttling)},
		"of a lookup":                     {&net.DNSError{IsTimeout: true, UnwrapErr: context.DeadlineExceeded}, timeout, none},
		"and it must not be sent again":   {errors.Join(no, below), classify.Forbidden(), classify.Forbidden()},
		"and it may be sent again":        {errors.Join(yes, below), timeout, none},
		"and the caller canceled":         {errors.Join(below, context.Canceled), none, none},
		"of a caller, says aws-sdk-go-v2": {fmt.Errorf("%w: %w", canceledError(true), below), none, none},
		"only equal to it":                {timeoutError{}, timeout, timeout},
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

func TestAConnectionErrorIsNotAlwaysOne(t *testing.T) {
	t.Parallel()
	transient, timeout, none := classify.RetryAs(classify.Transient), classify.RetryAs(classify.Timeout), classify.Verdict{}
	for _, c := range []struct {
		name  string
		cause error
		want  classify.Verdict
	}{
		{"of unknown cause", errors.New("what"), transient},
		{"timeout", timeoutError{}, timeout},
		{"a client that cancels", context.Canceled, transient}, // aws-sdk-go-v2 has another error for callers
		{"caller canceled, says aws-sdk-go-v2", canceledError(true), none},
		{"caller did not cancel", canceledError(false), transient},
		{"attempt had no more time", context.DeadlineExceeded, timeout},
		{"unknown host", opError("dial", &net.DNSError{IsNotFound: true}), none},
		{"lookup that may work later", opError("dial", &net.DNSError{IsTemporary: true}), transient},
		{"certificate", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, transient},
	} {
		for how, err := range wrappings(&sendError{&url.Error{Op: "Get", Err: c.cause}}) {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, c.want, verdictOf(err))
				answered := fmt.Errorf("%w %w", statusError(429), err)
				throttle := classify.RetryAs(classify.Throttling)
				if c.cause == canceledError(true) { //nolint:errorlint // this row
					throttle = classify.Forbidden() // also a throttle
				}
				require.Equal(t, throttle, verdictOf(answered), "a throttle stays one")
			})
		}
	}
}

func TestNumbersOfWindows(t *testing.T) {
	t.Parallel()
	const last = 12000
	disconnected, timedOut := 0, 0
	for n := range uintptr(last) {
		switch classify.WindowsErrno(n) {
		case classify.Disconnected:
			disconnected++
		case classify.TimedOut:
			timedOut++
		}
	}
	require.Equal(t, 16, disconnected)
	require.Equal(t, 3, timedOut)
	for _, n := range []uintptr{10053, 10054, 10061, 10051, 10065, 109, 232} {
		require.Equal(t, classify.Disconnected, classify.WindowsErrno(n), n)
	}
	for _, n := range []uintptr{10060, 1460, 121} {
		require.Equal(t, classify.TimedOut, classify.WindowsErrno(n), n)
	}
	for _, n := range []uintptr{0, 5, 10013, 10048, 11001} { // denied, in use, unknown host
		require.Zero(t, classify.WindowsErrno(n), n)
	}
}

// TestAnswersOfNameServersInGo126 asks the resolver of net, by itself and in a
// request of net/http, for a name that a server answers with each response code.
func TestAnswersOfNameServersInGo126(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		code byte
		want classify.Verdict
	}{
		{"FORMERR", 1, classify.RetryAs(classify.Transient)},
		{"SERVFAIL", 2, classify.RetryAs(classify.Transient)},
		{"NXDOMAIN", 3, classify.Verdict{}},
		{"NOTIMP", 4, classify.RetryAs(classify.Transient)},
		{"REFUSED", 5, classify.RetryAs(classify.Transient)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			resolver := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
				client, server := net.Pipe()
				go answerQueries(server, c.code)
				return client, nil
			}}

			_, err := resolver.LookupHost(t.Context(), "service.example.")
			lookup, ok := errors.AsType[*net.DNSError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, c.name == "SERVFAIL", lookup.IsTemporary)
			require.Equal(t, c.name == "NXDOMAIN", lookup.IsNotFound)
			require.Equal(t, c.want, verdictOf(err))

			transport := &http.Transport{DialContext: (&net.Dialer{Resolver: resolver}).DialContext}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://service.example./", http.NoBody)
			require.NoError(t, err)
			response, err := (&http.Client{Transport: transport}).Do(request)
			if err == nil {
				response.Body.Close()
			}
			require.ErrorAs(t, err, &lookup)
			require.Equal(t, c.want, verdictOf(err))
		})
	}
}

func TestLookupThatTheCallerEndsIsLeftAlone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	_, err := resolver.LookupHost(ctx, "service.example.")
	lookup, ok := errors.AsType[*net.DNSError](err)
	require.True(t, ok, "%v", err)
	require.False(t, lookup.IsNotFound || lookup.IsTemporary || lookup.IsTimeout)
	require.Equal(t, classify.Verdict{}, verdictOf(err))
}

// answerQueries answers each query of a connection with the query itself, made a
// response with the code. The messages are as in TCP: their length comes first.
func answerQueries(conn net.Conn, code byte) {
	defer func() { _ = conn.Close() }()
	for {
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		message := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(conn, message); err != nil {
			return
		}
		message[2] |= 0x80 // a response
		message[3] = message[3]&0xf0 | code
		if _, err := conn.Write(append(length[:], message...)); err != nil {
			return
		}
	}
}

func TestCanceledDial(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:1")
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, classify.Verdict{}, verdictOf(err), err)
}
