package vectors_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

func TestExactSecondsAreReadToTheNearestNanosecond(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0":                    0,
		"null":                 0,
		"1e-9":                 1,
		"0.0000000004":         0,
		"0.0000000005":         1,
		"12.5e-1":              1_250_000_000,
		"1795300000.000000001": 1_795_300_000_000_000_001,
	} {
		var got vectors.ExactSeconds
		require.NoError(t, json.Unmarshal([]byte(text), &got), text)
		require.Equal(t, vectors.ExactSeconds(want), got, text)
	}
	for _, text := range []string{"1e10", "true", "[]"} {
		require.Error(t, json.Unmarshal([]byte(text), new(vectors.ExactSeconds)), text)
	}
}
