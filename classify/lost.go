package classify

import "github.com/awsretry/awsretry/internal/wire"

// LostConnection reports whether an error says that a connection was lost that had been established: reset, closed by the
// peer or in this process, or cut while an answer arrived, over HTTP/2 also a stream that was reset. It reports
// false for a connection that could not be opened, for a timeout, for an answer that says more than success, and for nil. A
// strategy lends retries after such failures when its quota is empty, because all that was in flight fails with one connection.
func LostConnection(err error) bool {
	var f facts
	f.read(err)
	lost := f.has(disconnected) || f.has(silent) && f.isLost(err)
	return lost && !f.has(timedOut) && f.code == "" && f.status < 300 && !wire.Unconnected(err)
}
