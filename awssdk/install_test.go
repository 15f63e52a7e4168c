package awssdk

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
)

func TestRetryerIsSetWhereAClientHasOne(t *testing.T) {
	t.Parallel()
	made, err := standard.New(standard.Config{})
	require.NoError(t, err)
	r := retryer(t, made)
	require.NotPanics(t, func() {
		nameService("X", nil)
		nameService("X", 1)
		nameService("X", &struct{ Retryer int }{})
		nameService("X", (*struct{ Retryer int })(nil))
	})
	options := struct{ Retryer any }{r}
	nameService("X", &options)
	require.Same(t, r, options.Retryer, "of another type")
	require.Equal(t, "dynamodb streams", r.forService("DynamoDB Streams").scoped)
	require.Equal(t, reflect.TypeFor[*sdkRetryer](), reflect.TypeOf(r.forService("S3")))
}
