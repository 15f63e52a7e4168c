package config_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/testonly/world"
	"github.com/awsretry/awsretry/retry"
)

// own returns a value of a program's own flag or file.
func own(place, key, raw string) config.Candidate {
	return config.Candidate{Raw: raw, Origin: config.Origin{Kind: "option", Name: place, Key: key}}
}

func TestExplainShowsWhatWasGivenAndDoesNotObeyIt(t *testing.T) {
	t.Parallel()
	query := config.Query{Sources: world.Texts("", ""), Given: []config.Candidate{
		own("file \x1b[31m.yaml", "max_backoff", "30s"),
		own("file b.yaml", "max_backoff", "\a"),
		own("file b.yaml", "retry_mode", "adaptive"), own("file b.yaml", "max_attempts", "\u00a05"),
		own("flag --max-attempts", "max_attempts", "6\u202e"),
		world.InConfig("min_delay", time.Second),
	}}
	settings, err := query.Resolve()
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, settings.Explain(&out, retry.Plan{
		MaxAttempts: 5, Base: 50 * time.Millisecond, ThrottlingBase: time.Second, MinDelay: time.Second, MaxBackoff: 30 * time.Second,
		MaxElapsed: time.Minute, QuotaCapacity: 50, RetryCost: 14, TimeoutCost: 14, ThrottlingCost: 5,
	}))
	require.Equal(t, `profile       * default    built-in default
retry_mode    * adaptive   file b.yaml
max_attempts  * 5          file b.yaml
                "6\u202e"  flag --max-attempts, not a valid value
max_backoff   * 30s        file \x1b[31m.yaml
                "\a"       file b.yaml, not a valid value
min_delay     * 1s         option WithConfig
behavior      * v2.1       built-in default

Files
  config       /c  loaded
  credentials  /k  loaded

What happens
  attempts       5: the first and up to 4 retries
  elapsed limit  no attempt begins more than 1m0s after the operation began
  retry quota    50 tokens for each scope; a retry takes 14, after a timeout 14, after a throttle 5
  full quota     pays for 3 retries in a row (4 after throttles)
  drain point    the quota starts to empty when 21.1 % of attempts fail, or 31.0 % are throttled
  empty quota    lends a retry to what was in flight when a connection was lost
  backoff        up to 50ms before the first retry, 1s after a throttle; doubling with each retry up to 30s, and at least 1s
  worst case     15s of backoff in one operation, without server hints
  first attempt  waits for the scope's send rate once the service has throttled
`, out.String())
}

func TestExplainCutsALongValueThatLost(t *testing.T) {
	t.Parallel()
	long := own("file b.yaml", "max_attempts", strings.Repeat("9", 4000))
	settings, err := config.Query{Sources: world.Texts("", ""), Given: []config.Candidate{own("file a.yaml", "max_attempts", "5"), long}}.Resolve()
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, settings.Explain(&out, retry.Plan{}))
	require.Contains(t, out.String(), `  "`+strings.Repeat("9", 64)+`..."  file b.yaml, not a valid value`)
}

func TestExplainSaysWhatAPlanDoes(t *testing.T) {
	t.Parallel()
	off := retry.V21.Defaults("")
	off.RetryCost, off.TimeoutCost, off.ThrottlingCost = 0, 0, 0
	const none = "!full quota" // Nothing is said of it.
	all := func(attempts int) retry.Plan {
		return retry.Plan{MaxAttempts: attempts, QuotaCapacity: 500, RetryCost: 14, TimeoutCost: 14, ThrottlingCost: 14}
	}
	own := func(int, error) time.Duration { return 0 }
	for _, c := range []struct {
		name string
		plan retry.Plan
		want string
	}{
		{"no quota", off, "  retry quota    off: no retry is refused for lack of tokens\n  backoff  "},
		{
			"a function for the backoff",
			retry.Plan{MaxAttempts: 4, MinDelay: time.Second, MaxBackoff: 10 * time.Second, Backoff: own},
			"\n  backoff        a function of the program decides, up to 10s, and at least 1s\n" +
				"  worst case     30s of backoff in one operation, without server hints\n",
		},
		{"seconds from a day on", retry.Plan{MaxAttempts: 2, MaxBackoff: 24 * time.Hour, Backoff: own}, "\n  worst case     86400s of"},
		{"one retry more than is paid for", all(37), "without server hints, when it has emptied a full quota\n"},
		{"a limit on debt", retry.Plan{MaxAttempts: 3, QuotaCapacity: 500, RetryCost: 14, TimeoutCost: 14, ThrottlingCost: 5, DebtLimit: true}, "\n  debt limit     a quota that lacks tokens pays only while retries help\n"},
		{"one attempt", retry.Plan{MaxAttempts: 1}, "\n  attempts       1, so nothing is retried\n"},
		{"fewer retries than the attempts", retry.Plan{MaxAttempts: 1000, QuotaCapacity: 500, RetryCost: 14, TimeoutCost: 14, ThrottlingCost: 5}, "\n  full quota     pays for 35 retries in a row (100 after throttles)\n"},
		{"fewer after one kind", retry.Plan{MaxAttempts: 70, QuotaCapacity: 500, RetryCost: 5, TimeoutCost: 10, ThrottlingCost: 5}, "pays for 69 retries in a row (50 after timeouts)\n"},
		{"one price", retry.Plan{MaxAttempts: 9, QuotaCapacity: 10, RetryCost: 5, TimeoutCost: 5, ThrottlingCost: 5}, "pays for 2 retries in a row\n"},
		{"enough", all(36), none},
		{"no retries", retry.Plan{MaxAttempts: 1, RetryCost: 14, TimeoutCost: 14, ThrottlingCost: 5}, none},
		{"no cost and no capacity", retry.Plan{MaxAttempts: 1000}, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.NoError(t, (&config.Settings{}).Explain(&out, c.plan))
			if absent, ok := strings.CutPrefix(c.want, "!"); ok {
				require.NotContains(t, out.String(), absent)
				return
			}
			require.Contains(t, out.String(), c.want)
		})
	}
}

func TestExplainReturnsTheErrorOfTheWriter(t *testing.T) {
	t.Parallel()
	closed, out := io.Pipe()
	require.NoError(t, closed.Close())
	require.Equal(t, io.ErrClosedPipe, (&config.Settings{}).Explain(out, retry.Plan{}))
}

func TestGivenValueOfNoSettingIsAnError(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "behavior", "max-attempts"} {
		given := own("file app.yaml", key, "5")
		_, err := config.Query{Sources: world.Texts("", ""), Given: []config.Candidate{given}}.Resolve()
		require.Equal(t, given.Check(), err)
		require.ErrorContains(t, err, "must be for retry_mode, max_attempts, max_backoff, min_delay or max_elapsed")
	}
	typed := world.Option("WithSpeed", "speed", 5)
	_, err := config.Query{Sources: world.Texts("", ""), Given: []config.Candidate{typed}}.Resolve()
	require.EqualError(t, err, `config: option WithSpeed: speed: "5": must be for retry_mode, max_attempts, max_backoff, min_delay or max_elapsed`)
}
