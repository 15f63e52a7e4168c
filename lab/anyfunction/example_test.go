package anyfunction

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// flaky returns a function that fails so often, and then answers.
func flaky(failures int, err error) func(ctx context.Context) (string, error) {
	return func(context.Context) (string, error) {
		if failures--; failures >= 0 {
			return "", err
		}
		return "an answer", nil
	}
}

var errBusy = &net.OpError{Op: "dial", Err: errors.New("busy")}

func plain() retry.Strategy {
	strategy, err := awsretry.Plain(5, time.Millisecond, time.Second)
	if err != nil {
		log.Fatal(err)
	}
	return strategy
}

// A function that returns an error.
func Example_error() {
	ctx, refill := context.Background(), flaky(2, errBusy)
	work := func(ctx context.Context) error { _, err := refill(ctx); return err }
	strategy, err := awsretry.Plain(5, 50*time.Millisecond, 10*time.Second) // attempts, first delay, longest delay
	if err != nil {
		log.Fatal(err)
	}
	err = retry.DoErr(ctx, strategy, retry.Operation{}, work)
	fmt.Println(err)
	// Output: <nil>
}

// A function that returns a value.
func Example_value() {
	ctx, strategy, fetch := context.Background(), plain(), flaky(2, errBusy)
	answer, err := retry.Do(ctx, strategy, retry.Operation{Name: "fetch", Scope: "billing"}, fetch)
	fmt.Println(answer, err)
	// Output: an answer <nil>
}

// An error of the program's own.
func Example_mark() {
	ctx, strategy := context.Background(), plain()
	errLocked, locked := errors.New("locked"), flaky(2, errors.New("locked"))
	work := func(ctx context.Context) error {
		_, err := locked(ctx)
		if err != nil && err.Error() == errLocked.Error() {
			return retry.Mark(err, classify.Transient)
		}
		return err
	}
	fmt.Println(retry.DoErr(ctx, strategy, retry.Operation{}, work))
	// Output: <nil>
}

// A third-party API, with a key under which it carries out a request once.
func Example_http() {
	ctx, strategy, requests := context.Background(), plain(), atomic.Int64{}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprint(w, r.Header.Get("Idempotency-Key"))
	}))
	defer api.Close()
	transport, err := httpretry.New(httpretry.Config{Strategy: strategy})
	if err != nil {
		log.Fatal(err)
	}
	client := &http.Client{Transport: transport}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, api.URL+"/charges", http.NoBody)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Idempotency-Key", "order 17") // without it, a POST that may have run is not sent again
	response, err := client.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	fmt.Println(response.Status, requests.Load())
	// Output: 200 OK 2
}

// unavailable is a server of gRPC that is not there at first.
type unavailable struct {
	grpc_health_v1.HealthClient

	left int
}

func (u *unavailable) Check(context.Context, *grpc_health_v1.HealthCheckRequest, ...grpc.CallOption) (*grpc_health_v1.HealthCheckResponse, error) {
	if u.left--; u.left >= 0 {
		return nil, status.Error(codes.Unavailable, "the connection is draining")
	}
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}, nil
}

// A call of gRPC.
func Example_grpc() {
	ctx, strategy := context.Background(), plain()
	var client grpc_health_v1.HealthClient = &unavailable{left: 2}
	reply, err := retry.Do(ctx, strategy, retry.Operation{Name: "Check"},
		func(ctx context.Context) (*grpc_health_v1.HealthCheckResponse, error) {
			return client.Check(ctx, &grpc_health_v1.HealthCheckRequest{})
		})
	fmt.Println(reply.GetStatus(), err)
	// Output: SERVING <nil>
}

// transfer is a transaction of database/sql.
func transfer(ctx context.Context, db *sql.DB, strategy retry.Strategy) error {
	return retry.DoErr(ctx, strategy, retry.Operation{Name: "transfer", NotIdempotent: true}, func(ctx context.Context) error {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable})
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		if _, err := tx.ExecContext(ctx, "UPDATE bank.accounts SET cents = cents + 100 WHERE id = 1"); err != nil {
			return err
		}
		return tx.Commit()
	})
}

// A deadlock of MySQL is retried, a duplicate is not, and a lost connection only where the call may be carried out twice.
func Example_mysql() {
	ctx, strategy := context.Background(), plain()
	attempts := func(failure error, op retry.Operation) (n int) {
		_ = retry.DoErr(ctx, strategy, op, func(context.Context) error {
			if n++; n == 1 {
				return fmt.Errorf("insert: %w", failure)
			}
			return nil
		})
		return n
	}
	for _, failure := range []error{&mysql.MySQLError{Number: 1213}, &mysql.MySQLError{Number: 1062}, mysql.ErrInvalidConn} {
		fmt.Println(attempts(failure, retry.Operation{}), attempts(failure, retry.Operation{NotIdempotent: true}))
	}
	// Output:
	// 2 2
	// 1 1
	// 2 1
}

// A budget of two seconds for everything, the attempt under way included.
func Example_budget() {
	strategy, hang := plain(), func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := retry.Do(ctx, strategy, retry.Operation{}, hang)
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output: true
}

// Cancel ends a wait at once.
func Example_cancel() {
	strategy, fetch := plain(), flaky(9, errBusy)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := retry.Do(ctx, strategy, retry.Operation{}, fetch)
	fmt.Println(errors.Is(err, retry.ErrCanceled))
	// Output: true
}

// A test without retries.
func Example_once() {
	ctx, attempts := context.Background(), 0
	work := func(context.Context) error { attempts++; return errBusy }
	strategy, err := awsretry.Plain(1, 0, 0)
	if err != nil {
		log.Fatal(err)
	}
	err = retry.DoErr(ctx, strategy, retry.Operation{}, work)
	fmt.Println(attempts, errors.Is(err, retry.ErrAttemptsExhausted))
	// Output: 1 true
}

// A test of the delays, on a clock of its own.
func Example_clock() {
	ctx, fetch := context.Background(), flaky(2, errBusy)
	clk := &clock.Fake{}
	strategy, err := standard.New(standard.Config{Clock: clk, Random: func() float64 { return 1 }})
	if err != nil {
		log.Fatal(err)
	}
	clk.Run(func() { _, err = retry.Do(ctx, strategy, retry.Operation{}, fetch) })
	fmt.Println(err, clk.Waits())
	// Output: <nil> [50ms 100ms]
}
