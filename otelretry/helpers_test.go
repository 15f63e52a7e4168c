package otelretry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/otelretry"
	"github.com/awsretry/awsretry/retry"
)

// serviceError is an error as that of a service of AWS.
type serviceError string

func (e serviceError) Error() string     { return "the service said " + string(e) }
func (e serviceError) ErrorCode() string { return string(e) }

var getItem = retry.Operation{Service: "dynamodb", Region: "eu-central-1", Name: "GetItem", Resource: "orders"}

func newTelemetry(t testing.TB, c otelretry.Config) *otelretry.Telemetry {
	t.Helper()
	telemetry, err := otelretry.New(c)
	require.NoError(t, err)
	return telemetry
}

// play makes an outage of a few seconds: calls that succeed, are throttled, wait for the send rate, fail
// for good and run out of attempts. Jitter is one half.
func play(t testing.TB, provider metric.MeterProvider) {
	t.Helper()
	telemetry := newTelemetry(t, otelretry.Config{MeterProvider: provider})
	clk := &clock.Fake{}
	strategy, err := adaptive.New(adaptive.Config{Standard: standard.Config{
		Clock: clk, Observer: telemetry, Random: func() float64 { return 0.5 },
	}})
	require.NoError(t, err)
	require.NoError(t, telemetry.Watch(strategy))

	call := func(op retry.Operation, answers ...error) (err error) {
		clk.Run(func() {
			err = retry.DoErr(t.Context(), strategy, op, func(context.Context) error {
				clk.Advance(20 * time.Millisecond)
				answer := answers[0]
				answers = answers[1:]
				return answer
			})
		})
		return err
	}
	throttled, broken := serviceError("ThrottlingException"), retry.Mark(serviceError("InternalServerError"), classify.Server)
	putItem := getItem
	putItem.Name = "PutItem"
	require.NoError(t, call(getItem, nil))
	require.NoError(t, call(getItem, nil))
	require.NoError(t, call(putItem, throttled, throttled, nil))
	require.ErrorIs(t, call(putItem, serviceError("ConditionalCheckFailedException")), serviceError("ConditionalCheckFailedException"))
	require.ErrorIs(t, call(getItem, broken, broken, broken, broken), retry.ErrAttemptsExhausted)
	require.Error(t, call(retry.Operation{}, errors.New("no code")))
}
