package proptest_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// drawConfig draws a configuration, many fields of it left to their defaults, and
// the number that its random source returns, in parts of jitterParts.
func drawConfig(t *rapid.T) (config standard.Config, jitter int) {
	jitter = drawInt(t, 0, jitterParts, "jitter")
	config = standard.Config{
		Behavior:         drawFrom(t, "behavior", "", retry.V20, retry.V21),
		Service:          drawFrom(t, "service", "", "s3", "dynamodb"),
		MaxAttempts:      drawInt(t, 0, 6, "max attempts"),
		BackoffWhenEmpty: drawBool(t, "backoff when empty"),
		RetryCost:        drawFrom(t, "retry cost", 0, 1, 7),
		TimeoutCost:      drawFrom(t, "timeout cost", 0, 2, 9),
		ThrottlingCost:   drawFrom(t, "throttling cost", 0, 1, 8),
		Base:             drawFrom(t, "base", 0, time.Nanosecond, 30*time.Millisecond, 7*time.Second),
		ThrottlingBase:   drawFrom(t, "throttling base", 0, 333*time.Millisecond, time.Minute),
		MaxBackoff:       drawFrom(t, "max backoff", 0, time.Millisecond, 3*time.Second, 5*time.Minute),
		MaxHint:          drawFrom(t, "max hint", 0, 0, time.Millisecond, 4*time.Second, 2*time.Hour),
		Jitter:           drawFrom(t, "jitter kind", standard.Full, standard.NoJitter),
		Random:           func() float64 { return float64(jitter) / jitterParts },
		ScopeIdle:        forEver, // the models forget nothing
	}
	if drawBool(t, "shortest delay") {
		longest := or(config.MaxBackoff, 20*time.Second)
		config.MinDelay = drawFrom(t, "min delay", time.Nanosecond, longest/3, longest)
	}
	if drawBool(t, "small quota") {
		config.QuotaCapacity = new(drawInt(t, 0, 40, "capacity"))
	}
	if drawBool(t, "partly filled") {
		config.QuotaInitial = new(drawInt(t, 0, 40, "initial"))
	}
	if drawBool(t, "refills") {
		config.QuotaRefill = ratelimit.Rate(drawInt(t, 0, 40, "eighths of a token a second")) / 8
	}
	return config, jitter
}

// drawOperation draws from few scopes, so that operations share them.
func drawOperation(t *rapid.T) retry.Operation {
	return retry.Operation{
		Service:     drawFrom(t, "service", "", "", "sqs", "dynamodb-streams"),
		Scope:       drawFrom(t, "scope", "", "", "one", "two"),
		LongPolling: drawBool(t, "long polling"),
		MaxAttempts: drawFrom(t, "max attempts of the operation", 0, 0, 0, 1, 5, -3),
	}
}
