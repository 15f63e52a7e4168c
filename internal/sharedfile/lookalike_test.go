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
		"export max_attempts": "max_attempts", "export  AWS_RETRY_MODE": "retry_mode", "export region": "", "exportmax_attempts": "",
		"region": "", "mode": "", "max_bandwidth": "", "metadata_service_num_attempts": "", "duration_seconds": "",
		"role_arn": "", "aws_access_key_id": "", strings.Repeat("retry_mode", 50): "", "max_attempts": "", "MAX_ATTEMPTS": "",
	} {
		require.Equal(t, meant, sharedfile.Lookalike(key), key)
	}
}

func TestHeadersThatLookLikeThoseOfProfiles(t *testing.T) {
	t.Parallel()
	for header, meant := range map[string]string{
		"Profile dev": "dev", "PROFILE\tdev": "dev", "profil dev": "dev", "profiles my team": "my team", "porfile dev": "dev", `Profile "dev"`: "dev",
		"profile.dev": "dev", "profile: dev": "dev", "profile_dev": "dev", "profile\u00a0dev": "dev", "[profile dev]": "dev",
		"dev": "", "profile": "", "profiledev": "", "profit center": "", "sso-session dev": "", "services dev": "", "preview": "", "": "", "[]": "",
	} {
		require.Equal(t, meant, sharedfile.LikeProfile(header), header)
	}
}
