package config_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/lint"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

func TestSettingsAsJSON(t *testing.T) {
	t.Parallel()
	s, err := lint.Resolve(world.Home{Env: map[string]string{"AWS_MAX_ATTEMPTS": "5"}, Config: "[default]\nmax_attempts = x\n"}.Query())
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
			{"kind": "credentials", "path": "/h/.aws/credentials", "status": "missing"}],
		"diagnostics": [{"severity": "warning", "code": "invalid-value", "file": "/h/.aws/config", "line": 2,
			"message": "[default] max_attempts: \"x\": must be a decimal integer from 1 to 2147483647; another value wins, so it is ignored"},
			{"severity": "warning", "code": "read-differently", "file": "/h/.aws/config", "line": 2, "tools": ["aws-sdk-go-v2"],
			"message": "aws-sdk-go-v2: the value is refused, although AWS_MAX_ATTEMPTS overrides it"}]
	}`, string(data))
}
