package httpretry_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/retry"
)

func TestHostOperation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, url string
		want        retry.Operation
	}{
		{"", "https://API.Example.com/a?b", retry.Operation{Name: "GET", Resource: "api.example.com"}},
		{"POST", "http://[::1]:8080/", retry.Operation{Name: "POST", Resource: "[::1]:8080"}},
	} {
		request := newRequest(t.Context(), t, c.method, c.url, "")
		request.Method = c.method
		require.Equal(t, c.want, httpretry.HostOperation(request))
	}
	require.Equal(t, retry.Operation{Name: "GET"}, httpretry.HostOperation(&http.Request{}))
}
