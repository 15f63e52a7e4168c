package awsretry_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func getItem(context.Context) (string, error) { return "an item", nil }

// idempotent forbids the retry of an operation that timed out, unless it may be executed twice.
type idempotent struct{}

func (idempotent) Name() string { return "idempotent" }

func (idempotent) Classify(o classify.Outcome) classify.Verdict {
	if o.Previous.Kind() == classify.Timeout && !strings.HasPrefix(o.Operation, "Get") {
		return classify.Forbidden()
	}
	return classify.Verdict{}
}

func ExampleWithClassifier() {
	ctx := context.Background()
	strategy, err := awsretry.Load(ctx, awsretry.WithClassifier(classify.Also(
		classify.Code(classify.Codes{"Maintenance": classify.Server}), // besides the codes of AWS
		idempotent{},
	)))
	if err != nil {
		log.Fatal(err)
	}
	item, err := retry.Do(ctx, strategy, retry.Operation{Name: "GetItem"}, getItem)
	fmt.Println(item, err)
}

// Statuses, codes, and the like are added to what is retried already.
func ExampleWithClassifier_status() {
	ctx := context.Background()
	strategy, err := awsretry.Load(ctx, awsretry.WithClassifier(classify.Also(
		classify.Status(http.StatusConflict),                             // of a service that is not ready yet
		classify.Code(classify.Codes{"Overloaded": classify.Throttling}), // and its word for too many requests
	)))
	if err != nil {
		log.Fatal(err)
	}
	for _, status := range []int{http.StatusConflict, http.StatusServiceUnavailable, http.StatusNotFound} {
		fmt.Println(status, strategy.Judge(retry.Operation{}, statusError(status)))
	}
	// Output:
	// 409 retry(transient)
	// 503 retry(transient)
	// 404 none
}

// statusError is an answer of a service.
type statusError int

func (e statusError) Error() string       { return http.StatusText(int(e)) }
func (e statusError) HTTPStatusCode() int { return int(e) }

// A program waits for its database for a minute at most, but not with a wrong password.
func ExampleWithRetryIf() {
	fmt.Println("connected:", connect(context.Background(), database{}) == nil)
	fmt.Println("connected:", connect(context.Background(), database{answer: errPassword}) == nil)
	// Output:
	// connected: true
	// connected: false
}

func connect(ctx context.Context, db database) error {
	strategy, err := awsretry.Plain(1000, 100*time.Millisecond, 2*time.Second, awsretry.WithoutQuota(),
		awsretry.WithRetryIf(func(err error) bool { return !errors.Is(err, errPassword) }))
	if err != nil {
		log.Fatal(err)
	}
	op := retry.Operation{Name: "connect", MaxElapsed: time.Minute}
	err = retry.DoErr(ctx, strategy, op, db.PingContext)
	return err
}

var errPassword = errors.New("wrong password")

// database stands for a *sql.DB. It refuses connections until it has started.
type database struct {
	starts time.Time
	pings  *int
	answer error
}

func (db database) PingContext(context.Context) error {
	if db.pings != nil {
		*db.pings++
	}
	if time.Now().Before(db.starts) {
		return errors.New("connection refused")
	}
	return db.answer
}

// The wait for a database lasts for its minute. With a retry quota it would end after 35 retries, half way.
func TestConnectWaitsForAMinute(t *testing.T) {
	for _, c := range []struct {
		name   string
		starts time.Duration
		answer error
		want   error
	}{
		{"a database that starts late", 55 * time.Second, nil, nil},
		{"a database that never starts", time.Hour, nil, retry.ErrMaxElapsed},
		{"a wrong password", 55 * time.Second, errPassword, errPassword},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, pings := time.Now(), 0
				err := connect(t.Context(), database{began.Add(c.starts), &pings, c.answer})
				require.ErrorIs(t, err, c.want)
				require.Greater(t, pings, 36)
				require.LessOrEqual(t, time.Since(began), time.Minute)
			})
		})
	}
}

// The quota of a service that fails all the time pays for 35 retries.
func ExamplePlain_quotaExhausted() {
	clk := &clock.Fake{}
	strategy, err := awsretry.Plain(1000, 100*time.Millisecond, 2*time.Second, awsretry.WithClock(clk),
		awsretry.WithRetryIf(func(error) bool { return true }), awsretry.WithRandom(func() float64 { return 0.5 }))
	if err != nil {
		log.Fatal(err)
	}
	clk.Run(func() {
		err = retry.DoErr(context.Background(), strategy, retry.Operation{}, database{answer: errors.New("connection refused")}.PingContext)
	})

	fmt.Println(err)
	if refusal, ok := errors.AsType[*retry.Error](err); ok {
		fmt.Println(refusal.Reason, "after", refusal.Attempts, "attempts; the last error:", refusal.Last)
	}
	// Output:
	// retry: client-side: retry quota exhausted: last error: connection refused (36 attempts, 31.55s, 10 of 14 quota tokens)
	// retry: retry quota exhausted after 36 attempts; the last error: connection refused
}

// A test gives the strategy a fake clock. The time moves whenever the strategy waits.
func ExampleWithClock() {
	clk := &clock.Fake{}
	strategy, err := awsretry.Load(context.Background(),
		awsretry.WithClock(clk),
		awsretry.WithRandom(func() float64 { return 1 }), // no jitter
		awsretry.WithSources(awsretry.Sources{LookupEnv: func(string) (string, bool) { return "", false }, FS: fstest.MapFS{}}))
	if err != nil {
		log.Fatal(err)
	}

	calls := 0
	flaky := func(context.Context) error {
		if calls++; calls < 3 {
			return unavailable{}
		}
		return nil
	}
	clk.Run(func() { err = retry.DoErr(context.Background(), strategy, retry.Operation{}, flaky) })
	fmt.Println(err, clk.Waits()) // the waits took no time
	// Output:
	// <nil> [50ms 100ms]
}

// EC2 throttles calls by operation, so each operation of EC2 has a scope of its own here. The
// limit of RunInstances is known.
func ExampleWithConfig() {
	strategy, err := awsretry.Load(context.Background(),
		awsretry.WithMode(awsretry.ModeAdaptive),
		awsretry.WithSources(awsretry.Sources{LookupEnv: func(string) (string, bool) { return "", false }, FS: fstest.MapFS{}}),
		awsretry.WithConfig(adaptive.Config{
			Standard: standard.Config{Scope: func(op retry.Operation) retry.ScopeKey {
				if op.Service == "ec2" {
					return retry.ScopeKey{Account: op.Account, Service: op.Service, Region: op.Region, Name: op.Name}
				}
				return op.Key()
			}},
			SendLimit: func(scope retry.ScopeKey) adaptive.SendLimit {
				if scope.Name == "RunInstances" {
					return adaptive.SendLimit{Starting: 1, Ceiling: 2}
				}
				return adaptive.SendLimit{}
			},
		}))
	if err != nil {
		log.Fatal(err)
	}
	for _, op := range []retry.Operation{
		{Service: "ec2", Region: "eu-central-1", Name: "RunInstances"},
		{Service: "ec2", Region: "eu-central-1", Name: "DescribeVpcs"},
		{Service: "dynamodb", Region: "eu-central-1", Name: "GetItem", Resource: "orders"},
	} {
		call := func(context.Context) (string, error) { return "the answer of " + op.Name, nil }
		if _, err := retry.Do(context.Background(), strategy, op, call); err != nil {
			log.Fatal(err)
		}
	}
	for _, scope := range strategy.Snapshot().Scopes {
		fmt.Printf("%-29s quota %d, limited %t\n", scope.Key, scope.Quota, scope.Limited)
	}
	// Output:
	//                               quota 500, limited false
	// dynamodb/eu-central-1/orders  quota 500, limited false
	// ec2/eu-central-1/DescribeVpcs quota 500, limited false
	// ec2/eu-central-1/RunInstances quota 500, limited true
}

// Callers with the same key share a strategy, its retry quota and its send rate.
func ExampleNewFactory() {
	settings, err := awsretry.Resolve(context.Background(),
		awsretry.WithSources(awsretry.Sources{LookupEnv: func(string) (string, bool) { return "", false }, FS: fstest.MapFS{}}))
	if err != nil {
		log.Fatal(err)
	}
	factory, err := awsretry.NewFactory(settings)
	if err != nil {
		log.Fatal(err)
	}
	reader, err := factory.Strategy("dynamodb/eu-central-1")
	if err != nil {
		log.Fatal(err)
	}
	writer, err := factory.Strategy("dynamodb/eu-central-1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reader == writer, reader.Snapshot().SharedAs)
	// Output:
	// true dynamodb/eu-central-1
}

// unavailable is an error with an HTTP status, as AWS clients return it.
type unavailable struct{}

func (unavailable) Error() string       { return "service unavailable" }
func (unavailable) HTTPStatusCode() int { return 503 }

// A strategy serves any number of operations. This one reads no real environment and no real
// files, and has no delay before a retry.
func ExampleLoad() {
	strategy, err := awsretry.Load(context.Background(),
		awsretry.WithSources(awsretry.Sources{LookupEnv: variables{"AWS_MAX_ATTEMPTS": "4"}.lookup, FS: fstest.MapFS{}}),
		awsretry.WithRandom(func() float64 { return 0 }))
	if err != nil {
		log.Fatal(err)
	}
	attempts := 0
	item, err := retry.Do(context.Background(), strategy, retry.Operation{Name: "GetItem"},
		func(context.Context) (string, error) {
			if attempts++; attempts < 3 {
				return "", unavailable{}
			}
			return "an item", nil
		})
	fmt.Println(item, err, "after", attempts, "attempts")
	// Output:
	// an item <nil> after 3 attempts
}

// A send limit has an effect only in adaptive mode. The program does not start without it by
// mistake.
func ExampleWithConfig_sendLimit() {
	limited := awsretry.WithConfig(adaptive.Config{
		SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Ceiling: 10} },
	})
	hermetic := []awsretry.Option{awsretry.WithSources(awsretry.Sources{LookupEnv: variables{}.lookup, FS: fstest.MapFS{}}), limited}

	_, err := awsretry.Load(context.Background(), hermetic...)
	fmt.Println(err)
	strategy, err := awsretry.Load(context.Background(), append(hermetic, awsretry.WithDefaultMode(awsretry.ModeAdaptive))...)
	fmt.Println(strategy.Snapshot().Mode, err)
	// Output:
	// awsretry: adaptive.Config.SendLimit is set, but the retry mode is standard (built-in default): add WithDefaultMode(ModeAdaptive) or WithMode(ModeAdaptive)
	// adaptive <nil>
}

func ExampleWithClassifier_hardQuotas() {
	ctx := context.Background()
	strategy, err := awsretry.Load(ctx, awsretry.WithClassifier(classify.Also(classify.HardQuotas())))
	if err != nil {
		panic(err)
	}
	fmt.Println(strategy.Judge(retry.Operation{Service: "CloudWatch Logs"}, fullLogsError{}))
	// Output: forbid
}

// fullLogsError is the answer of CloudWatch Logs to one log group too many.
type fullLogsError struct{}

func (fullLogsError) Error() string     { return "too many log groups" }
func (fullLogsError) ErrorCode() string { return "LimitExceededException" }

// Where the operator has chosen standard mode, the program starts, and the observer gets what has no
// effect.
func ExampleWithConfig_settingIgnored() {
	limited := awsretry.WithConfig(adaptive.Config{MaxSendWait: time.Second})
	settings, err := awsretry.Resolve(context.Background(),
		awsretry.WithSources(awsretry.Sources{LookupEnv: variables{"AWS_RETRY_MODE": "standard"}.lookup, FS: fstest.MapFS{}}), limited)
	if err != nil {
		log.Fatal(err)
	}
	_, err = awsretry.New(settings, limited,
		awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) { fmt.Println(e.Kind, e.Err) })))
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// setting-ignored awsretry: adaptive.Config.MaxSendWait is set, but the retry mode is standard (AWS_RETRY_MODE)
}
