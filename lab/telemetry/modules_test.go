//go:build !race

package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/metrics/otelretry"
	"github.com/awsretry/awsretry/metrics/promretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// chance makes events and snapshots that a program could have, and others.
type chance struct {
	*rand.Rand
	operations, codes int // how many names there are
}

func (c chance) text() string {
	odd := []string{
		"", "_OTHER", "other", "(all)", "\xff", "\xfe\xff", "x\xffy", "\uFFFD", "eu\x00", "dynamodb", "s3", "GetItem",
		strings.Repeat("n", 199) + "é", strings.Repeat("n", 200), strings.Repeat("n", 300),
	}
	if c.operations > 0 && c.IntN(3) > 0 {
		return fmt.Sprint("Op", c.IntN(c.operations))
	}
	return odd[c.IntN(len(odd))]
}

// duration is a number of 64th parts of a second, so that sums are exact in any order.
func (c chance) duration() time.Duration {
	odd := []time.Duration{0, -1, math.MinInt64, 1000 * time.Hour, time.Second, 2 * time.Minute}
	if n := c.IntN(2 * len(odd)); n < len(odd) {
		return odd[n]
	}
	return time.Duration(c.Int64N(200*64)) * (time.Second / 64)
}

func (c chance) event() retry.Event {
	e := retry.Event{
		Kind:             retry.EventKind(c.IntN(14)),
		Operation:        retry.Operation{Service: c.text(), Name: c.text(), Region: c.text()},
		Attempt:          c.IntN(12) - 1,
		EntriesThrottled: c.IntN(3),
		Verdict:          classify.RetryAs(classify.Kind(c.IntN(9))),
		Delay:            c.duration(), Elapsed: c.duration(), BackoffWait: c.duration(), QuotaWait: c.duration(), SendWait: c.duration(),
		Reason: []error{
			nil, nil, retry.ErrQuotaExhausted, retry.ErrNotRetryable, retry.ErrAborted, errors.New("of another module"),
			fmt.Errorf("%w: rule", retry.ErrNotRetryable),
		}[c.IntN(7)],
	}
	switch c.IntN(5) {
	case 4:
		e.Err = limited{code(c.text())}
	case 0:
		e.Err = errors.New("without a code")
	case 1:
		e.Err = code(fmt.Sprint("Code", c.IntN(c.codes)))
	case 2:
		e.Err = code(c.text())
	}
	return e
}

func (c chance) snapshot() *retry.Snapshot {
	s := &retry.Snapshot{Pool: c.IntN(100), PoolCapacity: c.IntN(100), Overflowed: c.Uint64N(9), Evicted: c.Uint64N(9)}
	for range c.IntN(60) {
		key := retry.ScopeKey{Service: c.text(), Region: c.text(), Resource: c.text()}
		if c.IntN(4) == 0 {
			key = retry.ScopeKey{Scope: c.text()}
		}
		s.Scopes = append(s.Scopes, retry.ScopeSnapshot{
			Key: key, Scope: key.String(), Quota: c.IntN(500), QuotaCapacity: 500,
			SendRateSource: []string{"", "local", "fleet", "fleet-lost", "redis\xff"}[c.IntN(5)],
			Limited:        c.IntN(2) == 0, FillRate: float64(c.IntN(100)), MeasuredRate: float64(c.IntN(100)), Waiting: c.IntN(3), StrainedCalls: c.Uint64N(9), RefusedCalls: c.Uint64N(9),
			SendTokens: float64(c.IntN(5)), FleetRate: float64(c.IntN(3)), StoreCalls: c.Uint64N(3), StoreFailures: c.Uint64N(2),
		})
	}
	return s
}

// limited is a throttle that says which limit it is about.
type limited struct{ code }

func (l limited) ThrottledBy() []classify.Reason {
	return []classify.Reason{{Reach: classify.ReachPart, Word: string(l.code)}}
}

func byService(key retry.ScopeKey) string { return key.Service }

// Both modules make the same series of any events and scopes.
func TestModulesAgreeOnRandomEventsAndScopes(t *testing.T) {
	t.Parallel()
	strategy, err := standard.New(standard.Config{})
	require.NoError(t, err)
	for seed := range uint64(8) {
		c := chance{rand.New(rand.NewPCG(seed, 1)), []int{0, 3, 60}[seed%3], []int{3, 300}[seed%2]}
		scopes, name := []int{0, -1, 1, 500}[seed%4], []func(retry.ScopeKey) string{nil, byService}[seed/2%2]

		own := promretry.New(promretry.Config{Scopes: scopes, ScopeName: name})
		direct, exported := prometheus.NewPedanticRegistry(), prometheus.NewPedanticRegistry()
		require.NoError(t, direct.Register(own))
		reader, err := exporter.New(exporter.WithRegisterer(exported), exporter.WithoutScopeInfo(), exporter.WithoutTargetInfo())
		require.NoError(t, err)
		other, err := otelretry.New(otelretry.Config{
			// Without a limit: that of the SDK is below what the modules may keep.
			MeterProvider: metric.NewMeterProvider(metric.WithReader(reader), metric.WithCardinalityLimit(0)),
			Scopes:        scopes, ScopeName: name,
		})
		require.NoError(t, err)

		for range 2 {
			s := shown{strategy, c.snapshot()}
			require.NoError(t, errors.Join(own.Watch(s), other.Watch(s)))
		}
		for range 2000 {
			e := c.event()
			own.Observe(context.Background(), e)
			other.Observe(context.Background(), e)
		}
		want, err := direct.Gather()
		require.NoError(t, err)
		got, err := exported.Gather()
		require.NoError(t, err)
		wanted, had := lines(t, want), lines(t, got)
		require.Greater(t, len(wanted), 1000)
		require.Len(t, had, len(wanted))
		for i := range wanted {
			require.Equal(t, wanted[i], had[i], "seed %d", seed)
		}
		require.NoError(t, other.Close())
	}
}
