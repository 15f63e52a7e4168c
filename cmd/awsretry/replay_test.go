package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplayOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, args string }{
		{"replay-help", "replay -h"},
		{"replay-no-file", "replay"},
		{"replay-two-files", "replay testdata/traces/rate.json testdata/traces/sequence.json"},
		{"replay-unknown-flag", "replay testdata/traces/rate.json --explain"},

		{"replay-sequence", "replay testdata/traces/sequence.json"},
		{"replay-concurrent", "replay testdata/traces/concurrent.json --json"},
		{"replay-adaptive", "replay testdata/traces/adaptive.json"},
		{"replay-interleaved", "replay testdata/traces/interleaved.json"},
		{"replay-rate", "replay testdata/traces/rate.json"},
		{"replay-operations", "replay testdata/traces/operations.json"},
		{"replay-operations-standard", "replay testdata/traces/operations-standard.json"},
		{"replay-long-polling", "replay testdata/traces/long-polling.json"},
		{"replay-several", "replay testdata/traces/several.json"},

		{"replay-missing-file", "replay testdata/traces/none.json"},
		{"replay-missing-file-json", "replay --json testdata/traces/none.json"},
		{"replay-log", "replay testdata/traces/access.csv"},
		{"replay-directory", "replay testdata/traces"},
		{"replay-bad-status", "replay testdata/traces/bad-status.json"},
		{"replay-bad-status-json", "replay testdata/traces/bad-status.json --json"},
		{"replay-bad-end-json", "replay testdata/traces/bad-end.json --json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, errs, status := runReplay(t, strings.NewReader(""), strings.Fields(c.args)...)
			requireGolden(t, c.name, fmt.Sprintf("$ awsretry %s\n%s--- stderr\n%s--- exit %d\n", c.args, out, errs, status))
		})
	}
}

func runReplay(t *testing.T, in io.Reader, args ...string) (out, errs string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	status = run(t.Context(), args, system{in: in, out: &o, errs: &e, sources: world(nil, nil)})
	return o.String(), e.String(), status
}

func TestReplayReadsStandardInput(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sequence", "concurrent", "adaptive", "rate", "operations", "several"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("testdata", "traces", name+".json")
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			want, _, status := runReplay(t, nil, "replay", path)
			require.Zero(t, status)

			out, errs, status := runReplay(t, bytes.NewReader(text), "replay", "-")

			require.Equal(t, want, out)
			require.Empty(t, errs)
			require.Zero(t, status)
		})
	}
}

func TestReplayReadsWhatAThrottleIsAbout(t *testing.T) {
	t.Parallel()
	for reach, slowed := range map[string]bool{"part": false, "scope": true} {
		trace := `{"mode": "adaptive", "steps": [{"response": {"kind": "throttling", "throttled_by": [{"reach": "` + reach + `"}]}}]}`
		out, errs, status := runReplay(t, strings.NewReader(trace), "replay", "-", "--json")
		require.Zero(t, status, errs)
		require.Contains(t, out, fmt.Sprintf(`"enabled":%t}`, slowed), reach)
	}
}

func TestReplayTakesTheServiceOfTheFlag(t *testing.T) {
	t.Parallel()
	steps := `"behavior": "v2.1", "steps": [{"response": {"kind": "transient"}}]}`
	for _, c := range []struct{ name, trace, want string }{
		{"no service", `{` + steps, `"delay_s":0.025`},
		{"null", `{"given": {"service": null}, ` + steps, `"delay_s":0.025`},
		{"the trace has one", `{"given": {"service": "s3"}, ` + steps, `"delay_s":0.05,`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, _, status := runReplay(t, strings.NewReader(c.trace), "replay", "-", "--service", "dynamodb")
			require.Zero(t, status)
			require.Contains(t, out, c.want)
		})
	}
}

func TestReplayDefaults(t *testing.T) {
	t.Parallel()
	steps := `"steps": [{"response": {"kind": "transient"}}, {"response": {"kind": "transient"}}, {"response": {"kind": "transient"}}]}`
	want, _, status := runReplay(t, strings.NewReader(`{"mode": "standard", "behavior": "v2.1", "start_s": 0,
		"given": {"max_attempts": 3, "initial_quota": 500, "quota_capacity": 500, "jitter": 1, "max_backoff_s": 20,
		"service": "", "long_polling": false}, `+steps), "replay", "-", "--json")
	require.Zero(t, status)
	require.Contains(t, want, `{"attempt":2,"outcome":"retry","delay_s":0.1,"quota_after":472}`)
	for _, c := range []struct{ name, trace string }{
		{"absent", `{` + steps},
		{"empty", `{"given": {}, ` + steps},
		{"no setup", `{"given": null, ` + steps},
		{"null", `{"mode": null, "behavior": null, "start_s": null,
			"given": {"max_attempts": null, "initial_quota": null, "quota_capacity": null, "jitter": null, "max_backoff_s": null,
			"service": null, "long_polling": null}, ` + steps},
		{"behind the steps", `{` + steps[:len(steps)-1] + `, "mode": "standard", "given": {"max_attempts": 3.0}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, _, status := runReplay(t, strings.NewReader(c.trace), "replay", "-", "--json")
			require.Zero(t, status)
			require.Equal(t, want, out)
		})
	}
}

func TestReplayInTextNamesTheBehavior(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, trace, want string }{
		{
			"default", `{"steps": [{"response": {"kind": "transient"}}]}`,
			"standard mode, behavior v2.1, the default\n" + `{"attempt":1,"outcome":"retry","delay_s":0.05,"quota_after":486}`,
		},
		{
			"null", `{"mode": "adaptive", "behavior": null, "operations": []}`,
			"adaptive mode, behavior v2.1, the default",
		},
		{
			"v2.1", `{"behavior": "v2.1", "operations": []}`,
			"adaptive mode, behavior v2.1",
		},
		{
			"v2.0, behind the steps", `{"steps": [{"response": {"kind": "transient"}}], "behavior": "v2.0"}`,
			"standard mode, behavior v2.0\n" + `{"attempt":1,"outcome":"retry","delay_s":1,"quota_after":495}`,
		},
		{
			"outcomes for the send rate", `{"steps": [{"t_s": 1}]}`,
			"send rate of adaptive mode, the same in every behavior\n" +
				`{"measured_tx_rate":0.8,"fill_rate":0.5,"max_capacity":1,"tokens":0,"enabled":false}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, errs, status := runReplay(t, strings.NewReader(c.trace), "replay", "-")
			require.Equal(t, c.want+"\n", out)
			require.Empty(t, errs)
			require.Zero(t, status)
		})
	}
}

func TestReplayWithAnInitialQuotaOfZero(t *testing.T) {
	t.Parallel()
	steps := `"steps": [{"response": {"kind": "success"}}, {"response": {"kind": "transient"}}]}`
	for _, c := range []struct{ name, given, want string }{
		{"without a capacity", `"initial_quota": 0`, `"quota_after":0}`},
		{"with a capacity", `"initial_quota": 0, "quota_capacity": 10`, `"quota_after":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, _, status := runReplay(t, strings.NewReader(`{"given": {`+c.given+`}, `+steps), "replay", "-")
			require.Zero(t, status)
			require.Contains(t, out, `{"attempt":1,"outcome":"success","delay_s":null,`+c.want)
			require.Contains(t, out, `{"attempt":1,"outcome":"quota_exceeded","delay_s":null,`+c.want)
		})
	}
}

func TestReplayOfTracesWithNothingInBetween(t *testing.T) {
	t.Parallel()
	trace := `{"steps":[{"response":{"status":429}}]}`

	out, errs, status := runReplay(t, strings.NewReader(trace+trace), "replay", "-", "--json")

	require.Equal(t, strings.Repeat(`{"attempt":1,"outcome":"retry","delay_s":1,"quota_after":495}`+"\n", 2), out)
	require.Empty(t, errs)
	require.Zero(t, status)
}

// The retry of a request without a further step stays granted: it gives back no quota, and keeps no
// task. The test counts goroutines, so that no other one runs beside it.
func TestReplayOfRequestsThatStayOpen(t *testing.T) {
	const steps = 5_000
	var trace strings.Builder
	trace.WriteString(`{"mode": "adaptive", "behavior": "v2.0", "given": {"initial_quota": 5000}, "steps": [{"response": {"status": 500}}`)
	for i := range steps {
		fmt.Fprintf(&trace, `, {"request": "%d", "response": {"status": 500}}`, i)
	}
	trace.WriteString(`]}`)
	var lines []string
	out := writerFunc(func(line []byte) {
		lines = append(lines, string(line))
		if len(lines) == steps {
			require.Less(t, runtime.NumGoroutine(), steps/5)
		}
	})

	status := run(t.Context(), []string{"replay", "-", "--json"}, system{in: strings.NewReader(trace.String()), out: out, errs: io.Discard})

	require.Zero(t, status)
	require.Len(t, lines, steps+1)
	require.Contains(t, lines[999], `"outcome":"retry","delay_s":1,"quota_after":0,`)
	for _, line := range lines[1000:] {
		require.Contains(t, line, `"outcome":"quota_exceeded","delay_s":null,"quota_after":0,`)
	}
}

type writerFunc func(text []byte)

func (f writerFunc) Write(text []byte) (int, error) {
	f(text)
	return len(text), nil
}

func TestReplayOfAnEmptyFile(t *testing.T) {
	t.Parallel()
	_, errs, status := runReplay(t, nil, "replay", os.DevNull)

	require.Equal(t, "awsretry replay: "+os.DevNull+": there is no trace\n", errs)
	require.Equal(t, exitBad, status)
}

func TestReplayEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var errs strings.Builder
	in := strings.NewReader(`{"operations": [{"start_s": 5, "responses": [{"status": 200}]}]}`)

	status := run(ctx, []string{"replay", "-"}, system{in: in, out: io.Discard, errs: &errs})

	require.Equal(t, "awsretry replay: context canceled\n", errs.String())
	require.Equal(t, exitBad, status)
}
