package standard

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/backoff"
	"github.com/awsretry/awsretry/internal/engine"
	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// Config describes a strategy. Its zero value is the standard mode of behavior v2.1: a zero field
// means the default that its comment names. [New] returns an error for a number that is negative or
// NaN, except MaxAttempts.
//
// The defaults are those of the AWS SDKs; [retry.Behavior.Defaults] returns them.
type Config struct {
	// Behavior is the generation that the defaults come from; empty means [retry.V21].
	Behavior retry.Behavior
	// Service is the service id of operations that do not name theirs, such as "dynamodb".
	// It only selects defaults.
	Service string

	// MaxAttempts is how many attempts an operation may have, the first included; 1 means
	// no retry. Zero or less means 3, and 4 for DynamoDB and DynamoDB Streams unless Behavior is
	// [retry.V20].
	MaxAttempts int

	// MaxElapsed ends an operation with [retry.ErrMaxElapsed] if an attempt, including the first,
	// would begin later than this after the operation began. It does not cut an attempt short. Zero
	// means no limit. If [retry.Operation.MaxElapsed] is set too, the earlier end applies.
	MaxElapsed time.Duration

	// Base is the delay before the first retry, without jitter, after a failure that is not
	// a throttle. Each further retry doubles it. Zero means 50 ms, or 25 ms for DynamoDB and
	// DynamoDB Streams; in [retry.V20] zero means 1 s.
	Base time.Duration
	// ThrottlingBase is the same after a throttle. The failure before a retry decides which
	// of the two is doubled. Zero means 1 s.
	ThrottlingBase time.Duration
	// MaxBackoff is the longest delay without a server hint. Zero means 20 s. See MaxHint for what
	// a hint, such as Retry-After, adds.
	MaxBackoff time.Duration
	// MinDelay is the shortest backoff: if jitter gives a shorter one, the backoff is MinDelay. A
	// server hint counts from that backoff. Many such delays are equal, so operations that failed
	// together are spread less. Zero means none. It must not exceed MaxBackoff.
	MinDelay time.Duration
	// MaxHint is the longest delay that a hint of the server, such as x-amz-retry-after, may ask for. The
	// delay is then max(backoff, min(hint, MaxHint)). Zero means the rule of the behavior: in [retry.V21]
	// a hint makes the delay at most 5 s longer than the backoff, in [retry.V20] it counts up to
	// MaxBackoff. A hint never makes a delay shorter.
	//
	// A hint that counts in full, such as Retry-After in httpretry, is waited for in full. The delay is the hint plus
	// the longer of the backoff and a random part of up to a tenth of the hint. If the hint is above MaxHint, the
	// operation ends at once with [retry.ErrHintTooLong]; zero means one minute here. If it does not fit before the
	// deadline or MaxElapsed, the operation ends at once too.
	MaxHint time.Duration
	// Jitter is the kind of jitter. Zero means [Full].
	Jitter Jitter
	// Random returns a number from 0 to 1 for the jitter. One outside counts as the nearer end, and
	// NaN as 1. It must be safe for concurrent use. Nil means rand.Float64 of math/rand/v2.
	Random func() float64
	// Backoff returns the delay before the retry that follows a failure, in place of the one that
	// doubles and has jitter. attempt is the number of the attempt that failed, 1 for the first, and
	// err is its error, as for BackoffDelay of the AWS SDK. Nil means the delay that doubles.
	//
	// MinDelay and MaxBackoff, which is 20 s unless it is set, still limit the delay: a result outside
	// counts as the nearer of the two, so a negative one is no delay or MinDelay. A server hint then
	// makes the delay longer by the same rule as without Backoff. Base, ThrottlingBase and Jitter
	// beside Backoff are errors.
	//
	// Backoff must be safe for concurrent use. It is also called for a retry that is then refused for
	// lack of quota or time. If it panics, the panic goes to the caller, and the retry takes no quota.
	Backoff func(attempt int, err error) time.Duration

	// QuotaCapacity is the size of the retry quota of a scope, in tokens. Nil means 500. A
	// capacity of 0, as new(0), allows no retry at all.
	//
	// The scopes also share a pool, which starts empty. Tokens that a success or a refund would add
	// to a full quota go to the pool, and it pays for retries that the quota of a scope cannot pay
	// for. It holds a fifth of QuotaCapacity, but at least twice RetryCost and at most
	// QuotaCapacity. Operations with the zero [retry.ScopeKey] do not use it.
	QuotaCapacity *int
	// QuotaInitial is how many tokens a quota has at first, up to its capacity. Nil means a full
	// quota.
	QuotaInitial *int
	// RetryCost is how many tokens a retry takes after a failure that is neither a timeout
	// nor a throttle. Zero means 14; in [retry.V20] zero means 5.
	RetryCost int
	// TimeoutCost is how many tokens a retry takes after a timeout. Zero means 14; in
	// [retry.V20] zero means 10.
	TimeoutCost int
	// ThrottlingCost is how many tokens a retry takes after a throttle. Zero means 5.
	ThrottlingCost int
	// QuotaRefill is how many tokens per second a quota gains over time, regardless of outcomes.
	// Zero means none, as in the AWS SDKs.
	QuotaRefill ratelimit.Rate
	// MaxQuotaWait is how long a retry that the quota does not cover may wait for tokens, after its
	// backoff. Retries are served first come, first served, from their quota or from the pool, and no
	// retry is served past those that wait. Tokens that arrive exactly at the end are in time. Zero
	// refuses such a retry at once, as in the AWS SDKs.
	MaxQuotaWait time.Duration
	// BackoffWhenEmpty makes an operation that an empty quota refuses sleep its backoff before it
	// returns the error. That slows down a loop of failing operations. Without it only long-polling
	// operations sleep, and only in [retry.V21].
	BackoffWhenEmpty bool
	// DebtLimit lets a quota that lacks tokens pay for further retries only while retries help, so that many small
	// processes, each with a quota of its own, do not keep a service down after an outage. While retries fail, it grants
	// fewer than the AWS SDKs.
	//
	// At first a quota may lack what the dearest retry costs. Each success after a retry, and each first-attempt success
	// while tokens lack, allows as much again, up to QuotaCapacity and one retry. Each retry that fails takes six times as
	// much, down to the first. For a second after a retry from a full quota, nothing is refused. The DebtLimit of a
	// [retry.ScopeSnapshot] shows the limit in tokens.
	//
	// A refusal is a [retry.ErrQuotaExhausted] with the Detail [retry.ErrDebtLimit]. It takes no tokens from quota or pool,
	// and waits for none. A retry after a lost connection may still be lent.
	DebtLimit bool
	// NoQuota switches the retry quota off: retries cost nothing, so none is refused for lack of
	// tokens, however many fail. Quotas and pool then stay full in snapshots and events, and the
	// costs in a [retry.Plan] are zero. Beside it, all other fields of the quota, from QuotaCapacity
	// on, are errors.
	NoQuota bool

	// Classifier decides which failures are retried. Nil means [classify.Default].
	Classifier classify.Classifier
	// Clock is the clock that the strategy waits on. Nil means [clock.System].
	Clock clock.Clock
	// Observer receives the events of the strategy. Nil means none.
	Observer retry.Observer

	// Scope returns the key of the scope of an operation. Operations of one scope share a
	// retry quota and, in adaptive mode, a send rate. Nil means [retry.Operation.Key]. It
	// must be safe for concurrent use.
	Scope func(op retry.Operation) retry.ScopeKey
	// MaxScopes is how many scopes the strategy keeps. Beyond that, a new scope replaces one that was
	// not used lately. One that goes leaves its debt: the tokens that its quota lacks are taken from new scopes,
	// each its share for a free place, until no operation has ended in it for an hour. So
	// retries take at most MaxScopes quotas and what successes give back, however many keys there are. Where
	// all scopes owe, a new one begins empty, as each client of the AWS SDKs after an outage, and its
	// successes fill it; those of full quotas and a full pool pay the debt. Zero means 10,000.
	//
	// If no scope can go, because an operation waits in each or its SendLimit has not brought its burst
	// back, the operation uses one extra scope, which all such operations share.
	MaxScopes int
	// ScopeIdle is how long a scope must be idle, with no operation beginning or ending, before it
	// may be evicted although there is room. The next operation with its key gets a new scope, which has learned
	// nothing. Eviction runs when another scope is created, so it takes up to twice this time. An operation
	// in progress continues with the evicted scope. Zero means 5 minutes.
	//
	// The scope of the strategy as a whole is never evicted, nor is one in which an operation waits for quota or
	// for a send token. In adaptive mode a scope also stays for ten minutes after its last throttle, unless
	// another needs its place: then the one goes that was throttled longest ago.
	//
	// In adaptive mode a scope that stays in use keeps its send rate, as in the AWS SDKs: limiting
	// never turns off again, and the rate is at most twice the measured rate. A scope that was
	// throttled once and then made one successful request every 5 s for a day allows half an
	// attempt a second. A burst of 50 then takes 6.5 to 6.8 s; if the scope was evicted before, it
	// takes no time. If your bursts come after long pauses, make ScopeIdle less than half of such a
	// pause.
	ScopeIdle time.Duration

	// SharedAs names the strategy in snapshots. Set it for a strategy that several clients share.
	// It has no other effect.
	SharedAs string
}

// Validate returns an error that names every field out of range and its value; nil if there is
// none.
func (c Config) Validate() error {
	var errs []error
	if c.Behavior != "" && c.Behavior != retry.V20 && c.Behavior != retry.V21 {
		errs = append(errs, fmt.Errorf("standard: Behavior %q: must be %q or %q", c.Behavior, retry.V20, retry.V21))
	}
	if !c.Jitter.kind().Valid() {
		errs = append(errs, fmt.Errorf("standard: Jitter %d: unknown kind", c.Jitter))
	}
	if rate := float64(c.QuotaRefill); !(rate >= 0) || math.IsInf(rate, 0) {
		errs = append(errs, fmt.Errorf("standard: QuotaRefill %v: must be a finite number of 0 or more", rate))
	}
	if longest := cmp.Or(c.MaxBackoff, c.Behavior.Defaults(c.Service).MaxBackoff); c.MinDelay > longest && longest > 0 {
		errs = append(errs, fmt.Errorf("standard: MinDelay %v: must not be above MaxBackoff, which is %v", c.MinDelay, longest))
	}
	for _, field := range []struct {
		name     string
		negative bool
		value    any
	}{
		{"MaxElapsed", c.MaxElapsed < 0, c.MaxElapsed},
		{"Base", c.Base < 0, c.Base},
		{"ThrottlingBase", c.ThrottlingBase < 0, c.ThrottlingBase},
		{"MaxBackoff", c.MaxBackoff < 0, c.MaxBackoff},
		{"MinDelay", c.MinDelay < 0, c.MinDelay},
		{"MaxHint", c.MaxHint < 0, c.MaxHint},
		{"QuotaCapacity", valueOr(c.QuotaCapacity, 0) < 0, valueOr(c.QuotaCapacity, 0)},
		{"QuotaInitial", valueOr(c.QuotaInitial, 0) < 0, valueOr(c.QuotaInitial, 0)},
		{"RetryCost", c.RetryCost < 0, c.RetryCost},
		{"TimeoutCost", c.TimeoutCost < 0, c.TimeoutCost},
		{"ThrottlingCost", c.ThrottlingCost < 0, c.ThrottlingCost},
		{"MaxQuotaWait", c.MaxQuotaWait < 0, c.MaxQuotaWait},
		{"MaxScopes", c.MaxScopes < 0, c.MaxScopes},
		{"ScopeIdle", c.ScopeIdle < 0, c.ScopeIdle},
	} {
		if field.negative {
			errs = append(errs, fmt.Errorf("standard: %s %v: must not be negative", field.name, field.value))
		}
	}
	if c.NoQuota {
		errs = append(errs, c.unused("NoQuota (option WithoutQuota)", "QuotaCapacity", "QuotaInitial", "RetryCost", "TimeoutCost",
			"ThrottlingCost", "QuotaRefill", "MaxQuotaWait", "BackoffWhenEmpty", "DebtLimit"))
	}
	if c.Backoff != nil {
		errs = append(errs, c.unused("Backoff", "Base", "ThrottlingBase", "Jitter"))
	}
	return errors.Join(errs...)
}

// unused returns an error for each of the fields that is set although it has no effect beside
// another one; nil if there is none.
func (c Config) unused(beside string, fields ...string) error {
	var errs []error
	for _, name := range fields {
		if value := reflect.ValueOf(c).FieldByName(name); !value.IsZero() {
			errs = append(errs, fmt.Errorf("standard: %s %v: has no effect beside %s", name, reflect.Indirect(value), beside))
		}
	}
	return errors.Join(errs...)
}

// Engine returns the config with its defaults as the config of an engine. It is for package
// adaptive.
func (c Config) Engine() engine.Config {
	behavior := cmp.Or(c.Behavior, retry.V21)
	made := engine.Config{
		Clock:             c.Clock,
		Observer:          c.Observer,
		Classifier:        c.Classifier,
		Service:           c.Service,
		SharedAs:          c.SharedAs,
		Behavior:          behavior,
		Plan:              c.over(behavior.Defaults("")),
		DynamoDB:          c.over(behavior.Defaults("dynamodb")),
		Jitter:            c.Jitter.kind(),
		Random:            c.Random,
		HintInWindow:      behavior != retry.V20 && c.MaxHint == 0,
		LongPollingSleeps: behavior != retry.V20,
		BackoffWhenEmpty:  c.BackoffWhenEmpty,
		MaxQuotaWait:      c.MaxQuotaWait,
		Scope:             c.Scope,
	}
	made.MaxHint = cmp.Or(c.MaxHint, made.Plan.MaxBackoff)
	made.MaxFullHint = cmp.Or(c.MaxHint, backoff.HintLimit)
	plan, waits := &made.Plan, c.MaxQuotaWait > 0
	made.Scopes = limit.TableConfig{
		Quota: limit.QuotaConfig{
			Capacity: plan.QuotaCapacity, Initial: valueOr(c.QuotaInitial, plan.QuotaCapacity), Refill: c.QuotaRefill, Waits: waits,
		},
		Pool: limit.PoolOf(plan.QuotaCapacity, plan.RetryCost, waits),
		Max:  c.MaxScopes, Idle: c.ScopeIdle,
	}
	if c.DebtLimit {
		made.Scopes.Quota.DebtStep = max(plan.RetryCost, plan.TimeoutCost, plan.ThrottlingCost)
	}
	if c.Clock == nil {
		made.Clock = clock.System{}
	}
	if c.Classifier == nil {
		made.Classifier = classify.Default()
	}
	if c.Random == nil {
		made.Random = rand.Float64
	}
	return made
}

// over returns p with the numbers that the config sets.
func (c Config) over(p retry.Plan) retry.Plan {
	if c.NoQuota {
		p.RetryCost, p.TimeoutCost, p.ThrottlingCost = 0, 0, 0
	}
	p = retry.Plan{
		MaxAttempts:    cmp.Or(max(c.MaxAttempts, 0), p.MaxAttempts),
		QuotaCapacity:  valueOr(c.QuotaCapacity, p.QuotaCapacity),
		RetryCost:      cmp.Or(c.RetryCost, p.RetryCost),
		TimeoutCost:    cmp.Or(c.TimeoutCost, p.TimeoutCost),
		ThrottlingCost: cmp.Or(c.ThrottlingCost, p.ThrottlingCost),
		DebtLimit:      c.DebtLimit,
		Base:           cmp.Or(c.Base, p.Base),
		ThrottlingBase: cmp.Or(c.ThrottlingBase, p.ThrottlingBase),
		MinDelay:       c.MinDelay,
		MaxBackoff:     cmp.Or(c.MaxBackoff, p.MaxBackoff),
		MaxElapsed:     c.MaxElapsed,
	}
	if c.Backoff != nil {
		shortest, longest := p.MinDelay, p.MaxBackoff
		p.Base, p.ThrottlingBase = 0, 0
		p.Backoff = func(attempt int, err error) time.Duration {
			return min(max(c.Backoff(attempt, err), shortest), longest)
		}
	}
	return p
}

func valueOr(p *int, value int) int {
	if p == nil {
		return value
	}
	return *p
}
