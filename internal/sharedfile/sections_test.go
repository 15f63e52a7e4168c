package sharedfile_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/sharedfile"
)

func TestNamesOfSecrets(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		"aws_secret_access_key": true, "AWS_ACCESS_KEY_ID": true, "aws_session_token": true, "x_security_token": true,
		"client_secret": true, "sso_registration_Token_x": true,
		"region": false, "password": false, "credential_process": false, "accesskey": false,
	} {
		require.Equal(t, want, sharedfile.IsSecret(key), key)
	}
}
