package httpretry_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/retry"
)

func TestHostOperation(t *testing.T) {
	t.Parallel()
	for want, r := range map[retry.Operation]*http.Request{
		{Name: "GET", Resource: "api.example.com"}: {URL: &url.URL{Host: "API.Example.com", Path: "/a"}},
		{Name: "POST", Resource: "[::1]:8080"}:     {Method: http.MethodPost, URL: &url.URL{Host: "[::1]:8080"}},
		{Name: "GET"}:                              {},
	} {
		require.Equal(t, want, httpretry.HostOperation(r))
	}
}
