package awssdk

import (
	"math"
	"testing"

	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"
)

func TestHeaderTellsAttemptAndLimit(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]struct {
		attempt attemptHeader
		left    int
	}{
		"":                                       {attemptHeader{}, 0},
		"attempt=1; max=3":                       {attemptHeader{1, 3}, 3},
		"attempt=2; max=3":                       {attemptHeader{2, 3}, 2},
		"attempt=2":                              {attemptHeader{2, 0}, math.MaxInt},
		"attempt=2; max=-1":                      {attemptHeader{2, 0}, math.MaxInt},
		"attempt=2; max=x":                       {attemptHeader{2, 0}, math.MaxInt},
		"attempt=1; max=3; ttl=20261126T110000Z": {attemptHeader{1, 3}, 3},
		"attempt=5; max=2147483647":              {attemptHeader{5, openLimit}, 0},
	} {
		request := smithyhttp.NewStackRequest().(*smithyhttp.Request)
		if header != "" {
			request.Header[attemptHeaderName] = []string{header}
		}
		require.Equal(t, want.attempt, attemptOf(request), header)
		require.Equal(t, want.left, want.attempt.left(), header)
	}
}

func TestLimitOfTheStrategyIsWrittenIntoTheHeader(t *testing.T) {
	t.Parallel()
	request := smithyhttp.NewStackRequest().(*smithyhttp.Request)
	request.Header[attemptHeaderName] = []string{"attempt=2; max=2147483647; ttl=20261126T110000Z"}
	tellLimit(request, 10)
	require.Equal(t, "attempt=2; max=10; ttl=20261126T110000Z", request.Header.Get(attemptHeaderName))
}
