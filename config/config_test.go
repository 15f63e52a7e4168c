package config_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/world"
)

func TestSettingsAsJSON(t *testing.T) {
	t.Parallel()
	s, err := world.Home{Env: map[string]string{"AWS_MAX_ATTEMPTS": "5"}, Config: "[default]\nmax_attempts = x\n"}.Query().Resolve()
	require.NoError(t, err)
	data, err := json.Marshal(s)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"profile": {"value": "default", "raw": "default", "origin": {"kind": "default"}, "overridden": []},
		"retry_mode": {"value": "standard", "raw": "standard", "origin": {"kind": "default"}, "overridden": []},
		"max_attempts": {"value": 5, "raw": "5", "origin": {"kind": "environment", "name": "AWS_MAX_ATTEMPTS"}, "overridden": [
			{"raw": "x", "valid": false, "origin": {"kind": "shared-config", "file": "/h/.aws/config", "line": 2,
				"profile": "default", "key": "max_attempts"}}]},
		"max_backoff": {"value": 20000000000, "raw": "20s", "origin": {"kind": "default"}, "overridden": []},
		"min_delay": {"value": 0, "raw": "0s", "origin": {"kind": "default"}, "overridden": []},
		"max_elapsed": {"value": 0, "raw": "0s", "origin": {"kind": "default"}, "overridden": []},
		"behavior": {"value": "v2.1", "raw": "v2.1", "origin": {"kind": "default"}, "overridden": []},
		"files": [{"kind": "config", "path": "/h/.aws/config", "status": "loaded"},
			{"kind": "credentials", "path": "/h/.aws/credentials", "status": "missing"}]
	}`, string(data))
}
