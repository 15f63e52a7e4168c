package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/fleet/redisstore"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
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

// Where the limit is known, members send in slots from the first attempt on. The limit is that
// of the whole fleet.
func ExampleConfig_limit() {
	clk := &clock.Fake{}
	shared, err := fleet.New(fleet.Config{
		Store:     &fleet.Memory{Clock: clk},
		Namespace: "test",
		Limit: func(scope retry.ScopeKey) adaptive.SendLimit {
			if scope.Resource == "orders" {
				return adaptive.SendLimit{Starting: 20, Ceiling: 50}
			}
			return adaptive.SendLimit{} // nothing is known
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer shared.Close()
	strategy, err := adaptive.New(shared.Config(adaptive.Config{Standard: standard.Config{Clock: clk}}))
	if err != nil {
		log.Fatal(err)
	}

	start := clk.Now()
	clk.Run(func() {
		for range 40 {
			_ = retry.DoErr(context.Background(), strategy, operation, fine)
		}
	})
	member := shared.Snapshot()[0]
	fmt.Printf("%v at %.0f a second\n", member.State, member.FleetRate)
	fmt.Println("40 attempts took", clk.Now().Sub(start).Round(100*time.Millisecond))
	// Output:
	// slots at 21 a second
	// 40 attempts took 1.9s
}

// A store that cannot be reached fails no attempt: the member goes on at the rate that it had.
func ExampleSlogObserver() {
	clk := &clock.Fake{}
	store := &flaky{Memory: fleet.Memory{Clock: clk}}
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "own_rate" { // they differ from run to run
				return slog.Attr{}
			}
			return a
		},
	}))
	shared, err := fleet.New(fleet.Config{
		Store: store, Namespace: "test", Observer: fleet.SlogObserver(logger),
		Limit: func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Starting: 5, Ceiling: 5} },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer shared.Close()
	limiter := shared.NewLimiter(retry.ScopeKey{Service: "dynamodb", Resource: "orders"}, clk)
	send := func() {
		clk.Run(func() {
			for range 20 {
				sent, err := limiter.Acquire(context.Background(), ratelimit.Request{})
				if err != nil {
					log.Fatal(err)
				}
				limiter.Report(ratelimit.Response{Sent: sent})
			}
		})
	}
	send()
	store.away = true
	send()
	store.away = false
	send()
	// Output:
	// level=INFO msg="fleet: the send rate is shared" scope=dynamodb//orders fleet_rate=5
	// level=WARN msg="fleet: store lost, holding the send rate" scope=dynamodb//orders fleet_rate=5 failing=1 error="connection refused"
	// level=INFO msg="fleet: store back" scope=dynamodb//orders fleet_rate=5
}

// flaky is a store that is away at times.
type flaky struct {
	fleet.Memory

	away bool
}

// Call fails while the store is away.
func (s *flaky) Call(ctx context.Context, key string, ask fleet.Ask) (fleet.Reply, error) {
	if s.away {
		return fleet.Reply{}, errors.New("connection refused")
	}
	return s.Memory.Call(ctx, key, ask)
}
