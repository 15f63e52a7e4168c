package lint_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
)

func TestSeverityIsTextOnlyAtTheEdge(t *testing.T) {
	t.Parallel()
	require.Greater(t, lint.SeverityError, lint.SeverityWarning)
	for severity, text := range map[lint.Severity]string{lint.SeverityWarning: `"warning"`, lint.SeverityError: `"error"`} {
		data, err := json.Marshal(severity)
		require.NoError(t, err)
		require.Equal(t, text, string(data))
	}
}
