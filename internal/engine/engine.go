// Package engine is the one loop behind the retry modes. Standard mode is an Engine without a limiter: a limit on attempts,
// a retry quota and a backoff. Adaptive mode is an Engine with one: each attempt also takes a send token.
package engine

import (
	"cmp"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/backoff"
	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/internal/serviceid"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// Config describes an Engine. Every field is set, except those that may be nil or zero.
type Config struct {
	Clock      clock.Clock
	Observer   retry.Observer // or nil
	Classifier classify.Classifier
	Service    string // of operations that do not name theirs, or empty
	SharedAs   string // or empty
	Behavior   retry.Behavior

	// Plan has the numbers of operations, and DynamoDB those of operations of DynamoDB and DynamoDB Streams.
	Plan, DynamoDB retry.Plan
	MaxHint        time.Duration
	MaxFullHint    time.Duration // a hint that counts in full and is longer ends the operation
	Jitter         backoff.Jitter
	Random         func() float64
	// HintInWindow keeps a server hint within a window above the backoff. Otherwise the hint, up to
	// MaxHint, is a floor for the delay. LongPollingSleeps makes a long poll that the quota refuses
	// sleep its backoff first; BackoffWhenEmpty does so for any operation.
	HintInWindow, LongPollingSleeps, BackoffWhenEmpty bool

	// Scope returns the key of an operation; nil means retry.Operation.Key.
	Scope func(op retry.Operation) retry.ScopeKey
	// Scopes describes the scopes. New sets their clock and start.
	Scopes       limit.TableConfig
	MaxQuotaWait time.Duration // zero: a retry without quota is refused at once
	// Send is the request of each attempt to its limiter.
	Send ratelimit.Request
}

// Engine is a retry strategy. It is safe for concurrent use. Use New.
type Engine struct {
	config  Config
	reading instant.Readings
	records sync.Pool
	scopes  *limit.Table
	ids     atomic.Uint64 // of operations; used only with an observer
}

// New returns an engine. It fails if something is wrong with the limiter of the engine as a whole.
func New(config Config) (retry.Strategy, error) {
	e := &Engine{config: config, reading: instant.NewReadings(config.Clock)}
	config.Scopes.Clock, config.Scopes.Start = config.Clock, config.Clock.Now()
	e.scopes = limit.NewTable(config.Scopes)
	e.ids.Store(rand.Uint64()) //nolint:gosec // not a secret
	if err := e.scopes.Whole.Err; err != nil {
		return nil, err
	}
	return e, nil
}

// Clock returns the clock of the engine.
func (e *Engine) Clock() clock.Clock { return e.config.Clock }

// Judge returns what the classifiers say of a failure.
func (e *Engine) Judge(op retry.Operation, failure error) classify.Verdict {
	return e.judge(&op, 0, failure, false)
}

// Plan returns the numbers of an operation.
func (e *Engine) Plan(op retry.Operation) retry.Plan {
	plan := *e.plan(&op)
	plan.MaxAttempts, plan.MaxElapsed = limits(&op, &plan)
	return plan
}

// Snapshot returns the state of all scopes.
func (e *Engine) Snapshot() retry.Snapshot {
	snapshot := e.scopes.Snapshot()
	snapshot.Behavior, snapshot.SharedAs, snapshot.Mode = e.config.Behavior, e.config.SharedAs, "standard"
	if e.config.Scopes.NewLimiter != nil {
		snapshot.Mode = "adaptive"
	}
	return snapshot
}

// service returns the service of an operation.
func (e *Engine) service(op *retry.Operation) string {
	return cmp.Or(op.Service, e.config.Service)
}

// plan returns the numbers of the service of an operation.
func (e *Engine) plan(op *retry.Operation) *retry.Plan {
	if serviceid.IsDynamoDB(e.service(op)) {
		return &e.config.DynamoDB
	}
	return &e.config.Plan
}

// limits returns how many attempts an operation may have, and the time within which they may begin; 0 means no limit.
func limits(op *retry.Operation, plan *retry.Plan) (attempts int, elapsed time.Duration) {
	attempts, elapsed = plan.MaxAttempts, plan.MaxElapsed
	if op.MaxAttempts != 0 {
		attempts = max(op.MaxAttempts, 1)
	}
	if op.MaxElapsed > 0 && (elapsed == 0 || op.MaxElapsed < elapsed) {
		elapsed = op.MaxElapsed
	}
	return attempts, elapsed
}
