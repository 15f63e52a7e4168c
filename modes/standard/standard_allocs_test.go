//go:build !race

// The race detector lets pools forget at random, so allocations are counted without.

package standard_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestOperationAllocatesNothing(t *testing.T) {
	scoped := retry.Operation{Service: "dynamodb", Region: "eu-central-1", Resource: "orders"}
	for name, op := range map[string]retry.Operation{"whole strategy": {}, "scope": scoped, "limited time": scoped} {
		t.Run(name, func(t *testing.T) {
			config, ctx := standard.Config{Random: func() float64 { return 0 }}, t.Context()
			if name == "limited time" {
				config.MaxElapsed = time.Hour
			}
			s, err := standard.New(config)
			require.NoError(t, err)
			var failed error
			note := func(err error) {
				if err != nil {
					failed = err
				}
			}
			begin := func() retry.Token {
				token, err := s.AcquireInitialToken(ctx, op)
				note(err)
				note(token.Wait(ctx))
				return token
			}
			again := func(token retry.Token) retry.Token {
				token, err := s.RefreshRetryToken(ctx, token, errServer)
				note(err)
				note(token.Wait(ctx))
				return token
			}
			require.Zero(t, testing.AllocsPerRun(1000, func() { note(s.RecordSuccess(begin(), retry.Result{})) }), "success")
			require.Zero(t, testing.AllocsPerRun(1000, func() { note(s.RecordSuccess(again(begin()), retry.Result{})) }), "success after a retry")
			require.Zero(t, testing.AllocsPerRun(30, func() { note(s.RecordFailure(again(begin()), errServer)) }), "failure after a retry")
			require.NoError(t, failed)
		})
	}
}

func TestRefusalAllocatesItsErrorOnly(t *testing.T) {
	ruled := &classify.JudgedError{Verdict: classify.Forbidden(), Err: errServer, Reason: errors.New("a rule")}
	for name, c := range map[string]struct {
		most    int
		failure error
	}{"attempts": {1, errServer}, "rule": {2, ruled}} {
		t.Run(name, func(t *testing.T) {
			s, err := standard.New(standard.Config{MaxAttempts: c.most})
			require.NoError(t, err)
			ctx := t.Context()
			require.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
				token, _ := s.AcquireInitialToken(ctx, retry.Operation{})
				_ = token.Wait(ctx)
				token, _ = s.RefreshRetryToken(ctx, token, c.failure)
				_ = s.RecordFailure(token, c.failure)
			}), 1.0)
		})
	}
}
