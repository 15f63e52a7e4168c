package awssdk

import (
	"reflect"
	"slices"

	"github.com/aws/smithy-go/metrics"
	"github.com/aws/smithy-go/tracing"
)

// WithMeterProvider sets the MeterProvider of all clients made from the config later; aws.Config has
// no field for it. With [LoadDefaultConfig] the clients of STS, SSO and SSO OIDC that fetch the
// credentials of the config have it too. A nil p changes nothing.
//
// A MeterProvider in the options of a client or a call, or one set by a function of cfg.ServiceOptions,
// overrides p; metrics.NopMeterProvider there turns the metrics of a client off. It does not work for
// the clients that fetch credentials: the SDK runs no function of cfg.ServiceOptions for them, and p
// replaces their metrics.NopMeterProvider.
//
// Clients whose options have no MeterProvider have no metrics: IMDS, the container endpoint, and clients
// released before September 2024. Neither has the client for the credentials of aws login.
//
// The SDK counts attempts in client.call.attempts and failed ones in client.call.errors. Both count
// attempts that the strategy refuses before they are sent. client.call.attempt_duration includes the
// wait for the send rate before an attempt and the backoff after it, because the SDK's loop waits
// inside its attempts. [retry.Event] has these times apart.
//
// For OpenTelemetry, use package github.com/aws/smithy-go/metrics/smithyotelmetrics or copy
// lab/telemetry/example_test.go of this repository. p must be safe for concurrent use. [Load] returns an
// error for this option, because a retryer cannot set the providers of clients.
func WithMeterProvider(p metrics.MeterProvider) Option {
	return optionFunc(func(o *options) {
		if p != nil {
			o.providers.meters = p
		}
	})
}

// WithTracerProvider sets the TracerProvider of the same clients as [WithMeterProvider], with the same
// overrides. A nil p changes nothing.
//
// Each call has a span with the name of service and operation, such as "DynamoDB.GetItem". It contains
// a span "RetryLoop", which contains an "Attempt" for each attempt. An "Attempt" includes the same waits
// as client.call.attempt_duration. The context that a [retry.Observer] gets descends from the context of
// the caller and has the span of the call, which ends after all events of the operation.
//
// The clients of IMDS and of the container endpoint have no TracerProvider. While they fetch credentials
// for a call, they take its tracer from the context, so their spans are inside that of the call.
//
// For OpenTelemetry, use package github.com/aws/smithy-go/tracing/smithyoteltracing or copy
// lab/telemetry/example_test.go of this repository. p must be safe for concurrent use. [Load] returns an
// error for this option.
func WithTracerProvider(p tracing.TracerProvider) Option {
	return optionFunc(func(o *options) {
		if p != nil {
			o.providers.tracers = p
		}
	})
}

// providers are for the clients of a config. Those that are nil change nothing.
type providers struct {
	meters  metrics.MeterProvider
	tracers tracing.TracerProvider
}

func (p providers) given() bool { return p.meters != nil || p.tracers != nil }

// before returns the ServiceOptions of a config with the function that gives the providers. It runs
// first, so that all other functions override it.
func (p providers) before(others []func(string, any)) []func(string, any) {
	return slices.Concat([]func(string, any){p.give}, others)
}

// give sets the providers of a new client that has none. A client sets its defaults before the
// functions of ServiceOptions and those of its own options run.
func (p providers) give(_ string, clientOptions any) {
	if field, ok := fieldOf[metrics.MeterProvider](clientOptions, "MeterProvider"); ok && p.meters != nil {
		switch field.Interface().(type) {
		case nil, metrics.NopMeterProvider:
			field.Set(reflect.ValueOf(p.meters))
		}
	}
	if field, ok := fieldOf[tracing.TracerProvider](clientOptions, "TracerProvider"); ok && p.tracers != nil {
		switch field.Interface().(type) {
		case nil, *tracing.NopTracerProvider:
			field.Set(reflect.ValueOf(p.tracers))
		}
	}
}

// fieldOf returns a field of type T of the options of a client, which clientOptions points to, because
// there is no interface for them. It reports false for options without such a field.
func fieldOf[T any](clientOptions any, name string) (reflect.Value, bool) {
	v := reflect.ValueOf(clientOptions)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return reflect.Value{}, false
	}
	field := v.Elem().FieldByName(name)
	return field, field.IsValid() && field.Type() == reflect.TypeFor[T]()
}
