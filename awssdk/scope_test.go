package awssdk

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

func TestLongPollsAreThoseOfTheCrossChecks(t *testing.T) {
	t.Parallel()
	for _, poll := range vectors.ReadCrossChecks(t).LongPolls {
		require.Equal(t, poll.LongPoll, isLongPolling(poll.Service, poll.Operation), poll.ID)
	}
}

func TestOperationOfSaysWhatItCannotKnow(t *testing.T) {
	t.Parallel()
	var cfg aws.Config
	require.NoError(t, Install(&cfg, WithSettings(awsretry.WithSources(awsretry.Sources{LookupEnv: func(string) (string, bool) { return "", false }}))))
	locked := cfg.Copy()
	locked.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, errLocked })
	type PutInput struct{ Name *string }
	for want, of := range map[string]struct {
		cfg   aws.Config
		input any
	}{
		"awssdk: OperationOf: the config has no retryer of this module: call Install first": {aws.Config{}, &PutInput{}},
		"awssdk: OperationOf: awssdk.PutInput is no pointer to the input of an operation":   {cfg, PutInput{}},
		"awssdk: OperationOf: <nil> is no pointer to the input of an operation":             {cfg, nil},
		"awssdk: OperationOf: *string is no pointer to the input of an operation":           {cfg, new("")},
		"awssdk: OperationOf: credentials: locked":                                          {locked, &PutInput{}},
	} {
		_, err := OperationOf(t.Context(), of.cfg, "Store", of.input)
		require.EqualError(t, err, want)
	}
}

var errLocked = errors.New("locked")
