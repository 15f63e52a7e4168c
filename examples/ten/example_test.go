package ten_test

import (
	"bytes"
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

var ctx = context.Background()

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

	strategy, err := awsretry.Load(ctx, awsretry.WithRetryIf(func(error) bool { return true }))
	if err != nil {
		log.Fatal(err)
	}
	err = retry.DoErr(ctx, strategy, retry.Operation{}, fetch)

	fmt.Println(err)
	// Output: <nil>
}

// Five attempts, with delays from 200 ms to 2 s, and no AWS settings.
func Example_fiveAttempts() {
	fetch := failing(1, errFlaky)

	everything := awsretry.WithRetryIf(func(error) bool { return true })
	strategy, err := awsretry.Plain(5, 200*time.Millisecond, 2*time.Second, everything)
	if err != nil {
		log.Fatal(err)
	}
	err = retry.DoErr(ctx, strategy, retry.Operation{}, fetch)

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

	strategy, err := awsretry.Load(ctx)
	if err != nil {
		log.Fatal(err)
	}
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
	fetch := func(context.Context) error { attempts++; return errGone }

	strategy, err := awsretry.Load(ctx, awsretry.WithRetryIf(func(err error) bool { return !errors.Is(err, errGone) }))
	if err != nil {
		log.Fatal(err)
	}
	err = retry.DoErr(ctx, strategy, retry.Operation{}, fetch)

	fmt.Println(attempts, errors.Is(err, errGone))
	// Output: 1 true
}

// Poll for a minute.
func TestPollForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		states := []string{"running", "running", "done"}
		status := func(ctx context.Context) (string, bool, error) {
			state := states[0]
			states = states[1:]
			return state, state == "done", ctx.Err()
		}
		ctx := t.Context()

		strategy, err := awsretry.Load(ctx)
		if err != nil {
			log.Fatal(err)
		}
		minute, second := retry.Operation{MaxElapsed: time.Minute}, retry.Interval{First: time.Second}
		state, err := retry.Poll(ctx, strategy, minute, second, status)

		require.NoError(t, err)
		require.Equal(t, "done", state)
	})
}

// Log the retries.
func Example_logRetries() {
	fetch := failing(2, retry.Mark(errFlaky, classify.Transient))
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Value.Kind() == slog.KindDuration {
				return slog.Attr{}
			}
			return a
		},
	})))

	strategy, err := awsretry.Load(ctx, awsretry.WithObserver(retry.SlogObserver{}))
	if err != nil {
		log.Fatal(err)
	}
	err = retry.DoErr(ctx, strategy, retry.Operation{}, fetch)

	fmt.Println(err)
	// Output:
	// level=INFO msg=retry kind=transient quota=486 attempt=1 error=flaky
	// level=INFO msg=retry kind=transient quota=472 attempt=2 error=flaky
	// <nil>
}

// The recipe writes a line for each retry at the level that a program logs by default, and one for a refusal.
func TestEachRetryIsALine(t *testing.T) {
	before := slog.Default()
	t.Cleanup(func() {
		slog.SetDefault(before)
		log.SetOutput(os.Stderr) // slog.SetDefault has led it to the buffer
	})
	for failures, lines := range []int{0, 1, 2, 3} { // after three attempts the third line is the refusal
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))

			strategy, err := awsretry.Load(t.Context(), awsretry.WithObserver(retry.SlogObserver{}))
			require.NoError(t, err)
			_ = retry.DoErr(t.Context(), strategy, retry.Operation{}, failing(failures, retry.Mark(errFlaky, classify.Transient)))

			require.Equal(t, lines, bytes.Count(out.Bytes(), []byte("\n")), "%d failures:\n%s", failures, &out)
		})
	}
}

// Test without waiting: in a bubble of testing/synctest no time passes.
func TestWithoutWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fetch := failing(2, errFlaky)

		strategy, err := awsretry.Load(t.Context(), awsretry.WithRetryIf(func(error) bool { return true }))
		require.NoError(t, err)
		err = retry.DoErr(t.Context(), strategy, retry.Operation{}, fetch)

		require.NoError(t, err)
	})
}

// What Plain does not say is a field of a standard.Config.
func Example_otherNumbers() {
	strategy, err := awsretry.Load(ctx, awsretry.WithStandard(standard.Config{
		MaxBackoff: 5 * time.Second, MinDelay: 100 * time.Millisecond, Jitter: standard.Equal,
	}))

	fmt.Println(strategy != nil, err)
	// Output: true <nil>
}
