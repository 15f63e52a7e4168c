package awssdk

import (
	"errors"
	"reflect"
	"slices"

	"github.com/aws/smithy-go/metrics"
	"github.com/aws/smithy-go/tracing"
)

// WithMeterProvider sets the MeterProvider of all clients that are made from the config later.
// aws.Config has no field for it. With [LoadDefaultConfig] p is also set for the clients that fetch
// the credentials of the config: those of STS, SSO and SSO OIDC. A nil p is as if the option were
// absent.
//
// A MeterProvider overrides p if it is in the own options of a client or of a call, or if a function
// of cfg.ServiceOptions sets it. There, metrics.NopMeterProvider switches the metrics of a client off.
// The clients that fetch credentials are an exception: the SDK runs no function of cfg.ServiceOptions
// for them, and p replaces a metrics.NopMeterProvider of theirs.
// Clients whose options have no MeterProvider stay as they are: those of the instance metadata service
// (IMDS) and of the container endpoint, and those released before September 2024. The client for the
// credentials of aws login is out of reach, too.
//
// The SDK counts attempts as client.call.attempts and failed ones as client.call.errors. An attempt
// that the strategy refuses before it is sent counts too. client.call.attempt_duration contains the
// wait for the send rate before an attempt and the backoff after it, because the loop of the SDK waits
// inside its attempts. [retry.Event] tells these times apart.
//
// Package smithyotelmetrics, the module github.com/aws/smithy-go/metrics/smithyotelmetrics, makes such
// a provider from one of OpenTelemetry, and so does the code on the page about clients. p must be safe
// for concurrent use. [Load] returns an error for this option, because a retryer cannot set the
// providers of clients.
func WithMeterProvider(p metrics.MeterProvider) Option {
	return optionFunc(func(o *options) {
		if p != nil {
			o.providers.meters = p
		}
	})
}

// WithTracerProvider sets the TracerProvider of the same clients as [WithMeterProvider], and is
// overridden likewise. A nil p is as if the option were absent.
//
// Each call has a span that is named after service and operation, such as "DynamoDB.GetItem". In it is
// the span "RetryLoop", and in that one is an "Attempt" for each attempt. An "Attempt" contains the same
// waits as client.call.attempt_duration. The context that a [retry.Observer] gets has the span of the
// call, which ends after all events of the operation. It descends from the context of the caller.
//
// The client of IMDS and that of the container endpoint have no TracerProvider. While they fetch
// credentials for a call, their spans are in that of the call, because they take its tracer from the
// context.
//
// Package smithyoteltracing, the module github.com/aws/smithy-go/tracing/smithyoteltracing, makes such
// a provider from one of OpenTelemetry, and so does the code on the page about clients. p must be safe
// for concurrent use. [Load] returns an error for this option.
func WithTracerProvider(p tracing.TracerProvider) Option {
	return optionFunc(func(o *options) {
		if p != nil {
			o.providers.tracers = p
		}
	})
}

var errProviders = errors.New("awssdk: WithMeterProvider and WithTracerProvider have no effect in Load: use LoadDefaultConfig or Install")

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
