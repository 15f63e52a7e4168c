package config_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/testonly/world"
	"github.com/awsretry/awsretry/retry"
)

// FuzzValues reads values of any text. A value that is accepted is in range, and its text as code would show
// it is read as the same value. An error names what is accepted.
func FuzzValues(f *testing.F) {
	for _, raw := range []string{"", "standard", " Adaptive\t", "legacy", "adaptive_v2", "+010", "2147483647", "2147483648", "-1", "5\n...", "1m30s", "0", " .5h ", "-0s", "9223372036854775807ns"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		n, err := config.ReadMaxAttempts(raw)
		if requireReason(t, raw, err, config.ErrMaxAttempts) {
			require.True(t, n >= 1 && n <= 1<<31-1, n)
			requireSame(t, config.ReadMaxAttempts, n)
		}
		mode, err := config.ReadMode(raw)
		if requireReason(t, raw, err, config.ErrMode) {
			require.Contains(t, []config.Mode{"standard", "adaptive"}, mode)
			requireSame(t, config.ReadMode, mode)
		}
		d, err := config.ReadDuration(raw)
		accepted := requireReason(t, raw, err, config.ErrDuration)
		if accepted {
			require.GreaterOrEqual(t, d, time.Duration(0))
			requireSame(t, config.ReadDuration, d)
		}
		longest, err := config.ReadMaxBackoff(raw)
		require.Equal(t, accepted && d != 0, requireReason(t, raw, err, config.ErrMaxBackoff))
		if err == nil {
			require.Equal(t, d, longest)
		}
		_, err = config.AcceptBehavior(retry.Behavior(raw))
		require.Equal(t, raw == "v2.0" || raw == "v2.1", err == nil)
	})
}

// requireReason reports whether a text is accepted. If it is not, the error must be want, or
// ErrMultiLine for a text of several lines.
func requireReason(t *testing.T, raw string, err, want error) bool {
	t.Helper()
	if err != nil && strings.Contains(raw, "\n") {
		require.True(t, errors.Is(err, want) || errors.Is(err, config.ErrMultiLine), "%v", err)
		return false
	}
	if err != nil {
		require.ErrorIs(t, err, want)
	}
	return err == nil
}

// requireSame checks that the text of a value is read as the same value.
func requireSame[T any](t *testing.T, read func(string) (T, error), value T) {
	t.Helper()
	again, err := read(fmt.Sprint(value))
	require.NoError(t, err)
	require.Equal(t, value, again)
}

func TestValuesThatAreAccepted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]config.Mode{
		"adaptive": "adaptive", "STANDARD": "standard", " \t\u00a0Adaptive\u2003\r": "adaptive", "Legacy": "standard", "ADAPTIVE_V2": "adaptive",
	} {
		requireReads(t, config.ReadMode, text, want)
	}
	for text, want := range map[string]int{
		"1": 1, "2147483647": 2147483647, "010": 10, strings.Repeat("0", 10_000) + "7": 7, "+5": 5, "\u00a0 5\t": 5,
	} {
		requireReads(t, config.ReadMaxAttempts, text, want)
	}
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "0": 0, "\u00a0+.5s\n": 500 * time.Millisecond, "9223372036854775807ns": math.MaxInt64,
	} {
		requireReads(t, config.ReadDuration, text, want)
	}
	requireReads(t, config.ReadMaxBackoff, " 20s", 20*time.Second)
}

func requireReads[T any](t *testing.T, read func(string) (T, error), text string, want T) {
	t.Helper()
	value, err := read(text)
	require.NoError(t, err, text)
	require.Equal(t, want, value, text)
}

func TestValuesThatAreRefused(t *testing.T) {
	t.Parallel()
	refuses := func(read func(string) error, want error, texts ...string) {
		for _, text := range texts {
			require.ErrorIs(t, read(text), want, text)
		}
	}
	mode := func(text string) error { _, err := config.ReadMode(text); return err }
	attempts := func(text string) error { _, err := config.ReadMaxAttempts(text); return err }
	duration := func(text string) error { _, err := config.ReadDuration(text); return err }
	backoff := func(text string) error { _, err := config.ReadMaxBackoff(text); return err }
	behavior := func(text string) error { _, err := config.AcceptBehavior(retry.Behavior(text)); return err }
	durations := []string{"", " ", "5", "-1ns", "5 s", "5S", "1d", "soon", "9223372036854775808ns", "NaN", "5s # x"}
	refuses(mode, config.ErrMode, "", " ", "standard # x", "standardK", "adaptıve", `"standard"`, "adaptive_v3", "stan dard", "\x00standard")
	refuses(attempts, config.ErrMaxAttempts, "", " ", "0", "000", "-1", "+-1", "++1", "+", "+ 1", "\u200b1", "abc", "1 2", "3.5", "0x3", "1_000",
		"1e3", "٣", "2147483648", "99999999999999999999", "5 # x")
	refuses(duration, config.ErrDuration, durations...)
	refuses(backoff, config.ErrMaxBackoff, append(durations, "0", "0s", "-0h")...)
	refuses(behavior, config.ErrBehavior, "", "V2.1", " v2.1", "2.1", "v2.2")
	refuses(mode, config.ErrMultiLine, "standard\nx")
	refuses(attempts, config.ErrMultiLine, "5\n...")
}

func TestValuesFromCodeAreNotReadAsText(t *testing.T) {
	t.Parallel()
	q := config.Query{Sources: world.Texts("", "")}
	q.Given = []config.Candidate{
		world.Option("WithMaxAttempts", "max_attempts", 7), world.Option("WithMaxBackoff", "max_backoff", 2*time.Second),
		world.InConfig("max_attempts", 0), world.InConfig("max_backoff", time.Duration(-1)), world.InConfig("behavior", retry.V20),
	}
	s, err := q.Resolve()
	require.NoError(t, err)
	inCode := config.Origin{Kind: "default", Name: "WithConfig"}
	require.Equal(t, 7, s.MaxAttempts.Value)
	require.Equal(t, []config.Candidate{{Raw: "0", Origin: inCode}}, s.MaxAttempts.Overridden)
	require.Equal(t, 2*time.Second, s.MaxBackoff.Value)
	require.Equal(t, []config.Candidate{{Raw: "-1ns", Origin: inCode}}, s.MaxBackoff.Overridden)
	require.Equal(t, config.Setting[retry.Behavior]{Value: retry.V20, Raw: "v2.0", Origin: inCode, Overridden: []config.Candidate{}}, s.Behavior)
}
