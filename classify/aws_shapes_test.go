package classify_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
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
		{"caller canceled", context.Canceled, none},
		{"caller canceled, says aws-sdk-go-v2", canceledError(true), none},
		{"caller did not cancel", canceledError(false), transient},
		{"attempt had no more time", context.DeadlineExceeded, timeout},
		{"unknown host", opError("dial", &net.DNSError{IsNotFound: true}), none},
		{"lookup that may work later", opError("dial", &net.DNSError{IsTemporary: true}), transient},
		{"certificate", &tls.CertificateVerificationError{Err: errors.New("bad")}, none},
		{"unknown authority", x509.UnknownAuthorityError{}, none},
		{"other host", x509.HostnameError{Certificate: &x509.Certificate{}, Host: "x"}, none},
		{"expired", x509.CertificateInvalidError{Reason: x509.Expired}, none},
		{"no roots", x509.SystemRootsError{}, none},
		{"certificate, seen by a dialer", opError("dial", x509.UnknownAuthorityError{}), none},
		{"certificate, and a reset", errors.Join(x509.UnknownAuthorityError{}, temporaryError{}), none},
	} {
		for how, err := range wrappings(&sendError{&url.Error{Op: "Get", Err: c.cause}}) {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, c.want, verdictOf(err))
				answered := fmt.Errorf("%w %w", statusError(429), err)
				require.Equal(t, classify.RetryAs(classify.Throttling), verdictOf(answered), "a throttle stays one")
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
