package config_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
)

func TestSeverityIsTextOnlyAtTheEdge(t *testing.T) {
	t.Parallel()
	require.Greater(t, config.SeverityError, config.SeverityWarning)
	for severity, text := range map[config.Severity]string{config.SeverityWarning: `"warning"`, config.SeverityError: `"error"`} {
		data, err := json.Marshal(severity)
		require.NoError(t, err)
		require.Equal(t, text, string(data))
		var read config.Severity
		require.NoError(t, json.Unmarshal(data, &read))
		require.Equal(t, severity, read)
	}
	var read config.Severity
	require.EqualError(t, json.Unmarshal([]byte(`"fatal"`), &read), `config: no severity: "fatal"`)
}
