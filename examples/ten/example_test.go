package ten_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

var (
	ctx = context.Background()
	op  retry.Operation
)

// failing returns a function that fails so often.
func failing(failures int, err error) func(ctx context.Context) error {
	return func(context.Context) error {
		if failures--; failures < 0 {
			return nil
		}
		return err
	}
}

var errFlaky = errors.New("flaky")

// Retry every error but those marked permanent.
func Example_retryEveryError() {
	fetch := failing(1, errFlaky)

	strategy, err := awsretry.Load(ctx, awsretry.WithClassifier(classify.All()))
	if err != nil {
		log.Fatal(err)
	}
	err = retry.DoErr(ctx, strategy, op, fetch)

	fmt.Println(err)
	// Output: <nil>
}

// Five attempts, with delays from 200 ms to 2 s, and no AWS settings.
func Example_fiveAttempts() {
	errBusy := errFlaky
	fetch := failing(1, errBusy)

	strategy, err := awsretry.Plain(5, 200*time.Millisecond, 2*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	op := retry.Operation{Classifier: classify.Func(func(err error) bool { return errors.Is(err, errBusy) })}
	err = retry.DoErr(ctx, strategy, op, fetch)

	fmt.Println(err)
	// Output: <nil>
}

// An HTTP client that sends failed requests again.
//
//nolint:noctx // the shortest form
func Example_httpClient() {
	answers := []int{http.StatusServiceUnavailable, http.StatusOK}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(answers[0])
		answers = answers[1:]
	}))
	defer server.Close()
	strategy, _ := awsretry.Load(ctx)

	client := httpretry.NewClient(strategy)
	response, err := client.Get(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()

	fmt.Println(response.Status)
	// Output: 200 OK
}

// Stop on one error.
func Example_stopOnOneError() {
	attempts, errGone := 0, errors.New("gone")
	strategy, _ := awsretry.Load(ctx, awsretry.WithClassifier(classify.All()))
	fetch := func(context.Context) error { attempts++; return errGone }

	err := retry.DoErr(ctx, strategy, op, func(ctx context.Context) error {
		err := fetch(ctx)
		if errors.Is(err, errGone) {
			return retry.Permanent(err)
		}
		return err
	})

	fmt.Println(attempts, err)
	// Output: 1 gone
}

// Poll for a minute.
func Example_pollForAMinute() {
	states := []string{"running", "done"}
	status := func(ctx context.Context) (string, error) {
		state := states[0]
		states = states[1:]
		return state, ctx.Err()
	}
	strategy, _ := awsretry.Load(ctx)

	state, err := retry.Poll(ctx, strategy, retry.Operation{MaxElapsed: time.Minute}, retry.Interval{First: 10 * time.Millisecond},
		func(ctx context.Context) (string, bool, error) {
			state, err := status(ctx)
			return state, state == "done", err
		})

	fmt.Println(state, err)
	// Output: done <nil>
}

// Log the retries.
func Example_logRetries() {
	withoutTimes := &slog.HandlerOptions{Level: slog.LevelError}
	logger := slog.New(slog.NewTextHandler(os.Stdout, withoutTimes))

	strategy, err := awsretry.Load(ctx, awsretry.WithObserver(retry.SlogObserver{Logger: logger}))

	fmt.Println(strategy != nil, err)
	// Output: true <nil>
}

// Test without waiting: in a bubble of testing/synctest no time passes.
func TestWithoutWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		strategy, err := awsretry.Load(t.Context(), awsretry.WithClassifier(classify.All()))
		require.NoError(t, err)
		require.NoError(t, retry.DoErr(t.Context(), strategy, op, failing(2, errFlaky)))
	})
}

// What Plain does not say is a field of a standard.Config.
func Example_otherNumbers() {
	strategy, err := awsretry.Load(ctx, awsretry.WithMaxBackoff(5*time.Second), awsretry.WithMinDelay(100*time.Millisecond),
		awsretry.WithStandard(standard.Config{Jitter: standard.Equal}))

	fmt.Println(strategy != nil, err)
	// Output: true <nil>
}
