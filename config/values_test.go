package config_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
)

// FuzzValues reads values of any text. A value that is accepted is in range, and its plain
// form is read as the same value. An error names what is accepted.
func FuzzValues(f *testing.F) {
	for _, raw := range []string{"", "standard", " Adaptive\t", "legacy", "adaptive_v2", "+010", "2147483647", "2147483648", "-1", "5\n...", "1m30s", "0", " .5h ", "-0s", "9223372036854775807ns"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		plain, note, err := config.ParseMaxAttempts(raw)
		if requireReason(t, raw, err, config.ErrMaxAttempts) {
			n, err := strconv.Atoi(plain)
			require.NoError(t, err)
			require.Equal(t, strconv.Itoa(n), plain)
			require.True(t, n >= 1 && n <= 1<<31-1, plain)
			require.Empty(t, note)
			requirePlain(t, config.ParseMaxAttempts, plain)
		}
		plain, note, err = config.ParseMode(raw)
		if requireReason(t, raw, err, config.ErrMode) {
			require.Contains(t, []string{"standard", "adaptive"}, plain)
			require.Equal(t, !strings.EqualFold(strings.TrimSpace(raw), plain), note != "", raw)
			requirePlain(t, config.ParseMode, plain)
		}
		plain, note, err = config.ParseDuration(raw)
		longest, _, tooShort := config.ParseMaxBackoff(raw)
		if err != nil {
			require.ErrorIs(t, err, config.ErrDuration)
		} else {
			d, err := time.ParseDuration(plain)
			require.NoError(t, err)
			require.GreaterOrEqual(t, d, time.Duration(0))
			require.Equal(t, d.String(), plain)
			require.Empty(t, note)
			requirePlain(t, config.ParseDuration, plain)
		}
		if err == nil && plain != "0s" {
			require.NoError(t, tooShort)
			require.Equal(t, plain, longest)
		} else {
			require.ErrorIs(t, tooShort, config.ErrMaxBackoff)
		}
		plain, note, err = config.ParseBehavior(raw)
		require.Equal(t, raw == "v2.0" || raw == "v2.1", err == nil)
		if err == nil {
			require.Equal(t, raw, plain)
			require.Empty(t, note)
			return
		}
		require.ErrorIs(t, err, config.ErrBehavior)
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

// requirePlain checks that the plain form of a value is read as the same value.
func requirePlain(t *testing.T, parse func(string) (string, string, error), plain string) {
	t.Helper()
	again, note, err := parse(plain)
	require.NoError(t, err)
	require.Equal(t, plain, again)
	require.Empty(t, note)
}

func TestValuesThatAreAccepted(t *testing.T) {
	t.Parallel()
	const legacy, v2 = "a mode of other tools, read as standard", "a mode of other tools, read as adaptive"
	for _, c := range []struct {
		name              string
		parse             func(string) (string, string, error)
		raw, plain, notes string
	}{
		{"mode", config.ParseMode, "adaptive", "adaptive", ""},
		{"mode in capitals", config.ParseMode, "STANDARD", "standard", ""},
		{"mode in whitespace", config.ParseMode, " \t\u00a0Adaptive\u2003\r", "adaptive", ""},
		{"legacy", config.ParseMode, "Legacy", "standard", legacy},
		{"adaptive_v2", config.ParseMode, "ADAPTIVE_V2", "adaptive", v2},
		{"one", config.ParseMaxAttempts, "1", "1", ""},
		{"the largest", config.ParseMaxAttempts, "2147483647", "2147483647", ""},
		{"leading zeros", config.ParseMaxAttempts, "010", "10", ""},
		{"many leading zeros", config.ParseMaxAttempts, strings.Repeat("0", 10_000) + "7", "7", ""},
		{"plus sign", config.ParseMaxAttempts, "+5", "5", ""},
		{"number in whitespace", config.ParseMaxAttempts, "\u00a0 5\t", "5", ""},
		{"duration", config.ParseDuration, "90s", "1m30s", ""},
		{"no duration", config.ParseDuration, "0", "0s", ""},
		{"duration in whitespace", config.ParseDuration, "\u00a0+.5s\n", "500ms", ""},
		{"the longest duration", config.ParseDuration, "9223372036854775807ns", "2562047h47m16.854775807s", ""},
		{"longest delay", config.ParseMaxBackoff, " 20s", "20s", ""},
		{"behavior", config.ParseBehavior, "v2.0", "v2.0", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			plain, note, err := c.parse(c.raw)
			require.NoError(t, err)
			require.Equal(t, []string{c.plain, c.notes}, []string{plain, note})
		})
	}
}

func TestValuesThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"", " ", "standard # x", "standardK", "adaptıve", `"standard"`, "adaptive_v3", "stan dard", "\x00standard",
	} {
		_, _, err := config.ParseMode(raw)
		require.ErrorIs(t, err, config.ErrMode, raw)
	}
	for _, raw := range []string{
		"", " ", "0", "000", "-1", "+-1", "++1", "+", "+ 1", "\u200b1", "abc", "1 2", "3.5", "0x3", "1_000", "1e3", "٣", "2147483648", "99999999999999999999", "5 # x",
	} {
		_, _, err := config.ParseMaxAttempts(raw)
		require.ErrorIs(t, err, config.ErrMaxAttempts, raw)
	}
	for _, raw := range []string{"", " ", "5", "-1ns", "5 s", "5S", "1d", "soon", "9223372036854775808ns", "NaN", "5s # x"} {
		_, _, err := config.ParseDuration(raw)
		require.ErrorIs(t, err, config.ErrDuration, raw)
		_, _, err = config.ParseMaxBackoff(raw)
		require.ErrorIs(t, err, config.ErrMaxBackoff, raw)
	}
	for _, raw := range []string{"0", "0s", "-0h"} {
		_, _, err := config.ParseMaxBackoff(raw)
		require.ErrorIs(t, err, config.ErrMaxBackoff, raw)
	}
	for _, raw := range []string{"", "V2.1", " v2.1", "2.1", "v2.2"} {
		_, _, err := config.ParseBehavior(raw)
		require.ErrorIs(t, err, config.ErrBehavior, raw)
	}
	_, _, err := config.ParseMode("standard\nx")
	require.ErrorIs(t, err, config.ErrMultiLine)
	_, _, err = config.ParseMaxAttempts("5\n...")
	require.ErrorIs(t, err, config.ErrMultiLine)
}
