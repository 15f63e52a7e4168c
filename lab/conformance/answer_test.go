package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/lab/conformance"
)

// TestHTTPResponseIsWhatTheServiceSaid gets each failure of the suite as an error and as a response.
func TestHTTPResponseIsWhatTheServiceSaid(t *testing.T) {
	t.Parallel()
	statuses, transports := map[int]bool{}, map[string]bool{}
	conformance.Check(t, conformance.Subject{
		Name: "listening", New: func(*conformance.Settings) (conformance.Do, error) {
			return func(ctx context.Context, attempt func(context.Context) error) error {
				err := attempt(ctx)
				response, failed := conformance.HTTPResponse(err)
				if failed != nil {
					require.Nil(t, response)
					require.Error(t, err)
					transports[failed.Error()] = true
					return err
				}
				defer response.Body.Close()
				statuses[response.StatusCode] = true
				require.Equal(t, err == nil, response.StatusCode == http.StatusOK)
				body, readErr := io.ReadAll(response.Body)
				require.NoError(t, readErr)
				require.Len(t, body, int(response.ContentLength))
				var said struct {
					Code string `json:"__type"`
				}
				require.NoError(t, json.Unmarshal(body, &said))
				require.Equal(t, said.Code, response.Header.Get("X-Amzn-Errortype"))
				if api, ok := errors.AsType[smithy.APIError](err); ok && said.Code != "" {
					require.Contains(t, said.Code, api.ErrorCode())
				}
				return err
			}, nil
		},
	})
	for _, status := range []int{400, 403, 404, 429, 501, 503} {
		require.Contains(t, statuses, status)
	}
	require.Contains(t, transports, "read tcp: i/o timeout")
}

func TestHTTPResponsePassesOtherErrorsOn(t *testing.T) {
	t.Parallel()
	for _, want := range []error{io.ErrUnexpectedEOF, &net.OpError{Op: "dial", Err: io.EOF}} {
		response, err := conformance.HTTPResponse(want) //nolint:bodyclose // there is none
		require.Nil(t, response)
		require.Equal(t, want, err)
	}
	response, err := conformance.HTTPResponse(nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.NoError(t, response.Body.Close())
}
