package standard

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/backoff"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// Config describes a Strategy. Zero fields mean the defaults of the behavior,
// so that the zero Config is the standard mode of v2.1. A negative number, or one
// that is not a number, is an error of New.
type Config struct {
	// Behavior is the generation of the defaults; empty means [retry.V21].
	Behavior retry.Behavior
	// Service is the service of operations that do not name theirs, such as
	// "dynamodb". It selects defaults only.
	Service string

	// MaxAttempts is how many attempts an operation may have, the first included;
	// 1 means no retry. Zero means 3, or 4 for DynamoDB, which V20 does not set apart.
	MaxAttempts int

	// QuotaCapacity is the size of the retry quota of a scope; nil means 500. A
	// capacity of 0, as new(0), grants no retry at all.
	QuotaCapacity *int
	// QuotaInitial is what the quota starts with, up to its capacity; nil means
	// full.
	QuotaInitial *int
	// QuotaRefill is how many tokens a second time adds to the quota of a scope,
	// whatever the outcomes. Zero means none, as in the SDKs.
	QuotaRefill ratelimit.Rate
	// MaxQuotaWait lets a retry that the quota does not cover wait for tokens, after
	// its backoff, for as long as this at most, first come, first served. Tokens that come
	// exactly at the end come in time. Zero means that the retry is refused at once, as in
	// the SDKs.
	MaxQuotaWait time.Duration
	// BackoffWhenEmpty lets every operation that an empty quota refuses sleep the
	// delay first, as long polling does in V21: a loop that calls operations that
	// fail is slowed down then.
	BackoffWhenEmpty bool
	// ThrottlingCost and TimeoutCost are what a retry takes from the quota after a
	// throttle and after a timeout, RetryCost what it takes after any other failure.
	// Zero means 14 for RetryCost, 14 for TimeoutCost and 5 for ThrottlingCost; in
	// V20 it means 5, 10 and 5.
	RetryCost, TimeoutCost, ThrottlingCost int

	// Base and ThrottlingBase are the delays before the first retry, without
	// jitter, of which each further retry doubles; the base is that of the failure
	// at hand. Zero means 50 ms (25 ms for DynamoDB) for Base and 1 s for
	// ThrottlingBase; in V20 it means 1 s for both.
	Base, ThrottlingBase time.Duration
	// MaxBackoff is the longest delay before jitter; zero means 20 s.
	MaxBackoff time.Duration
	// Jitter is the kind of jitter; zero means [Full].
	Jitter Jitter
	// Random returns a number from 0 to 1 for the jitter; nil means math/rand/v2.
	// It must be safe for concurrent use.
	Random func() float64

	// Classifier decides what may be retried; nil means classify.Default.
	Classifier classify.Classifier
	// Clock is what the strategy waits on; nil means clock.System.
	Clock clock.Clock
	// Observer is told what the strategy does; nil means none.
	Observer retry.Observer

	// Scope returns the key of the scope of an operation; nil means retry.Operation.Key.
	// Operations of a scope share a retry quota and, in adaptive mode, a send rate. It
	// must be safe for concurrent use.
	Scope func(op retry.Operation) retry.ScopeKey
	// MaxScopes is how many scopes are kept. When there are as many, a new one takes the
	// place of one that was not used lately. If it finds none that may go, see ScopeIdle,
	// its operation uses one more scope, which all operations without a place share.
	// Zero means 10,000.
	MaxScopes int
	// ScopeIdle is how long no operation has begun or ended in a scope when it may be
	// dropped, to begin anew with the next operation; that happens when another scope is
	// created, and within twice this time. An operation that is under way then goes on
	// with what was dropped. The scope of the strategy as a whole stays, and so does one
	// in which an operation waits for quota or for a send token. Zero means 5 minutes.
	//
	// In adaptive mode a scope also stays for ten minutes after its last throttle, and
	// one that is in use keeps its send rate, as in the AWS SDKs, for life:
	// limiting never goes off again, and the rate is at most twice what is measured. A
	// scope that was throttled once and has sent one good request in 5 s for a day is
	// at half an attempt a second, and a burst of 50 then takes 6.5 to 6.8 s, where it
	// takes no time in a scope that was dropped in between or never throttled. Where
	// bursts come after long pauses, make ScopeIdle less than half of such a pause.
	ScopeIdle time.Duration
	// SharedAs names the strategy in snapshots, for one that several clients share;
	// empty for any other. It changes nothing else.
	SharedAs string
}

// Check returns an error that names every field that is out of range.
func (c Config) Check() error {
	var errs []error
	if c.Behavior != "" && !c.Behavior.Valid() {
		errs = append(errs, fmt.Errorf("standard: Behavior %q: must be %q or %q", c.Behavior, retry.V20, retry.V21))
	}
	if !c.Jitter.Valid() {
		errs = append(errs, fmt.Errorf("standard: Jitter %d: unknown kind", c.Jitter))
	}
	if rate := float64(c.QuotaRefill); !(rate >= 0) || math.IsInf(rate, 0) {
		errs = append(errs, fmt.Errorf("standard: QuotaRefill %v: must be a finite number of 0 or more", rate))
	}
	for _, field := range []struct {
		name     string
		negative bool
		value    any
	}{
		{"MaxAttempts", c.MaxAttempts < 0, c.MaxAttempts},
		{"QuotaCapacity", valueOr(c.QuotaCapacity, 0) < 0, valueOr(c.QuotaCapacity, 0)},
		{"QuotaInitial", valueOr(c.QuotaInitial, 0) < 0, valueOr(c.QuotaInitial, 0)},
		{"RetryCost", c.RetryCost < 0, c.RetryCost},
		{"TimeoutCost", c.TimeoutCost < 0, c.TimeoutCost},
		{"ThrottlingCost", c.ThrottlingCost < 0, c.ThrottlingCost},
		{"MaxQuotaWait", c.MaxQuotaWait < 0, c.MaxQuotaWait},
		{"Base", c.Base < 0, c.Base},
		{"ThrottlingBase", c.ThrottlingBase < 0, c.ThrottlingBase},
		{"MaxBackoff", c.MaxBackoff < 0, c.MaxBackoff},
		{"MaxScopes", c.MaxScopes < 0, c.MaxScopes},
		{"ScopeIdle", c.ScopeIdle < 0, c.ScopeIdle},
	} {
		if field.negative {
			errs = append(errs, fmt.Errorf("standard: %s %v: must not be negative", field.name, field.value))
		}
	}
	return errors.Join(errs...)
}

// withDefaults fills in everything that does not depend on the operation.
func (c Config) withDefaults() Config {
	if c.Behavior == "" {
		c.Behavior = retry.V21
	}
	d := defaultsOf(c.Behavior, "")
	c.QuotaCapacity = new(valueOr(c.QuotaCapacity, DefaultQuotaCapacity))
	c.QuotaInitial = new(valueOr(c.QuotaInitial, *c.QuotaCapacity))
	setDefault(&c.RetryCost, d.retryCost)
	setDefault(&c.TimeoutCost, d.timeoutCost)
	setDefault(&c.ThrottlingCost, d.throttlingCost)
	setDefault(&c.ThrottlingBase, d.throttlingBase)
	setDefault(&c.MaxBackoff, backoff.DefaultMax)
	if c.Random == nil {
		c.Random = rand.Float64
	}
	if c.Classifier == nil {
		c.Classifier = classify.Default()
	}
	if c.Clock == nil {
		c.Clock = clock.System{}
	}
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func valueOr(p *int, value int) int {
	if p == nil {
		return value
	}
	return *p
}

// DefaultQuotaCapacity is the size of a retry quota in both generations.
const DefaultQuotaCapacity = 500

type defaults struct {
	maxAttempts                            int
	retryCost, timeoutCost, throttlingCost int
	base, throttlingBase                   time.Duration
}

// defaultsOf returns the numbers of a generation for a service.
func defaultsOf(b retry.Behavior, service string) defaults {
	if b == retry.V20 {
		return defaults{
			maxAttempts: 3,
			retryCost:   5, timeoutCost: 10, throttlingCost: 5,
			base: time.Second, throttlingBase: time.Second,
		}
	}
	d := defaults{
		maxAttempts: 3,
		retryCost:   14, timeoutCost: 14, throttlingCost: 5,
		base: 50 * time.Millisecond, throttlingBase: time.Second,
	}
	if isDynamoDB(service) {
		d.maxAttempts, d.base = 4, 25*time.Millisecond
	}
	return d
}

// isDynamoDB knows DynamoDB and DynamoDB Streams as endpoints, clients and models
// spell them.
func isDynamoDB(service string) bool {
	for _, name := range [...]string{"dynamodb", "dynamodb-streams", "dynamodb streams", "dynamodb_streams", "dynamodbstreams"} {
		if service == name || len(service) == len(name) && strings.EqualFold(service, name) {
			return true
		}
	}
	return false
}
