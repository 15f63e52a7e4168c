package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/command/trace"
	"github.com/awsretry/awsretry/internal/testonly/bubble"
)

func TestReplayOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, args string }{
		{"replay-help", "replay -h"},
		{"replay-no-file", "replay"},
		{"replay-two-files", "replay testdata/traces/rate.json testdata/traces/sequence.json"},

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
// task.
func TestReplayOfRequestsThatStayOpen(t *testing.T) {
	t.Parallel()
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
			require.Less(t, bubble.Goroutines(), 10)
		}
	})

	synctest.Test(t, func(t *testing.T) {
		status := run(t.Context(), []string{"replay", "-", "--json"}, system{in: strings.NewReader(trace.String()), out: out, errs: io.Discard})
		require.Zero(t, status)
	})

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

func TestReplaySaysWhatIsWrongAndWhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, trace, want string }{
		{"nothing", "", ` there is no trace`},
		{"blanks", "\n\n", ` there is no trace`},
		{"list", `[]`, ` must be an object, not a list`},
		{"null", "\n null", ` there are neither steps nor operations`},
		{"not JSON", `{"steps": [` + "\n" + `{"response": {"status": 500},}]}`, `2:30: not JSON: `},
		{"misplaced bracket", `{"steps": []` + "\n]", `2:1: not JSON: `},
		{"missing comma", `{"steps": [{"t_s": 1}` + "\n" + ` {"t_s": 2}]}`, `2:2: not JSON: `},
		{"behind the trace", `{"steps": []}` + "\n\n" + `x`, `3:1: not JSON: `},
		{"an unfinished string behind the trace", `{"steps": []}` + "\n" + `"abc`, `2:5: not JSON: the file ends within the trace`},
		{"an unfinished word", `tru`, `1:4: not JSON: the file ends within the trace`},
		{"not a number", `{"steps": [{"t_s": NaN}]}`, `1:20: not JSON: `},
		{"ends in a list", `{"steps": [` + "\n", `2:1: not JSON: the file ends within the trace`},
		{"ends in a string", `{"mode": "stand`, `1:16: not JSON: the file ends within the trace`},
		{"in a skipped value", `{"x": [` + "\n" + `[{"y": tru}]]}`, `2:11: not JSON: `},

		{"not JSON in the second trace", `{"steps": []}` + "\n" + `{"steps": [1,]}`, `2:14: not JSON: `},
		{"bad value in the second trace", `{"steps": []} {"mode": 1, "steps": []}`, ` trace 2: mode: must be a string, not a number`},
		{"too short second trace", `{"steps": []} {"operations": [{"responses": [{"status": 500}]}]}`, ` trace 2: operations[0].responses: there are 1, `},

		{"empty", `{}`, ` there are neither steps nor operations`},
		{"no steps", `{"steps": null}`, ` there are neither steps nor operations`},
		{"both", `{"steps": [],` + "\n" + `"operations": []}`, ` operations: a trace has steps or operations, not both`},
		{"steps of another type", `{"steps": {}}`, ` steps: must be a list, not an object`},
		{"operations of another type", `{"operations": true}`, ` operations: must be a list, not a boolean`},
		{"first step of another type", `{"steps": [1]}`, ` steps[0]: must be an object, not a number`},
		{"first step null", `{"steps": [null]}`, ` steps[0].response: there is neither kind nor status nor error_code`},
		{"no known form", `{"steps": [{"request": "A"}]}`, ` steps[0].response: there is neither kind nor status nor error_code`},

		{"unknown reach", `{"steps": [{"response": {"kind": "throttling", "throttled_by": [{"reach": "part"}, {"reach": "table"}]}}]}`, ` steps[0].response.throttled_by[1].reach: must be one of other, part, scope, unknown, wider, not "table"`},
		{"unknown mode", `{"mode": "legacy", "steps": []}`, ` mode: must be one of standard, adaptive, not "legacy"`},
		{"mode of another type", `{"mode": 1, "steps": []}`, ` mode: must be a string, not a number`},
		{"mode without a send rate", `{"mode": "standard", "steps": [{"t_s": 1}]}`, ` mode: steps with t_s are about`},
		{"unknown behavior", `{"behavior": "v2.2", "steps": []}`, ` behavior: must be one of v2.1, v2.0, not "v2.2"`},
		{"negative start", `{"start_s": -1, "steps": []}`, ` start_s: must be from 0 to 9000000000, not -1`},
		{"setup of another type", `{"given": [], "steps": []}`, ` given: must be an object, not a list`},
		{"no attempts", `{"given": {"max_attempts": 0}, "steps": []}`, ` given.max_attempts: must be from 1 to 2147483647, not 0`},
		{"half an attempt", `{"given": {"max_attempts": 1.5}, "steps": []}`, ` given.max_attempts: must be a whole number, not 1.5`},
		{"negative quota", `{"given": {"initial_quota": -1}, "steps": []}`, ` given.initial_quota: must be from 0 to 2147483647, not -1`},
		{"negative capacity", `{"given": {"quota_capacity": -1}, "steps": []}`, ` given.quota_capacity: must be from 0 to 2147483647, not -1`},
		{"jitter above 1", `{"given": {"jitter": 1.01}, "steps": []}`, ` given.jitter: must be from 0 to 1, not 1.01`},
		{"no backoff", `{"given": {"max_backoff_s": 1e-10}, "steps": []}`, ` given.max_backoff_s: must be a nanosecond or more`},
		{"huge backoff", `{"given": {"max_backoff_s": 1e999}, "steps": []}`, ` given.max_backoff_s: must be from 0 to 9000000000, not 1e999`},
		{"service of another type", `{"given": {"service": {}}, "steps": []}`, ` given.service: must be a string, not an object`},
		{"long polling of another type", `{"given": {"long_polling": "no"}, "steps": []}`, ` given.long_polling: must be a boolean, not a string`},

		{"no response", `{"steps": [{"response": {"kind": "success"}},` + "\n" + `{"request": "A"}]}`, ` steps[1].response: there is neither kind nor status nor error_code`},
		{"null response", `{"steps": [{"response": null}]}`, ` steps[0].response: there is neither kind nor status nor error_code`},
		{"a step null", `{"steps": [{"response": {"kind": "success"}}, null]}`, ` steps[1].response: there is neither kind nor status nor error_code`},
		{"empty response", `{"steps": [{"response": {"headers": {}}}]}`, ` steps[0].response: there is neither kind nor status nor error_code`},
		{"unknown kind", `{"steps": [{"response": {"kind": "dns"}}]}`, ` steps[0].response.kind: must be one of success, transient, `},
		{"status of another type", `{"steps": [{"response": {"status": "500"}}]}`, ` steps[0].response.status: must be a whole number, not a string`},
		{"status out of range", `{"steps": [{"response": {"status": 1000}}]}`, ` steps[0].response.status: must be from 0 to 999, not 1000`},
		{"code of another type", `{"steps": [{"response": {"error_code": 5}}]}`, ` steps[0].response.error_code: must be a string, not a number`},
		{"header of another type", `{"steps": [{"response": {"headers": {"X-AMZ-Retry-After": 5}}}]}`, ` steps[0].response.headers.X-AMZ-Retry-After: must be a string, not a number`},
		{"request of another type", `{"steps": [{"request": 1, "response": {"status": 200}}]}`, ` steps[0].request: must be a string, not a number`},

		{"time missing", `{"steps": [{"t_s": 1},` + "\n" + `{"throttled": true}]}`, ` steps[1].t_s: is missing`},
		{"a step of the rate null", `{"steps": [{"t_s": 1}, null]}`, ` steps[1].t_s: is missing`},
		{"negative time", `{"steps": [{"t_s": -0.5}]}`, ` steps[0].t_s: must be from 0 to 9000000000, not -0.5`},
		{"time beyond all bounds", `{"steps": [{"t_s": 1e300}]}`, ` steps[0].t_s: must be from 0 to 9000000000, not 1e300`},
		{"throttled of another type", `{"steps": [{"t_s": 1, "throttled": 1}]}`, ` steps[0].throttled: must be a boolean, not a number`},
		{"never repeated", `{"steps": [{"t_s": 1, "repeat": 0}]}`, ` steps[0].repeat: must be from 1 to 1000000, not 0`},

		{"operation null", `{"operations": [null]}`, ` operations[0].responses: is missing or empty`},
		{"no responses", `{"operations": [{"latency_s": 1}]}`, ` operations[0].responses: is missing or empty`},
		{"null responses", `{"operations": [{"responses": null}]}`, ` operations[0].responses: is missing or empty`},
		{"a response null", `{"operations": [{"responses": [null]}]}`, ` operations[0].responses[0]: there is neither kind nor status nor error_code`},
		{"bad response", `{"operations": [{"responses": [{"status": 200}, {"status": {}}]}]}`, ` operations[0].responses[1].status: must be a whole number, not an object`},
		{"negative latency", `{"operations": [{"latency_s": -1, "responses": [{"status": 200}]}]}`, ` operations[0].latency_s: must be from 0 to 9000000000, not -1`},
		{"operation starts too late", `{"operations": [{"start_s": 1e10, "responses": [{"status": 200}]}]}`, ` operations[0].start_s: must be from 0 to 9000000000, not 1e10`},
		{"empty responses", `{"operations": [{"responses": []}]}`, ` operations[0].responses: is missing or empty`},
		{"too few responses", `{"operations": [` + "\n" + `{"responses": [{"status": 500}]}]}`, ` operations[0].responses: there are 1, and the strategy asks for attempt 2`},

		{"operations too long", `{"operations": [{"latency_s": 9e9, "responses": [{"status": 200}]},` + "\n" +
			`{"latency_s": 1, "responses": [{"status": 200}]}]}`, ` operations[1]: the time of the trace is beyond 9000000000 s`},
		{
			"steps too long", `{"given": {"max_backoff_s": 9e9, "max_attempts": 100}, "steps": [` +
				strings.Repeat(`{"response": {"kind": "throttling"}},`+"\n", 40) + `{"response": {"status": 200}}]}`,
			` steps[34]: the time of the trace is beyond 9000000000 s`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, errs, status := runReplay(t, strings.NewReader(c.trace), "replay", "--json", "-")
			require.Equal(t, exitBad, status)
			require.True(t, strings.HasPrefix(errs, "awsretry replay: <standard input>:"+c.want), errs)
			lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
			var last struct {
				Error struct {
					Code, Message string
					Origin        map[string]any
				}
			}
			require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &last))
			require.Equal(t, "invalid-trace", last.Error.Code)
			require.Equal(t, "awsretry replay: "+last.Error.Message+"\n", errs)
			require.Equal(t, "<standard input>", last.Error.Origin["file"])
			if line, ok := last.Error.Origin["line"]; ok {
				require.True(t, strings.HasPrefix(c.want, fmt.Sprintf("%v:%v: ", line, last.Error.Origin["column"])))
			}
			if field, ok := last.Error.Origin["field"]; ok {
				require.Contains(t, c.want, fmt.Sprintf(" %s: ", field))
			}
		})
	}
}

func TestReplayOfAFileThatIsTooLarge(t *testing.T) {
	t.Parallel()
	text := `{"steps": []}`
	room := trace.MaxBytes - len(text)
	out, errs, status := runReplay(t, strings.NewReader(text+strings.Repeat(" ", room)), "replay", "--json", "-")
	require.Zero(t, status)
	require.Empty(t, out+errs)

	_, errs, status = runReplay(t, strings.NewReader(text+strings.Repeat(" ", room+1)), "replay", "-")

	require.Equal(t, "awsretry replay: <standard input>: the file is larger than 16 MiB\n", errs)
	require.Equal(t, exitBad, status)
}

func TestReplayOfInputThatBreaksOff(t *testing.T) {
	t.Parallel()
	in := io.MultiReader(strings.NewReader(`{"steps": [`), iotest.ErrReader(errors.New("line is dead")))

	out, errs, status := runReplay(t, in, "replay", "--json", "-")

	require.Equal(t, exitBad, status)
	require.Equal(t, "awsretry replay: reading the trace: line is dead\n", errs)
	require.JSONEq(t, `{"error": {"code": "unreadable-file", "message": "reading the trace: line is dead",
		"origin": {"file": "<standard input>"}}}`, out)
}

func TestReplayKeepsTheNanosecondsOfEpochTimes(t *testing.T) {
	t.Parallel()
	trace := `{"start_s": 1795300000.000000001, "operations": [
		{"start_s": 1795300000.000000003, "latency_s": 0.000000004, "responses": [{"status": 500}, {"status": 200}]}]}`
	out, errs, status := runReplay(t, strings.NewReader(trace), "replay", "--json", "-")
	require.Empty(t, errs)
	require.Zero(t, status)
	require.Contains(t, out, `"sent_at_s":[1795300000.000000003,1795300000.050000007],"send_wait_s":[0,0],"end_t_s":1795300000.050000011,`)
}

func TestReplayOfOutcomesAtEpochTimesIsThatOfTheSameOutcomesEarly(t *testing.T) {
	t.Parallel()
	rates := func(second string) string {
		out, errs, status := runReplay(t, strings.NewReader(strings.ReplaceAll(`{"start_s": S.000000000, "steps": [
			{"t_s": S.100000001, "throttled": true}, {"t_s": S.499999999}, {"t_s": S.999999999, "throttled": true}]}`, "S", second)),
			"replay", "--json", "-")
		require.Empty(t, errs)
		require.Zero(t, status)
		return out
	}
	// Half a second ends a window of the measured rate, and a nanosecond less does not.
	require.Equal(t, rates("4"), rates("1795300004"))
}

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
