package classify

import (
	"database/sql/driver"
	"net/http"
	"reflect"
	"time"

	"github.com/awsretry/awsretry/internal/wire"
)

// protocolClassifier knows the errors of gRPC and of databases, by methods and fields that their modules give them. It has an
// opinion where no other classifier has one.
type protocolClassifier struct{}

func (*protocolClassifier) Name() string { return "protocol" }

func (c *protocolClassifier) Classify(o Outcome) Verdict { return alone(c, &o) }

func (*protocolClassifier) opinion(o *Outcome, f *facts) Verdict {
	if o.Previous.action != actionNone || f.code != "" || f.status != 0 || f.has(endedByCaller) {
		return Verdict{}
	}
	if f.sqlState != "" {
		return ofSQLState(f.sqlState)
	}
	if f.has(unsent) || wire.Is(o.Err, driver.ErrBadConn) {
		return unprocessed(Transient)
	}
	if !f.has(comparing) { // as those of gRPC and of MySQL are
		return Verdict{}
	}
	if v := ofMySQL(o.Err); v.action != actionNone {
		return v
	}
	return ofGRPC(o.Err)
}

// unprocessed asks for a retry of a request that has not been carried out.
func unprocessed(kind Kind) Verdict {
	v := RetryAs(kind)
	v.flags |= notProcessed
	return v
}

// ofSQLState judges a code of SQL. PostgreSQL's manual has the codes in appendix A, and says of 40001 and 40P01 (section 13.5)
// that the whole transaction is to be tried again; CockroachDB's "Transaction Retry Error Reference" says so of 40001, and of 40003
// that the outcome is not known.
func ofSQLState(code string) Verdict {
	switch code {
	case "40001", "40P01", // serialization_failure, deadlock_detected: rolled back
		"55P03",                   // lock_not_available
		"57P03",                   // cannot_connect_now: it starts, stops or recovers
		"57P05", "08001", "08004": // idle_session_timeout, no connection
		return unprocessed(Transient)
	case "53300": // too_many_connections
		return unprocessed(Throttling)
	case "40003", "57P01", "57P02", "08000", "08003", "08006", "08007": // it stopped, or the connection was lost, on the way
		return RetryAs(Transient)
	default:
		return Verdict{}
	}
}

// ofMySQL judges an error of the driver of MySQL by its number: "Server Error Message Reference" of MySQL 8.4, and MariaDB's for
// 1927. A transaction that met a deadlock is rolled back, one that waited for a lock for too long is to be rolled back by
// the program ("How to Minimize and Handle Deadlocks").
func ofMySQL(err error) (v Verdict) {
	wire.Find(err, func(e error) bool {
		of := reflect.Indirect(reflect.ValueOf(e))
		if of.Kind() != reflect.Struct || of.Type().Name() != "MySQLError" {
			return false
		}
		number := of.FieldByName("Number")
		if !number.CanUint() {
			return false
		}
		switch number.Uint() {
		case 1205, 1213, 3572: // ER_LOCK_WAIT_TIMEOUT, ER_LOCK_DEADLOCK, ER_LOCK_NOWAIT
			v = unprocessed(Transient)
		case 1040, 1203: // ER_CON_COUNT_ERROR, ER_TOO_MANY_USER_CONNECTIONS
			v = unprocessed(Throttling)
		case 1053, 1927: // ER_SERVER_SHUTDOWN, ER_CONNECTION_KILLED
			v = RetryAs(Transient)
		}
		return true
	})
	return v
}

// ofGRPC judges the status of a call of gRPC: google.golang.org/grpc/codes says of Unavailable that the call may be tried again
// with a backoff, of Aborted that this is for a higher level, and of ResourceExhausted that a quota is used up; services of Google
// add a RetryInfo then, which is the hint.
func ofGRPC(err error) (v Verdict) {
	wire.Find(err, func(e error) bool {
		status, ok := call(e, "GRPCStatus")
		if !ok || status.Kind() == reflect.Pointer && status.IsNil() {
			return false
		}
		code, ok := call(status.Interface(), "Code")
		if !ok || !code.CanUint() {
			return false
		}
		switch code.Uint() {
		case 4: // DeadlineExceeded
			v = RetryAs(Timeout)
		case 8: // ResourceExhausted
			v = unprocessed(Throttling)
		case 14: // Unavailable
			v = RetryAs(Transient)
		default:
			return true
		}
		if after, ok := retryInfo(status.Interface()); ok {
			if v = v.WithHint(after); after > 0 {
				v.flags |= hintInFull // google/rpc/error_details.proto: clients should wait until it has passed
			}
		}
		return true
	})
	return v
}

// retryInfo returns the delay of a RetryInfo among the details of a status, which are there if the program knows their types.
func retryInfo(status any) (after time.Duration, ok bool) {
	details, ok := call(status, "Details")
	if !ok || details.Kind() != reflect.Slice {
		return 0, false
	}
	for i := range details.Len() {
		delay, ok := call(details.Index(i).Interface(), "GetRetryDelay")
		if !ok || delay.Kind() == reflect.Pointer && delay.IsNil() {
			continue
		}
		if d, ok := reflect.TypeAssert[interface{ AsDuration() time.Duration }](delay); ok {
			return d.AsDuration(), true
		}
	}
	return 0, false
}

// call calls a method without arguments and with one result, of a type that no interface can name without its module.
func call(of any, method string) (result reflect.Value, ok bool) {
	var m reflect.Value
	switch v := reflect.ValueOf(of); method { // constants, so that the linker keeps no other methods
	case "GRPCStatus":
		m = v.MethodByName("GRPCStatus")
	case "Code":
		m = v.MethodByName("Code")
	case "Details":
		m = v.MethodByName("Details")
	case "GetRetryDelay":
		m = v.MethodByName("GetRetryDelay")
	}
	if !m.IsValid() || m.Type().NumIn() != 0 || m.Type().NumOut() != 1 {
		return result, false
	}
	return m.Call(nil)[0], true
}

// Unprocessed reports whether a failure that is retried with this verdict says that the request has not been carried out, so that
// it may be sent again even if it must not be carried out twice: it was throttled, it has reached no server, the server gave it up
// before it began or asks to come again, a database has rolled it back, or the error has a method RetrySafe or RetryableError,
// or SafeToRetry as those of pgx, that says so.
func Unprocessed(err error, v Verdict) bool {
	if v.kind == Throttling || v.flags&notProcessed != 0 || wire.Unsent(err) {
		return true
	}
	var f facts
	f.read(err)
	if wire.Find(err, func(e error) bool { return reflect.TypeOf(e).String() == "*pgconn.ConnectError" }) {
		return true // whatever ended the start of its connection
	}
	again := f.has(hinted) && (f.status == http.StatusServiceUnavailable || f.status == statusOverloaded)
	return again || f.safety == safetyYes || f.has(unsent)
}

// statusOverloaded is a 503 for all clients of a service, see Status.
const statusOverloaded = 529
