package httpretry

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/retry"
)

// Config describes a [Transport]. Only Strategy has to be set.
type Config struct {
	// Strategy decides which requests are sent again, how often and when. Other clients may share
	// it. MaxHint of standard.Config limits what a hint of the server, such as Retry-After, may
	// ask for.
	Strategy retry.Strategy
	// Base makes the attempts, each with one call of its RoundTrip. The body of a failed
	// response may be closed during a Read, as those of net/http may. Nil means
	// [http.DefaultTransport].
	Base http.RoundTripper

	// Operation describes a request to the strategy: which requests share a retry quota and a
	// send rate, and which limits the request has. It is called once for each request, must not
	// change it, and must be safe for concurrent use. Nil means [HostOperation].
	Operation func(r *http.Request) retry.Operation
	// MaxAttempts is the number of attempts of a request, the first included; 1 means no retry.
	// It overrides Operation and Strategy, but not [retry.Once]. Zero means that they decide.
	MaxAttempts int
	// Idempotent reports whether a request may be executed twice. Other requests are retried
	// only if the failure says that the server did not execute them. It must be safe for
	// concurrent use. Nil means the function [Idempotent]. AWS SDKs retry every request, as if
	// it returned true.
	Idempotent func(r *http.Request) bool
	// Policy judges each attempt before the strategy does, see [retry.WithPolicy]. With a
	// response of status 400 or more, err is a [*ResponseError]. A policy that reads the body
	// must put it back. An error of [retry.Mark] asks for a retry even if Idempotent reports
	// false. It must be safe for concurrent use. Nil means no policy.
	Policy func(response *http.Response, err error) error

	// AttemptTimeout limits the time of each attempt until the headers of its response arrive, for
	// example with a [retry.FixedTimeout]. For a failed response it includes what the Transport reads
	// of the body. It does not limit reading the body of the response that RoundTrip returns. An
	// attempt that takes longer is retried as a timeout. The server may have carried it out. Nil
	// means no limit.
	//
	// While a request body is sent, the time starts again with each part. What was sent waits in the
	// kernel, where its progress cannot be seen. So a body above 64 KiB also adds its size at
	// 128 KiB a second to the time: 40 s for 5 MiB. A body of unknown size has no limit.
	AttemptTimeout retry.AttemptTimeout

	// RefusalAsError makes RoundTrip return the error of [Refusal] instead of the response if the
	// client gave up on a retryable failure: attempts, quota or time were used up, or the request
	// must not be sent again. Other responses, such as one with status 404, come back as responses.
	RefusalAsError bool
	// SDKHeaders adds the headers of AWS SDKs to each attempt: amz-sdk-invocation-id, which is
	// the same for all attempts of a request and is left alone if the request has it, and
	// amz-sdk-request with the number of the attempt, the largest number and the deadline.
	SDKHeaders bool
}

// validate returns an error that names every field that is out of range; nil if there is
// none.
func (c Config) validate() error {
	var errs []error
	if c.Strategy == nil {
		errs = append(errs, errors.New("httpretry: Strategy: must be set"))
	} else if err := retry.CheckStrategy(c.Strategy); err != nil {
		errs = append(errs, fmt.Errorf("httpretry: Strategy: %w", err))
	}
	if c.MaxAttempts < 0 {
		errs = append(errs, fmt.Errorf("httpretry: MaxAttempts %d: must not be negative", c.MaxAttempts))
	}
	if err := retry.CheckTimeout(c.AttemptTimeout); err != nil {
		errs = append(errs, fmt.Errorf("httpretry: AttemptTimeout: %w", err))
	}
	return errors.Join(errs...)
}

func (c *Config) base() http.RoundTripper {
	if c.Base == nil {
		return http.DefaultTransport
	}
	return c.Base
}

func (c *Config) clock() clock.Clock { return c.Strategy.Clock() }

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

// With returns a context that changes the Config for its requests: fewer attempts, a longer
// AttemptTimeout, another scope. edit gets a copy of the Config, after the edits of outer
// contexts. If a field is out of range after all edits, the request fails with that error.
// edit must be safe for concurrent use if requests are made at the same time. Nil changes
// nothing.
func With(ctx context.Context, edit func(c *Config)) context.Context {
	if edit == nil {
		return ctx
	}
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
	return &changed, changed.validate()
}
