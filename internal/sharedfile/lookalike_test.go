package sharedfile_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/sharedfile"
)

func TestKeysThatLookLikeRetrySettings(t *testing.T) {
	t.Parallel()
	for key, meant := range map[string]string{
		"retry_mod": "retry_mode", "Retry-Mode": "retry_mode", "retrymodes": "retry_mode", "AWS_RETRY_MODE": "retry_mode",
		"max_attempt": "max_attempts", "maxAttempts": "max_attempts", "max_atempts": "max_attempts",
		"max_retries": "max_attempts", "retries": "max_attempts", `"max_attempts"`: "max_attempts",
		"region": "", "mode": "", "max_bandwidth": "", "metadata_service_num_attempts": "", "duration_seconds": "",
		"role_arn": "", "aws_access_key_id": "", strings.Repeat("retry_mode", 50): "", "max_attempts": "", "MAX_ATTEMPTS": "",
	} {
		require.Equal(t, meant, sharedfile.Lookalike(key), key)
	}
}
