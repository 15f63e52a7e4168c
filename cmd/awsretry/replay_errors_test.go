package main

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestReplaySaysWhatIsWrongAndWhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, trace, want string }{
		{"nothing", "", `1: there is no trace`},
		{"blanks", "\n\n", `1: there is no trace`},
		{"list", `[]`, `1: must be an object, not a list`},
		{"null", "\n null", `2: must be an object, not null`},
		{"not JSON", `{"steps": [` + "\n" + `{"response": {"status": 500},}]}`, `2: steps[0]: not JSON: `},
		{"misplaced bracket", `{"steps": []` + "\n]", `2: not JSON: `},
		{"missing comma", `{"steps": [{"t_s": 1}` + "\n" + ` {"t_s": 2}]}`, `2: steps[1]: not JSON: `},
		{"behind the trace", `{"steps": []}` + "\n\n" + `x`, `3: not JSON: `},
		{"an unfinished string behind the trace", `{"steps": []}` + "\n" + `"abc`, `2: not JSON: the file ends within the trace`},
		{"an unfinished word", `tru`, `1: not JSON: the file ends within the trace`},
		{"not a number", `{"steps": [{"t_s": NaN}]}`, `1: steps[0].t_s: not JSON: `},
		{"ends in a list", `{"steps": [` + "\n", `1: steps: not JSON: the file ends within the trace`},
		{"ends in a string", `{"mode": "stand`, `1: mode: not JSON: the file ends within the trace`},
		{"in a skipped value", `{"x": [` + "\n" + `[{"y": tru}]]}`, `2: x: not JSON: `},

		{"empty", `{}`, `1: there are neither steps nor operations`},
		{"no steps", `{"steps": null}`, `1: there are neither steps nor operations`},
		{"both", `{"steps": [],` + "\n" + `"operations": []}`, `2: operations: a trace has steps or operations, and has them once`},
		{"twice", `{"steps": [], "steps": []}`, `1: steps: a trace has steps or operations, and has them once`},
		{"steps of another type", `{"steps": {}}`, `1: steps: must be a list, not an object`},
		{"operations of another type", `{"operations": true}`, `1: operations: must be a list, not a boolean`},
		{"first step of another type", `{"steps": [1]}`, `1: steps[0]: must be an object, not a number`},
		{"first step null", `{"steps": [null]}`, `1: steps[0]: must be an object, not null`},
		{"no known form", `{"steps": [{"request": "A"}]}`, `1: steps[0]: there is neither response nor t_s`},

		{"unknown mode", `{"mode": "legacy", "steps": []}`, `1: mode: must be one of standard, adaptive, not "legacy"`},
		{"mode of another type", `{"mode": 1, "steps": []}`, `1: mode: must be a string, not a number`},
		{"mode without a send rate", `{"mode": "standard", "steps": [{"t_s": 1}]}`, `1: mode: steps with t_s are about`},
		{"unknown behavior", `{"behavior": "v2.2", "steps": []}`, `1: behavior: must be one of v2.1, v2.0, not "v2.2"`},
		{"negative start", `{"start_s": -1, "steps": []}`, `1: start_s: must be from 0 to 9000000000, not -1`},
		{"setup of another type", `{"given": [], "steps": []}`, `1: given: must be an object, not a list`},
		{"no attempts", `{"given": {"max_attempts": 0}, "steps": []}`, `1: given.max_attempts: must be from 1 to 2147483647, not 0`},
		{"half an attempt", `{"given": {"max_attempts": 1.5}, "steps": []}`, `1: given.max_attempts: must be a whole number, not 1.5`},
		{"negative quota", `{"given": {"initial_quota": -1}, "steps": []}`, `1: given.initial_quota: must be from 0 to`},
		{"negative capacity", `{"given": {"quota_capacity": -1}, "steps": []}`, `1: given.quota_capacity: must be from 0 to`},
		{"jitter above 1", `{"given": {"jitter": 1.01}, "steps": []}`, `1: given.jitter: must be from 0 to 1, not 1.01`},
		{"no backoff", `{"given": {"max_backoff_s": 1e-10}, "steps": []}`, `1: given.max_backoff_s: must be a nanosecond or more`},
		{"huge backoff", `{"given": {"max_backoff_s": 1e999}, "steps": []}`, `1: given.max_backoff_s: must be from 0 to 9000000000, not 1e999`},
		{"service of another type", `{"given": {"service": {}}, "steps": []}`, `1: given.service: must be a string, not an object`},
		{"long polling of another type", `{"given": {"long_polling": "no"}, "steps": []}`, `1: given.long_polling: must be a boolean, not a string`},

		{"no response", `{"steps": [{"response": {"kind": "success"}},` + "\n" + `{"request": "A"}]}`, `2: steps[1].response: is missing`},
		{"null response", `{"steps": [{"response": null}]}`, `1: steps[0].response: is missing`},
		{"a step null", `{"steps": [{"response": {"kind": "success"}}, null]}`, `1: steps[1]: must be an object, not null`},
		{"empty response", `{"steps": [{"response": {"headers": {}}}]}`, `1: steps[0].response: there is neither kind nor status nor error_code`},
		{"unknown kind", `{"steps": [{"response": {"kind": "dns"}}]}`, `1: steps[0].response.kind: must be one of success, transient, `},
		{"status of another type", `{"steps": [{"response": {"status": "500"}}]}`, `1: steps[0].response.status: must be a number, not a string`},
		{"status out of range", `{"steps": [{"response": {"status": 1000}}]}`, `1: steps[0].response.status: must be from 0 to 999, not 1000`},
		{"code of another type", `{"steps": [{"response": {"error_code": 5}}]}`, `1: steps[0].response.error_code: must be a string, not a number`},
		{"header of another type", `{"steps": [{"response": {"headers": {"X-AMZ-Retry-After": 5}}}]}`, `1: steps[0].response.headers.X-AMZ-Retry-After: must be a string`},
		{"request of another type", `{"steps": [{"request": 1, "response": {"status": 200}}]}`, `1: steps[0].request: must be a string, not a number`},

		{"time missing", `{"steps": [{"t_s": 1},` + "\n" + `{"throttled": true}]}`, `2: steps[1].t_s: is missing`},
		{"a step of the rate null", `{"steps": [{"t_s": 1}, null]}`, `1: steps[1]: must be an object, not null`},
		{"negative time", `{"steps": [{"t_s": -0.5}]}`, `1: steps[0].t_s: must be from 0 to 9000000000, not -0.5`},
		{"time beyond all bounds", `{"steps": [{"t_s": 1e300}]}`, `1: steps[0].t_s: must be from 0 to 9000000000, not 1e300`},
		{"throttled of another type", `{"steps": [{"t_s": 1, "throttled": 1}]}`, `1: steps[0].throttled: must be a boolean, not a number`},
		{"never repeated", `{"steps": [{"t_s": 1, "repeat": 0}]}`, `1: steps[0].repeat: must be from 1 to 1000000, not 0`},

		{"operation null", `{"operations": [null]}`, `1: operations[0]: must be an object, not null`},
		{"no responses", `{"operations": [{"latency_s": 1}]}`, `1: operations[0].responses: is missing`},
		{"null responses", `{"operations": [{"responses": null}]}`, `1: operations[0].responses: is missing`},
		{"a response null", `{"operations": [{"responses": [null]}]}`, `1: operations[0].responses[0]: must be an object, not null`},
		{"bad response", `{"operations": [{"responses": [{"status": 200}, {"status": {}}]}]}`, `1: operations[0].responses[1].status: must be a number, not an object`},
		{"negative latency", `{"operations": [{"latency_s": -1, "responses": []}]}`, `1: operations[0].latency_s: must be from 0 to`},
		{"operation starts too late", `{"operations": [{"start_s": 1e10, "responses": []}]}`, `1: operations[0].start_s: must be from 0 to`},
		{"empty responses", `{"operations": [{"responses": []}]}`, `1: operations[0].responses: there are 0, and the strategy asks for attempt 1`},
		{"too few responses", `{"operations": [` + "\n" + `{"responses": [{"status": 500}]}]}`, `2: operations[0].responses: there are 1, and the strategy asks for attempt 2`},

		{"operations too long", `{"operations": [{"latency_s": 9e9, "responses": [{"status": 200}]},` + "\n" +
			`{"latency_s": 1, "responses": [{"status": 200}]}]}`, `2: operations[1]: the time of the trace is beyond 9000000000 s`},
		{
			"steps too long", `{"given": {"max_backoff_s": 9e9, "max_attempts": 100}, "steps": [` +
				strings.Repeat(`{"response": {"kind": "throttling"}},`+"\n", 40) + `{"response": {"status": 200}}]}`,
			`35: steps[34]: the time of the trace is beyond 9000000000 s`,
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
			line, _, _ := strings.Cut(c.want, ":")
			require.Equal(t, line, inFull(last.Error.Origin["line"].(float64)))
			require.Equal(t, "<standard input>", last.Error.Origin["file"])
		})
	}
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
