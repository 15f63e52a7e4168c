package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzReplay replays any bytes. The command must not panic or hang. Each line of the output is
// one JSON object, an error has a place, and another run has the same output.
func FuzzReplay(f *testing.F) {
	place := regexp.MustCompile(`^awsretry replay: <standard input>:([1-9][0-9]*:[1-9][0-9]*:)? `)
	f.Fuzz(func(t *testing.T, trace []byte) {
		if bytes.Count(trace, []byte("repeat")) > 3 {
			return // allowed, and takes its time
		}
		out, errs, status := runReplay(t, bytes.NewReader(trace), "replay", "--json", "-")
		again, _, _ := runReplay(t, bytes.NewReader(trace), "replay", "--json", "-")
		require.Equal(t, out, again)
		if status == exitFine {
			require.Empty(t, errs)
		} else {
			require.Equal(t, exitBad, status)
			require.Regexp(t, place, errs)
			require.Contains(t, out, `{"error":{"code":"invalid-trace",`)
		}
		for line := range bytes.Lines([]byte(out)) {
			var members map[string]any
			require.NoError(t, json.Unmarshal(line, &members))
			require.NotEmpty(t, members)
		}
	})
}
