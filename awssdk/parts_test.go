package awssdk

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/retry"
)

func TestHeaderTellsAttemptAndLimit(t *testing.T) {
	t.Parallel()
	for header, want := range map[string][2]int{
		"attempt=1; max=3":                       {1, 3},
		"attempt=12; max=30; ttl=20260101T0000Z": {12, 30},
		"attempt=2":                              {2, 0},
		"attempt=2; max=-1":                      {2, math.MaxInt},
		"attempt=-2; max=0":                      {0, 0},
		"attempt=x; max=":                        {0, 0},
		"":                                       {0, 0},
	} {
		number, limit := parseAttempt(header)
		require.Equal(t, want, [2]int{number, limit}, header)
	}
	number, limit := new(shared).attemptOf(context.Background())
	require.Zero(t, number, "no loop")
	require.Zero(t, limit, "no loop")
}

func FuzzParseAttempt(f *testing.F) {
	f.Fuzz(func(t *testing.T, header string) {
		number, limit := parseAttempt(header)
		require.GreaterOrEqual(t, number, 0)
		require.GreaterOrEqual(t, limit, 0)
	})
}

// unhashable is an error that cannot be the key of a map.
type unhashable struct{ lines []string }

func (unhashable) Error() string { return "several lines" }

func TestFailureIsFoundUnderWhatWrapsIt(t *testing.T) {
	t.Parallel()
	first, c := errors.New("first"), &call{}
	var f failures
	found, _ := f.take(first)
	require.Nil(t, found)
	require.True(t, f.add(first, c))
	require.False(t, f.add(first, &call{}), "known already")
	require.False(t, f.add(unhashable{}, c))
	found, _ = f.take(unhashable{})
	require.Nil(t, found)
	found, key := f.take(&uniqueError{first})
	require.Same(t, c, found)
	require.Equal(t, first, key)
	found, _ = f.take(first)
	require.Nil(t, found, "taken")
}

type getItemInput struct {
	TableName *string
	Other     int
}

type batchInput struct{ RequestItems map[string]int }

type oddInput struct {
	TableName     string // not what inputs look like
	RequestItems  []int
	TransactItems map[int]int
}

func TestResourceOfOddInputsIsEmpty(t *testing.T) {
	t.Parallel()
	var s shared
	name := "orders"
	require.Equal(t, "orders", s.resourceOf("dynamodb", &getItemInput{TableName: &name}))
	require.Empty(t, s.resourceOf("dynamodb", &getItemInput{}))
	require.Empty(t, s.resourceOf("dynamodb", (*getItemInput)(nil)))
	require.Empty(t, s.resourceOf("dynamodb", getItemInput{TableName: &name}))
	require.Empty(t, s.resourceOf("dynamodb", &name))
	require.Empty(t, s.resourceOf("dynamodb", nil))
	require.Empty(t, s.resourceOf("dynamodb", &oddInput{TableName: name}))
	require.Equal(t, "orders", s.resourceOf("dynamodb", &batchInput{map[string]int{"orders": 1}}))
	require.Empty(t, s.resourceOf("dynamodb", &batchInput{map[string]int{"orders": 1, "users": 1}}))
	require.Empty(t, s.resourceOf("dynamodb", &batchInput{}))
}

func TestRetryerIsSetWhereAClientHasOne(t *testing.T) {
	t.Parallel()
	r := New(struct{ retry.Strategy }{})
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
	require.Equal(t, reflect.TypeFor[*Retryer](), reflect.TypeOf(r.forService("S3")))
}
