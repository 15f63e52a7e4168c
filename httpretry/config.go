package httpretry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/retry"
)

// Config describes a Transport. Only Strategy has to be set.
type Config struct {
	// Strategy decides about retries. It is shared by all requests.
	Strategy retry.Strategy
	// Base makes the attempts; nil means http.DefaultTransport.
	Base http.RoundTripper

	// Operation says what a request is to the strategy: its scope, its service, its
	// limits. It must not change the request. Nil means HostOperation.
	Operation func(r *http.Request) retry.Operation
	// MaxAttempts, if not zero, is how many attempts a request may have, the first
	// included, whatever Operation and Strategy say; 1 means no retry.
	MaxAttempts int
	// Idempotent says whether a request may be executed twice. Where it may not, only
	// failures are retried that say that it was not executed. Nil means the function
	// Idempotent. An AWS SDK takes every request for idempotent.
	Idempotent func(r *http.Request) bool
	// Policy, if not nil, judges each attempt before the strategy does, see
	// [retry.WithPolicy]. The error is a [*ResponseError] beside a response with a status of
	// 400 or more. A policy that reads the body has to put it back. An error of [retry.Mark]
	// overrides Idempotent.
	Policy func(response *http.Response, err error) error

	// AttemptTimeout, if positive, is how long an attempt may take on the clock until
	// the headers of its response are there and, if it failed, what is read of the
	// body to judge it and to use its connection again. Its end is a failure that is
	// retried as a timeout. The body of the response that is returned may take
	// longer: only the request's context bounds it.
	AttemptTimeout time.Duration

	// RefusalAsError returns the *retry.Error, in which errors.As finds the
	// *ResponseError, instead of a response with which the client gave up. A response
	// that nobody wants retried, such as 404, is returned as ever.
	RefusalAsError bool
	// SDKHeaders adds the headers that AWS SDKs send: amz-sdk-invocation-id, the same
	// for all attempts of a request unless it has one already, and amz-sdk-request
	// with the number of the attempt, how many there may be, if Operation,
	// MaxAttempts or a method MaxAttempts of the strategy says so, and the
	// deadline of the attempt, if it has one.
	SDKHeaders bool

	// Clock reads dates in Retry-After and limits attempts; nil means that of the
	// strategy, if it has a method Clock, else clock.System.
	Clock clock.Clock
}

// Validate returns an error that names every field that is out of range, with its value; nil
// if there is none.
func (c Config) Validate() error {
	var errs []error
	if c.Strategy == nil {
		errs = append(errs, errors.New("httpretry: Strategy: must be set"))
	} else if err := retry.CheckStrategy(c.Strategy); err != nil {
		errs = append(errs, fmt.Errorf("httpretry: Strategy: %w", err))
	}
	if c.MaxAttempts < 0 {
		errs = append(errs, fmt.Errorf("httpretry: MaxAttempts %d: must not be negative", c.MaxAttempts))
	}
	if c.AttemptTimeout < 0 {
		errs = append(errs, fmt.Errorf("httpretry: AttemptTimeout %v: must not be negative", c.AttemptTimeout))
	}
	return errors.Join(errs...)
}

func (c *Config) base() http.RoundTripper {
	if c.Base == nil {
		return http.DefaultTransport
	}
	return c.Base
}

func (c *Config) clock() clock.Clock {
	if c.Clock != nil {
		return c.Clock
	}
	return c.Strategy.Clock()
}

func (c *Config) operation(r *http.Request) retry.Operation {
	operation := HostOperation
	if c.Operation != nil {
		operation = c.Operation
	}
	op := operation(r)
	if c.MaxAttempts > 0 {
		op.MaxAttempts = c.MaxAttempts
	}
	return op
}

func (c *Config) idempotent(r *http.Request) bool {
	if c.Idempotent != nil {
		return c.Idempotent(r)
	}
	return Idempotent(r)
}

// With returns a context whose requests are made with a Config that edit has
// changed: one attempt only, a longer AttemptTimeout, another scope. Edits of an
// outer context come first. What edit gets is a copy; a value of it that is out of
// range is the error of the request.
func With(ctx context.Context, edit func(c *Config)) context.Context {
	return context.WithValue(ctx, editsKey{}, &edits{outer: editsOf(ctx), edit: edit})
}

type editsKey struct{}

type edits struct {
	outer *edits
	edit  func(c *Config)
}

func editsOf(ctx context.Context) *edits {
	e, _ := ctx.Value(editsKey{}).(*edits)
	return e
}

func (e *edits) apply(c *Config) {
	if e != nil {
		e.outer.apply(c)
		e.edit(c)
	}
}

// in returns the Config for requests with the context.
func (c *Config) in(ctx context.Context) (*Config, error) {
	changes := editsOf(ctx)
	if changes == nil {
		return c, nil
	}
	changed := *c
	changes.apply(&changed)
	return &changed, changed.Validate()
}
