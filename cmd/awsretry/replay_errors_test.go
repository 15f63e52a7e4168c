package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/command/trace"
)

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

func TestReplayToAnOutputThatIsFull(t *testing.T) {
	t.Parallel()
	var errs strings.Builder
	in := strings.NewReader(`{"steps": [{"t_s": 1}]}`)

	status := run(t.Context(), []string{"replay", "-"}, system{in: in, out: fullWriter{}, errs: &errs})

	require.Equal(t, exitBad, status)
	require.Equal(t, "awsretry: the output cannot be written: no space\n", errs.String())
}

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errors.New("no space") }
