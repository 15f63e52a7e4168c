package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

// traced are the traces of a file with the form of standard.json or adaptive.json.
type traced struct {
	vectors.About

	Sequences  []json.RawMessage `json:"sequences"`
	Concurrent []json.RawMessage `json:"concurrent"`
	EndToEnd   []json.RawMessage `json:"e2e"`
	Operations []json.RawMessage `json:"operations"`

	// No trace has the form of these.
	Pools         json.RawMessage `json:"pools"`
	QuotaOps      json.RawMessage `json:"quota_ops"`
	BackoffTables json.RawMessage `json:"backoff_tables"`
	RetryAfter    json.RawMessage `json:"retry_after"`
	Cubic         json.RawMessage `json:"cubic"`
	RateClocker   json.RawMessage `json:"rate_clocker"`
	SendBucket    json.RawMessage `json:"send_bucket"`
	Waiters       json.RawMessage `json:"waiters"`
}

// vector is the wanted output for a trace. The command reads the other members.
type vector struct {
	vectors.Precision

	ID         string         `json:"id"`
	FinalQuota *float64       `json:"final_quota"`
	Steps      []expectations `json:"steps"`
	Operations []expectations `json:"operations"`
}

type expectations struct {
	Request string         `json:"request"`
	Want    map[string]any `json:"want"`

	MeasuredRate float64 `json:"measured_tx_rate"`
	FillRate     float64 `json:"new_token_bucket_rate"`
	MaxCapacity  float64 `json:"max_capacity"`
	Tokens       float64 `json:"tokens"`
	Enabled      bool    `json:"enabled"`
}

func TestReplayFollowsTheVectors(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"standard.json", "adaptive.json"} {
		for title, file := range vectors.Load[traced](t, "../..", os.Getenv("AWSRETRY_CONFORMANCE"), name) {
			follow[vectors.Sequence](t, title+"/sequences", file.Sequences, expectations.step)
			follow[vectors.Sequence](t, title+"/concurrent", file.Concurrent, expectations.step)
			follow[vectors.EndToEnd](t, title+"/e2e", file.EndToEnd, expectations.rate)
			follow[vectors.Operations](t, title+"/operations", file.Operations, expectations.operation)
		}
	}
}

// follow replays each trace. Each member of a trace is a member of T.
func follow[T any](t *testing.T, title string, traces []json.RawMessage, wanted func(expectations) map[string]any) {
	t.Helper()
	for _, trace := range traces {
		var v vector
		_, err := vectors.Decode[T](trace)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(trace, &v))
		t.Run(title+"/"+v.ID, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "trace.json")
			require.NoError(t, os.WriteFile(path, trace, 0o600))
			out, errs, status := runReplay(t, nil, "replay", path, "--json")
			require.Empty(t, errs)
			require.Zero(t, status)
			steps := v.Steps
			if steps == nil {
				steps = v.Operations
			}
			lines := requireLines(t, out)
			require.Len(t, lines, len(steps))
			require.NotEmpty(t, lines)
			for i, step := range steps {
				requireSame(t, fmt.Sprintf("line %d", i), wanted(step), lines[i], v.Precision)
			}
			if v.FinalQuota != nil {
				requireSame(t, "final quota", *v.FinalQuota, lines[len(lines)-1]["quota_after"], v.Precision)
			}
		})
	}
}

// step is a line without the number of the attempt.
func (e expectations) step() map[string]any {
	want := map[string]any{
		"outcome": e.Want["outcome"], "quota_after": e.Want["quota_after"], "delay_s": e.Want["delay_s"],
	}
	if e.Request != "" {
		want["request"] = e.Request
	}
	return want
}

func (e expectations) rate() map[string]any {
	return map[string]any{
		"measured_tx_rate": e.MeasuredRate, "fill_rate": e.FillRate,
		"max_capacity": e.MaxCapacity, "tokens": e.Tokens, "enabled": e.Enabled,
	}
}

func (e expectations) operation() map[string]any { return e.Want }

// requireLines reads the output and checks the numbers of the attempts.
func requireLines(t *testing.T, out string) (lines []map[string]any) {
	t.Helper()
	next := map[any]int{}
	for text := range strings.Lines(out) {
		var line map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &line))
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, []byte(text)))
		require.Equal(t, compact.String()+"\n", text)
		if attempt, ok := line["attempt"]; ok {
			request := line["request"]
			require.EqualValues(t, next[request]+1, attempt)
			next[request]++
			if line["outcome"] != "retry" {
				next[request] = 0
			}
			delete(line, "attempt")
		}
		lines = append(lines, line)
	}
	return lines
}

// requireSame compares values of JSON: numbers with the precision of the case, and objects member
// by member.
func requireSame(t *testing.T, what string, want, got any, p vectors.Precision) {
	t.Helper()
	switch want := want.(type) {
	case float64:
		number, ok := got.(float64)
		require.True(t, ok && p.Near(want, number), "%s: %v, not %v", what, got, want)
	case []any:
		require.Len(t, got, len(want), what)
		items, _ := got.([]any)
		for i := range want {
			requireSame(t, fmt.Sprintf("%s[%d]", what, i), want[i], items[i], p)
		}
	case map[string]any:
		members, _ := got.(map[string]any)
		require.Len(t, members, len(want), "%s: %v", what, got)
		for name := range want {
			require.Contains(t, members, name, what)
			requireSame(t, what+"."+name, want[name], members[name], p)
		}
	default:
		require.Equal(t, want, got, what)
	}
}
