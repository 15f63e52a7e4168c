package ten_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/cenkalti/backoff/v5"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/stretchr/testify/require"
)

var (
	ctx      = context.Background()
	errFlaky = errors.New("flaky")
)

// failing returns a function that fails so often.
func failing(failures int) func() (string, error) {
	return func() (string, error) {
		if failures--; failures < 0 {
			return "value", nil
		}
		return "", errFlaky
	}
}

func Example_sdkDefaults() {
	ctx := context.Background()

	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(cfg.Retryer == nil)
	// Output: true
}

func Example_sdkAdaptive() {
	ctx := context.Background()

	mode, attempts := config.WithRetryMode(aws.RetryModeAdaptive), config.WithRetryMaxAttempts(10)
	cfg, err := config.LoadDefaultConfig(ctx, mode, attempts)
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(cfg.RetryMode, cfg.RetryMaxAttempts)
	// Output: adaptive 10
}

func TestRetryEveryError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fetch := failing(1)

		_, err := backoff.Retry(ctx, fetch)

		require.NoError(t, err)
	})
}

func TestFiveAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := failing(1)
		fetch := func() error { _, err := next(); return err }

		policy := retrypolicy.NewBuilder[any]().WithMaxAttempts(5).WithBackoff(200*time.Millisecond, 2*time.Second).Build()
		err := failsafe.With(policy).Run(fetch)

		require.NoError(t, err)
	})
}

func Example_httpClient() {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()

	client := retryablehttp.NewClient()
	response, err := client.Get(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()

	fmt.Println(response.Status)
	// Output: 404 Not Found
}

func TestStopOnOneError(t *testing.T) {
	errGone := errors.New("gone")
	fetch := func() error { return errGone }

	policy := retrypolicy.NewBuilder[any]().AbortOnErrors(errGone).Build()
	err := failsafe.With(policy).Run(fetch)

	require.ErrorIs(t, err, errGone)
}

func TestPollForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		states := []string{"running", "running", "done"}
		status := func() (string, error) {
			state := states[0]
			states = states[1:]
			return state, nil
		}

		policy := retrypolicy.NewBuilder[string]().HandleResult("running").WithMaxRetries(-1).
			WithDelay(time.Second).WithMaxDuration(time.Minute).Build()
		state, err := failsafe.With(policy).Get(status)

		require.NoError(t, err)
		require.Equal(t, "done", state)
	})
}

func TestLogRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fetch := failing(1)

		notify := backoff.WithNotify(func(err error, _ time.Duration) { slog.Debug("retry", "error", err) })
		_, err := backoff.Retry(ctx, fetch, notify)

		require.NoError(t, err)
	})
}

func TestWithoutWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fetch := failing(2)

		_, err := backoff.Retry(t.Context(), fetch)

		require.NoError(t, err)
	})
}
