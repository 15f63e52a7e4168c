package vectors_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

func TestUnknownMembersOfACaseAreErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"sequences": [{"id": "a", "tolerance": 1}]}`,
		`{"sequences": [{"id": "a", "given": {"quota": 1}}]}`,
		`{"sequences": [{"id": "a", "steps": [{"want": {"tokens": 1}}]}]}`,
		`{"sequels": []}`,
	} {
		_, err := vectors.Decode[vectors.Standard]([]byte(text))
		require.ErrorContains(t, err, "unknown field", text)
	}
	file, err := vectors.Decode[vectors.Standard]([]byte(`{"kind": "standard", "sequences": [{"id": "a", "note": "n", "source": ["s"]}]}`))
	require.NoError(t, err)
	require.Equal(t, "a", file.Sequences[0].ID)
}

func TestNumbersAreComparedWithThePrecisionOfTheCase(t *testing.T) {
	t.Parallel()
	byDefault := vectors.Precision{}
	require.True(t, byDefault.Near(1000, 1000+9e-7))
	require.False(t, byDefault.Near(1000, 1000+2e-6))
	require.False(t, byDefault.Near(0, 2e-9))
	rough := vectors.Precision{Tolerance: new(0.5)}
	require.True(t, rough.Near(-1000, -501))
	require.True(t, rough.Near(0, -0.5))
	exact := vectors.Precision{Tolerance: new(0.0)}
	require.False(t, exact.Near(1, 1+1e-12))
}
