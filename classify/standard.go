package classify

import (
	"io"
	"net"
	"net/url"
	"os"
	"runtime"
	"syscall"

	"github.com/awsretry/awsretry/internal/errtree"
)

// readStandard takes in the errors of the standard library that are around every
// failure of a connection, and returns what the error wraps. They are known by
// their types, since to ask each for everything that an error may say takes ten
// times as long.
//
//nolint:errorlint // one error of the walk
func (f *facts) readStandard(err error) (inner error, known bool) {
	switch e := err.(type) {
	case *url.Error:
		// So net/http says that the server closed the connection without an answer.
		// Elsewhere io.EOF is the end of a stream, no failure.
		f.addIf(disconnected, e.Temporary() || e.Err == io.EOF || errtree.Is(e.Err, io.EOF))
		f.addIf(timedOut, e.Timeout())
		return e.Err, true
	case *net.OpError:
		f.addIf(disconnected, e.Op == "dial" || e.Temporary())
		f.addIf(timedOut, e.Timeout())
		return e.Err, true
	case *os.SyscallError:
		f.addIf(timedOut, e.Timeout())
		return e.Err, true
	case syscall.Errno:
		f.addErrno(e)
		return nil, true
	default:
		return err, false
	}
}

func (f *facts) addErrno(e syscall.Errno) {
	f.addIf(timedOut, e.Timeout())
	f.addIf(disconnected, e.Temporary())
	if runtime.GOOS == "windows" {
		f.said |= windowsErrno(uintptr(e))
	}
	switch e {
	case syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.ECONNABORTED, syscall.EPIPE,
		syscall.EHOSTUNREACH, syscall.ENETUNREACH:
		f.said |= disconnected
	default:
	}
}
