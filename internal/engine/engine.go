// Package engine is the one loop behind the retry modes. Standard mode is an Engine
// without a limiter: a limit on attempts, a retry quota and a backoff. Adaptive mode is
// an Engine with one: each attempt takes a send token besides.
package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/awsretry/awsretry/backoff"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// Config describes an Engine. All of it is set, but for what may be nil or zero.
type Config struct {
	Clock      clock.Clock
	Observer   retry.Observer // or nil
	Classifier classify.Classifier
	Service    string // of operations that do not name theirs, or empty
	SharedAs   string // or empty

	// Defaults are the numbers of a service.
	Defaults    func(service string) Defaults
	MaxAttempts int           // zero: that of the service
	Base        time.Duration // zero: that of the service

	RetryCost, TimeoutCost, ThrottlingCost int
	ThrottlingBase, MaxBackoff             time.Duration
	Jitter                                 backoff.Jitter
	Random                                 func() float64
	// HintInWindow keeps the hint of a server within a window above the backoff, where
	// otherwise the hint is a floor for it. LongPollingSleeps lets long polling that the
	// quota refuses sleep its backoff first, BackoffWhenEmpty any operation.
	HintInWindow, LongPollingSleeps, BackoffWhenEmpty bool

	Quota        ratelimit.QuotaConfig
	MaxQuotaWait time.Duration // zero: a retry without quota is refused at once

	// Scope returns the key of an operation; nil means retry.Operation.Key.
	Scope     func(op retry.Operation) retry.ScopeKey
	MaxScopes int           // zero: defaultMaxScopes
	ScopeIdle time.Duration // zero: defaultScopeIdle
}

// Defaults are numbers that depend on the service.
type Defaults struct {
	MaxAttempts int
	Base        time.Duration
}

// Limiter holds attempts back and learns from their answers; see adaptive.Limiter.
type Limiter interface {
	Acquire(ctx context.Context, r ratelimit.Request) (sent time.Time, err error)
	Report(r ratelimit.Response) ratelimit.Change
	Expected(cost float64) time.Duration
	State() (state ratelimit.SendRateState, waiting int)
}

// Send is what makes an Engine one with a limiter.
type Send struct {
	// New makes the limiter of a scope; start is when the engine was built. An error is
	// that of each operation of the scope.
	New func(key retry.ScopeKey, start time.Time) (Limiter, error)
	// Request is that of each attempt.
	Request ratelimit.Request
}

// Engine is a retry strategy. It is safe for concurrent use. The verbs of the zero
// Engine, and of a nil one, return retry.ErrNoStrategy.
type Engine struct {
	config  Config
	reading clock.Readings
	start   time.Time
	send    Send // without New in standard mode
	records sync.Pool
	scopes  scopes
}

// New returns an engine without a limiter.
func New(config Config) *Engine {
	e := &Engine{config: config, reading: clock.NewReadings(config.Clock), start: config.Clock.Now()}
	e.scopes.whole = e.newScope(retry.ScopeKey{})
	e.scopes.begin(config.MaxScopes, config.ScopeIdle, e.start)
	return e
}

// Limit gives an engine that is not in use yet its limiters. It fails if the scope of
// the engine as a whole cannot have one.
func (e *Engine) Limit(send Send) error {
	e.send = send
	e.scopes.whole = e.newScope(retry.ScopeKey{})
	return e.scopes.whole.err
}

// Made reports whether a constructor has made the engine.
func (e *Engine) Made() bool { return e != nil && e.scopes.whole != nil }

// Config returns what the engine was made from; nil for one that was not made.
func (e *Engine) Config() *Config {
	if !e.Made() {
		return nil
	}
	return &e.config
}

// Clock returns the clock that the engine waits on; nil for one that was not made.
func (e *Engine) Clock() clock.Clock {
	if !e.Made() {
		return nil
	}
	return e.config.Clock
}

// MaxAttempts returns how many attempts an operation may have.
func (e *Engine) MaxAttempts(op *retry.Operation) int {
	switch {
	case !e.Made():
		return 0
	case op.MaxAttempts != 0:
		return max(op.MaxAttempts, 1)
	case e.config.MaxAttempts > 0:
		return e.config.MaxAttempts
	}
	return e.config.Defaults(e.service(op)).MaxAttempts
}

// Base returns the delay before the first retry of an operation after anything but a
// throttle.
func (e *Engine) Base(op *retry.Operation) time.Duration {
	if e.config.Base > 0 {
		return e.config.Base
	}
	return e.config.Defaults(e.service(op)).Base
}

func (e *Engine) service(op *retry.Operation) string {
	if op.Service != "" {
		return op.Service
	}
	return e.config.Service
}

var errNotMade = fmt.Errorf(
	"retry: %w: a strategy that no constructor has made: use what standard.New or adaptive.New returns", retry.ErrNoStrategy)
