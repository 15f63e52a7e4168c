package adaptive_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

func BenchmarkSnapshotOfTenThousandScopes(b *testing.B) {
	s, err := adaptive.New(adaptive.Config{})
	require.NoError(b, err)
	for i := range 10_000 {
		token, err := s.AcquireInitialToken(b.Context(), retry.Operation{
			Service: "dynamodb", Region: "eu-central-1", Name: "GetItem", Resource: fmt.Sprintf("orders-%05d", i*7919%10_000),
		})
		require.NoError(b, err)
		require.NoError(b, token.Wait(b.Context()))
		require.NoError(b, s.RecordSuccess(token, retry.Result{}))
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(s.Snapshot().Scopes) != 10_001 {
			b.Fatal("scopes are missing")
		}
	}
}
