package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/fleet/redisstore"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// redisLog leads what go-redis logs to the log of the program.
type redisLog struct{}

// Printf writes at debug level: the events of the fleet already say that the store is away, once a minute.
func (redisLog) Printf(ctx context.Context, format string, v ...any) {
	slog.DebugContext(ctx, "go-redis: "+fmt.Sprintf(format, v...))
}

// Each process of a fleet does this once.
func ExampleFleet_Config_load() {
	ctx := context.Background()
	redis.SetLogger(redisLog{}) // it writes a line for each failed connection
	store, err := redisstore.New(redisstore.Config{Options: &redis.UniversalOptions{Addrs: []string{"cache.internal:6379"}}})
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Check(ctx); err != nil {
		log.Print(err) // the members have send rates of their own until it is mended
	}
	shared, err := fleet.New(fleet.Config{Store: store, Namespace: "prod/111122223333", Observer: fleet.SlogObserver(nil)})
	if err != nil {
		log.Fatal(err)
	}

	strategy, err := awsretry.Load(ctx,
		awsretry.WithDefaultMode(awsretry.ModeAdaptive), awsretry.WithConfig(shared.Config(adaptive.Config{})))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(retry.DoErr(ctx, strategy, operation, fine))

	// When the program ends:
	shared.Close()
	if err := store.Close(); err != nil {
		log.Fatal(err)
	}
}

// operation is one that all members make.
var operation = retry.Operation{Service: "dynamodb", Region: "eu-central-1", Resource: "orders"}

// fine is a request that the service does not throttle.
func fine(context.Context) error { return nil }

// throttle is the answer of a service to a request above its limit.
var throttle = &classify.JudgedError{Verdict: classify.RetryAs(classify.Throttling), Err: errors.New("slow down")}

// A test gives the fleet, the store and the strategies the same fake clock. Here two members
// share a limit of ten requests a second. The first throttle limits the scope, the store looks
// for some seconds at what the members get, and then they send in its slots.
func ExampleNew() {
	clk := &clock.Fake{}
	shared, err := fleet.New(fleet.Config{
		Store:     &fleet.Memory{Clock: clk},
		Namespace: "test",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer shared.Close()

	next, end := clk.Now(), clk.Now().Add(30*time.Second)
	service := func(context.Context) error {
		if now := clk.Now(); now.After(next) {
			next = now.Add(100 * time.Millisecond)
			return nil
		}
		return throttle
	}
	member := func() func() {
		random := rand.New(rand.NewPCG(1, 2)).Float64 // the same numbers in each run
		strategy, err := adaptive.New(shared.Config(adaptive.Config{Standard: standard.Config{Clock: clk, Random: random}}))
		if err != nil {
			log.Fatal(err)
		}
		return func() {
			for clk.Now().Before(end) {
				_ = retry.DoErr(context.Background(), strategy, operation, service)
			}
		}
	}
	one, other := member(), member()
	clk.Run(one, other)
	for _, s := range shared.Snapshot() {
		fmt.Printf("%s: %v\n", s.Scope, s.State)
	}
	// Output:
	// dynamodb/eu-central-1/orders: slots
	// dynamodb/eu-central-1/orders: slots
}
