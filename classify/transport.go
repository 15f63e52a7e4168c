package classify

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/textproto"
	"net/url"
	"os"
	"runtime"
	"slices"
	"syscall"

	"github.com/awsretry/awsretry/internal/wire"
)

// transportClassifier retries failures without an answer; [Default] says which. A throttle
// stays a throttle, even if the connection failed.
type transportClassifier struct{}

func (*transportClassifier) Name() string { return "transport" }

func (c *transportClassifier) Classify(o Outcome) Verdict { return alone(c, &o) }

func (*transportClassifier) opinion(o *Outcome, f *facts) Verdict {
	switch {
	case f.has(saysCanceled) && o.Previous.action == actionRetry: // final whatever it wraps, as in aws-sdk-go-v2
		return Forbidden()
	case o.Previous.kind == Throttling || f.has(endedByCaller):
		return Verdict{}
	case f.lookup != nil:
		return ofLookup(f.lookup)
	case f.has(timedOut):
		return RetryAs(Timeout)
	case f.has(disconnected|sendFailed) || f.has(silent) && f.isLost(o.Err):
		return RetryAs(Transient)
	default:
		return Verdict{}
	}
}

// isLost reports whether an error says by its text or by the fields of a reset stream that the connection was
// lost. The texts of answers of a service do not count.
func (f *facts) isLost(err error) bool {
	loss := wire.StreamLossOf(err)
	if loss == wire.LossNone && f.code == "" && f.status < 300 {
		loss = wire.LossOf(err)
	}
	return loss == wire.LossConnection || loss == wire.LossUnprocessed
}

func ofLookup(lookup *net.DNSError) Verdict {
	switch {
	case lookup.IsNotFound:
		return Verdict{}
	case lookup.IsTimeout:
		return RetryAs(Timeout)
	default: // also what net does not call temporary: REFUSED, FORMERR, NOTIMP, a malformed answer
		return RetryAs(Transient)
	}
}

// errno is what a system call says of a connection or of the network, by its name on Unix, and by the numbers of
// winerror.h. On Windows the constants of package syscall are made up: a connection that the peer reset is not
// syscall.ECONNRESET, and WSAETIMEDOUT is not a timeout for syscall.Errno.
type errno struct {
	name    syscall.Errno
	windows [3]syscall.Errno
	means   facet
}

// errnos is the table of all systems.
func errnos() [16]errno {
	return [...]errno{
		{syscall.ETIMEDOUT, [3]syscall.Errno{10060, 121, 1460}, timedOut},   // also ERROR_SEM_TIMEOUT, ERROR_TIMEOUT
		{syscall.ECONNREFUSED, [3]syscall.Errno{10061, 1225}, disconnected}, // ERROR_CONNECTION_REFUSED
		{syscall.ECONNRESET, [3]syscall.Errno{10054, 64}, disconnected},     // ERROR_NETNAME_DELETED
		{syscall.ECONNABORTED, [3]syscall.Errno{10053, 1236}, disconnected}, // ERROR_CONNECTION_ABORTED
		{syscall.EPIPE, [3]syscall.Errno{109, 232}, disconnected},           // ERROR_BROKEN_PIPE, ERROR_NO_DATA
		{syscall.ENETUNREACH, [3]syscall.Errno{10051, 1231}, disconnected},  // ERROR_NETWORK_UNREACHABLE
		{syscall.EHOSTUNREACH, [3]syscall.Errno{10065, 1232}, disconnected}, // ERROR_HOST_UNREACHABLE
		{syscall.ENETDOWN, [3]syscall.Errno{10050, 1222}, disconnected},     // ERROR_NO_NETWORK
		{syscall.ENETRESET, [3]syscall.Errno{10052}, disconnected},
		{errHostDown, [3]syscall.Errno{10064}, disconnected},
		{errShutDown, [3]syscall.Errno{10058, 10101}, disconnected}, // WSAEDISCON
		{syscall.ENOTCONN, [3]syscall.Errno{10057}, disconnected},
		{syscall.ENOBUFS, [3]syscall.Errno{10055}, disconnected},
		{syscall.EADDRNOTAVAIL, [3]syscall.Errno{10049}, disconnected},
		{syscall.EPROTO, [3]syscall.Errno{}, disconnected},
		{64, [3]syscall.Errno{}, disconnected}, // ENONET on Linux, EHOSTDOWN on BSD and macOS
	}
}

// readKnown reads marks, what package awssdk says of a transaction, and the errors of the standard library that wrap every failure of a
// connection, and returns what the error wraps. It knows them by their types: asking each
// of them for everything that an error may say takes ten times as long.
//
//nolint:errorlint // one error of the walk
func (f *facts) readKnown(err error) (inner error, known bool) {
	switch e := err.(type) {
	case *JudgedError:
		f.addJudged(e)
		return e.Err, true
	case wire.CanceledError:
		f.addIf(canceledByThrottles, e.Throttled == e.Causes)
		return e.Err, true
	case *url.Error:
		// With io.EOF net/http says that the server closed the connection without an
		// answer. Elsewhere io.EOF is the end of a stream, which is no failure.
		f.addIf(disconnected, e.Temporary() || e.Err == io.EOF || wire.Is(e.Err, io.EOF))
		f.addIf(timedOut, e.Timeout())
		if status, ok := wire.Unopened(e.Err); ok {
			f.said |= disconnected
			f.addStatus(status)
		}
		return e.Err, true
	case *net.OpError:
		f.addIf(timedOut, e.Timeout())
		if e.Op == "listen" { // a server, which does not listen to requests of its own
			f.addIf(disconnected, e.Temporary())
			return nil, true
		}
		f.said |= disconnected
		return e.Err, true
	case *tls.CertificateVerificationError, tls.RecordHeaderError, *tls.ECHRejectionError, tls.AlertError:
		// The next connection may lead to another server: one certificate of several may be bad.
		f.said |= disconnected
		return nil, true
	case *os.SyscallError:
		return e.Err, true
	case syscall.Errno:
		f.addErrno(e, runtime.GOOS == "windows")
		return nil, true
	default:
		return err, false
	}
}

func (f *facts) addErrno(e syscall.Errno, windows bool) {
	f.addIf(timedOut, e.Timeout())
	f.addIf(disconnected, e.Temporary())
	for _, known := range errnos() {
		f.addIf(known.means, e == known.name || windows && e != 0 && slices.Contains(known.windows[:], e))
	}
}

// listenTransport reads what one error says about the connection and about the caller.
//
//nolint:errorlint // one error of the walk
func (f *facts) listenTransport(err error) {
	if e, ok := err.(*net.DNSError); ok && f.lookup == nil {
		f.lookup = e
	}
	if e, ok := err.(comparingError); ok {
		f.said |= comparing
		f.compare(e)
	}
	// The timeouts of the net package also claim to be context.DeadlineExceeded, so only that
	// value itself counts. It is the caller's only if the caller has gone: an HTTP client with
	// its own limit returns the same value.
	f.addIf(endedByCaller, f.gone && err == context.DeadlineExceeded)
	f.addIf(disconnected, err == net.ErrClosed)
	if e, ok := err.(canceledError); ok {
		f.addIf(endedByCaller|saysCanceled, e.CanceledError())
	}
	if e, ok := err.(timeoutError); ok {
		f.addIf(timedOut, e.Timeout())
	}
	if e, ok := err.(temporaryError); ok {
		f.addIf(disconnected, e.Temporary())
	}
	if e, ok := err.(connectionError); ok {
		failed := e.ConnectionError()
		f.addIf(sendFailed, failed)
		f.addIf(disconnected, failed && wire.Is(err, io.EOF)) // as of a url.Error
	}
}

// readSilent reads an error that says nothing and wraps nothing.
//
//nolint:errorlint // one error of the walk
func (f *facts) readSilent(err error) {
	if _, cut := err.(textproto.ProtocolError); cut {
		// A malformed header line: most often the answer ended in the middle of one.
		f.said |= disconnected
		return
	}
	switch err {
	case context.Canceled:
		f.addIf(endedByCaller, f.gone || !f.has(sendFailed))
	case io.ErrUnexpectedEOF:
		f.said |= disconnected
	default:
		f.said |= silent
	}
}

// compare asks an error with an Is method which errors it is equal to. The error of a
// system call has one.
func (f *facts) compare(e comparingError) {
	f.addIf(endedByCaller, e.Is(context.Canceled) && (f.gone || !f.has(sendFailed)))
	f.addIf(disconnected, e.Is(net.ErrClosed) || e.Is(io.ErrUnexpectedEOF))
	for _, known := range errnos() {
		f.addIf(known.means, e.Is(known.name))
	}
}
