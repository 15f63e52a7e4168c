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
		r.nameClient("X", nil)
		r.nameClient("X", 1)
		r.nameClient("X", &struct{ Retryer int }{})
		r.nameClient("X", (*struct{ Retryer int })(nil))
	})
	options := struct{ Retryer any }{r}
	r.nameClient("X", &options)
	require.Same(t, r, options.Retryer, "of another type")
	require.Equal(t, "dynamodb streams", r.forService("DynamoDB Streams").scoped)
	require.Equal(t, reflect.TypeFor[*sdkRetryer](), reflect.TypeOf(r.forService("S3")))
}
