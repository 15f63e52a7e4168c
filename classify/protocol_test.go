package classify_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

// sqlError is an error of pgx or of lib/pq, as far as it matters.
type sqlError string

func (e sqlError) Error() string    { return "sql " + string(e) }
func (e sqlError) SQLState() string { return string(e) }

// MySQLError is that of MySQL's driver, as far as it matters.
type MySQLError struct{ Number uint16 }

func (e *MySQLError) Error() string        { return fmt.Sprint("mysql ", e.Number) }
func (e *MySQLError) Is(target error) bool { return target == error(e) }

// rpcError and grpcStatus are those of gRPC, as far as they matter.
type rpcError struct{ status *grpcStatus }

func (e rpcError) Error() string           { return "rpc error" }
func (e rpcError) Is(error) bool           { return false }
func (e rpcError) GRPCStatus() *grpcStatus { return e.status }

type grpcStatus struct {
	code    uint32
	details []any
}

func (s *grpcStatus) Code() uint32   { return s.code }
func (s *grpcStatus) Details() []any { return s.details }

type retryInfo struct{ delay *protoDuration }

func (i retryInfo) GetRetryDelay() *protoDuration { return i.delay }

type protoDuration time.Duration

func (d *protoDuration) AsDuration() time.Duration { return time.Duration(*d) }

// safeError is one of pgx that has sent nothing.
type safeError struct{ error }

func (e safeError) Unwrap() error   { return e.error }
func (safeError) SafeToRetry() bool { return true }

func TestErrorsOfOtherProtocols(t *testing.T) {
	t.Parallel()
	transient, throttle, timeout := classify.RetryAs(classify.Transient), classify.RetryAs(classify.Throttling), classify.RetryAs(classify.Timeout)
	final := classify.Verdict{}
	grpc := func(code uint32, details ...any) error {
		return fmt.Errorf("get: %w", rpcError{&grpcStatus{code, details}})
	}
	for _, c := range []struct {
		errs        []error
		want        classify.Verdict
		unprocessed bool // it may be sent again even if it must not run twice
	}{
		{[]error{sqlError("40001"), sqlError("40P01"), sqlError("55P03"), sqlError("57P03"), sqlError("57P05"), sqlError("08001"), sqlError("08004")}, transient, true},
		{[]error{sqlError("53300"), &MySQLError{1040}, &MySQLError{1203}, grpc(8)}, throttle, true},
		{[]error{sqlError("40003"), sqlError("57P01"), sqlError("57P02"), sqlError("08000"), sqlError("08003"), sqlError("08006"), sqlError("08007")}, transient, false},
		{[]error{&MySQLError{1205}, &MySQLError{1213}, &MySQLError{3572}, driver.ErrBadConn}, transient, true},
		{[]error{&MySQLError{1053}, &MySQLError{1927}, grpc(14)}, transient, false},
		{[]error{grpc(4)}, timeout, false},
		{[]error{
			sqlError("23505"), sqlError("57014"), sqlError(""), &MySQLError{1062}, sql.ErrNoRows, sql.ErrConnDone, sql.ErrTxDone,
			grpc(0), grpc(1), grpc(2), grpc(5), grpc(10), grpc(13), grpc(16),
			rpcError{},
		}, final, false},
		{[]error{safeError{io.ErrUnexpectedEOF}, safeError{errors.New("conn closed")}}, transient, true},
		{[]error{vectors.Response{Status: 503}.Err(), &url.Error{Err: io.EOF}}, transient, false},
		{[]error{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}}, transient, true},
	} {
		for _, err := range c.errs {
			got := classify.Default().Classify(classify.Outcome{Err: err})
			require.Equal(t, c.want.String(), got.String(), "%v", err)
			if got.Retryable() {
				require.Equal(t, c.unprocessed, classify.Unprocessed(err, got), "%v", err)
			}
		}
	}
	delay := protoDuration(3 * time.Second)
	got := classify.Default().Classify(classify.Outcome{Err: grpc(8, "other", retryInfo{}, retryInfo{&delay})})
	hint, ok := got.Hint()
	require.True(t, ok)
	require.Equal(t, 3*time.Second, hint)
	require.True(t, got.HintInFull())
	for _, ignored := range []error{grpc(8, "other", retryInfo{}), grpc(8, "other", retryInfo{new(protoDuration(-1))})} {
		got = classify.Default().Classify(classify.Outcome{Err: ignored})
		_, ok = got.Hint()
		require.False(t, ok)
		require.False(t, got.HintInFull())
	}
	gone := classify.Outcome{Err: errors.Join(context.Canceled, sqlError("57P01")), CallerGone: true}
	require.False(t, classify.Default().Classify(gone).Retryable(), "the caller has ended it")
	marked := classify.RetryAs(classify.Throttling)
	require.True(t, classify.Unprocessed(errors.New("slow down"), marked))
}
