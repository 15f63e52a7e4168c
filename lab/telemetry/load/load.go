// Package load is a made-up program in trouble, so that dashboards and alerts have something to show:
//
//	minute 0      all is well but for a hot partition
//	minute 1      the limits of the tables orders and audit fall to a tenth
//	minute 2 to 4 the fleet cannot reach its store
//	minute 20     the limits are as before
package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// Run calls services until ctx ends. watch gets the strategies before the first call.
func Run(ctx context.Context, observer retry.Observer, watch func(...retry.Strategy) error) error {
	base := standard.Config{Observer: observer}
	small := base
	small.MaxScopes, small.ScopeIdle = 8, 30*time.Second
	begin := clock.System{}.Now()
	shared, err := fleet.New(fleet.Config{Namespace: "load", Store: &store{begin: begin, from: 2 * time.Minute, until: 4 * time.Minute}})
	if err != nil {
		return err
	}
	defer shared.Close()
	astray, err := fleet.New(fleet.Config{Namespace: "astray", Store: &store{begin: begin, until: 1000 * time.Hour}})
	if err != nil {
		return err
	}
	defer astray.Close()
	plain, err := standard.New(base)
	if err != nil {
		return err
	}
	slow := func(retry.ScopeKey) adaptive.SendLimit { // whose scopes stay until their bursts have come back
		return adaptive.SendLimit{Ceiling: 1, Burst: 20}
	}
	strategies := []retry.Strategy{plain}
	for _, c := range []adaptive.Config{
		{Standard: base},
		{Standard: small, SendLimit: slow},
		shared.Config(adaptive.Config{Standard: base}), shared.Config(adaptive.Config{Standard: base}),
		astray.Config(adaptive.Config{Standard: base}),
	} {
		s, err := adaptive.New(c)
		if err != nil {
			return err
		}
		strategies = append(strategies, s)
	}
	if err := watch(strategies...); err != nil {
		return err
	}
	dynamodb := retry.Operation{Service: "dynamodb", Region: "eu-central-1", Name: "PutItem"}
	named := func(op retry.Operation, resource string) func() retry.Operation {
		op.Resource = resource
		return func() retry.Operation { return op }
	}
	kinesis := named(retry.Operation{Service: "kinesis", Region: "eu-central-1", Name: "PutRecord"}, "clicks")
	stream := &limit{begin: begin, rate: 15, cut: 15}
	jobs := []job{
		{plain, 40, named(dynamodb, "audit"), (&limit{begin: begin, rate: 60, cut: 6}).take},
		{strategies[1], 20, named(dynamodb, "orders"), (&limit{begin: begin, rate: 60, cut: 6}).take},
		{strategies[2], 4, func() retry.Operation { // more tables than there are places for scopes
			op := dynamodb
			op.Resource = fmt.Sprintf("archive-%d-%d", clock.System{}.Now().Sub(begin)/time.Minute, rand.IntN(20))
			return op
		}, sometimes(0.1, failure("ThrottlingException"))},
		{strategies[3], 12, kinesis, stream.take},
		{strategies[4], 12, kinesis, stream.take},
		{strategies[5], 2, named(retry.Operation{Service: "firehose", Region: "eu-central-1", Name: "PutRecord"}, "events"), sometimes(0, nil)},
		{plain, 4, named(retry.Operation{Service: "s3", Region: "us-east-1", Name: "GetObject"}, "images"), sometimes(0.05, failure("InternalError"))},
	}
	var all sync.WaitGroup
	for _, j := range jobs {
		for range j.workers {
			all.Go(func() { j.work(ctx) })
		}
	}
	all.Go(func() { batches(ctx, plain) })
	all.Wait()
	return nil
}

type job struct {
	strategy  retry.Strategy
	workers   int // each with a call a second
	operation func() retry.Operation
	answer    func() error
}

func (j *job) work(ctx context.Context) {
	for (clock.System{}).Sleep(ctx, time.Duration(rand.Int64N(int64(2*time.Second)))) == nil {
		_ = retry.DoErr(ctx, j.strategy, j.operation(), func(ctx context.Context) error { // the program goes on after a call that failed
			return errors.Join((clock.System{}).Sleep(ctx, 20*time.Millisecond), j.answer())
		})
	}
}

// batches sends batches of which entries are throttled inside of each success.
func batches(ctx context.Context, strategy retry.Strategy) {
	op := retry.Operation{Service: "sqs", Region: "eu-central-1", Name: "SendMessageBatch", Resource: "mails"}
	for (clock.System{}).Sleep(ctx, 2*time.Second) == nil {
		token, err := strategy.AcquireInitialToken(ctx, op)
		if err != nil || token.Wait(ctx) != nil {
			return
		}
		_ = strategy.RecordSuccess(token, retry.Result{Throttled: 3, Entries: 10}) // cannot fail: the token is its own
	}
}

type failure string

func (f failure) Error() string     { return string(f) }
func (f failure) ErrorCode() string { return string(f) }

func sometimes(share float64, err error) func() error {
	return func() error {
		if rand.Float64() < share {
			return err
		}
		return nil
	}
}

// limit allows so many requests a second, and less between minutes 1 and 20.
type limit struct {
	begin     time.Time
	rate, cut float64

	mu     sync.Mutex
	tokens float64       // guarded by mu
	filled time.Duration // guarded by mu
}

func (l *limit) take() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, rate := clock.System{}.Now().Sub(l.begin), l.rate
	if now >= time.Minute && now < 20*time.Minute {
		rate = l.cut
	}
	l.tokens, l.filled = min(l.tokens+(now-l.filled).Seconds()*rate, rate), now
	if l.tokens < 1 {
		return failure("ProvisionedThroughputExceededException")
	}
	l.tokens--
	return nil
}

// store is out of reach between two times.
type store struct {
	fleet.Memory

	begin       time.Time
	from, until time.Duration
}

func (s *store) Call(ctx context.Context, key string, ask fleet.Ask) (fleet.Reply, error) {
	if now := (clock.System{}).Now().Sub(s.begin); now >= s.from && now < s.until {
		return fleet.Reply{}, errors.New("no route to host")
	}
	return s.Memory.Call(ctx, key, ask)
}
