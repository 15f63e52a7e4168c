package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/retry"
)

// MaxBytes is the maximum size of a text with traces.
const MaxBytes = 16 << 20

// The modes of a trace.
const (
	Standard = "standard"
	Adaptive = "adaptive"
)

// maxRepeat limits the repetitions of one outcome.
const maxRepeat = 1_000_000

// absent is a time that a trace does not have.
const absent = Seconds(-1)

// Error is an error in a file with traces. Its JSON has only its place.
type Error struct {
	File string `json:"file"`
	// Trace is the number of the trace in the file, from 1 on.
	Trace int `json:"trace,omitempty"`
	// Line and Column are the place of invalid JSON, from 1 on. Columns count bytes.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Field is the path to the value, such as "steps[3].response.status". It is empty for a trace
	// itself.
	Field   string `json:"field,omitempty"`
	Problem string `json:"-"`
}

// Error returns the place and what is wrong.
func (e *Error) Error() string {
	text := e.File + ": "
	if e.Line > 0 {
		text = fmt.Sprintf("%s:%d:%d: ", e.File, e.Line, e.Column)
	}
	if e.Trace > 1 {
		text += fmt.Sprintf("trace %d: ", e.Trace)
	}
	if e.Field != "" {
		text += e.Field + ": "
	}
	return text + e.Problem
}

func fail(field, format string, args ...any) error {
	return &Error{Field: field, Problem: fmt.Sprintf(format, args...)}
}

// Read reads the traces of a file, one after another. A trace without a service gets this one. The
// errors are of type [Error].
func Read(file string, text []byte, service string) (traces []*Trace, err error) {
	defer func() {
		if wrong, ok := errors.AsType[*Error](err); ok {
			wrong.File, wrong.Trace = file, len(traces)+1
		}
	}()
	if len(text) > MaxBytes {
		return nil, fail("", "the file is larger than %d MiB", MaxBytes>>20)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		var one json.RawMessage
		switch err := decoder.Decode(&one); {
		case errors.Is(err, io.EOF) && len(traces) > 0:
			return traces, nil
		case errors.Is(err, io.EOF):
			return nil, fail("", "there is no trace")
		case err != nil:
			return nil, notJSON(text, err)
		}
		t, err := read(one, service)
		if err != nil {
			return traces, err
		}
		traces = append(traces, t)
	}
}

// notJSON returns the error for a text that is not JSON.
func notJSON(text []byte, err error) error {
	offset, problem := len(text), "the file ends within the trace"
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset, problem = int(syntax.Offset)-1, syntax.Error()
	}
	before := text[:min(max(offset, 0), len(text))]
	return &Error{
		Line: 1 + bytes.Count(before, []byte("\n")), Column: len(before) - bytes.LastIndexByte(before, '\n'),
		Problem: "not JSON: " + problem,
	}
}

func read(text []byte, service string) (*Trace, error) {
	t := &Trace{Given: Given{Jitter: 1, MaxBackoff: absent, Service: service}}
	var lists struct {
		Steps      []json.RawMessage `json:"steps"`
		Operations []json.RawMessage `json:"operations"`
	}
	if err := decode("", text, t); err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	err := decode("", text, &lists)
	switch {
	case err != nil:
	case lists.Steps != nil && lists.Operations != nil:
		err = fail("operations", "a trace has steps or operations, not both")
	case lists.Operations != nil:
		t.Operations, err = list("operations", lists.Operations, readOperation)
	case lists.Steps == nil:
		err = fail("", "there are neither steps nor operations")
	case !areOutcomes(lists.Steps):
		t.Steps, err = list("steps", lists.Steps, readStep)
	case t.Mode == Standard:
		err = fail("mode", "steps with t_s are about the send rate of the adaptive mode")
	default:
		t.Outcomes, err = list("steps", lists.Steps, readOutcome)
	}
	return t, err
}

// areOutcomes reports whether steps are outcomes; the first one decides.
func areOutcomes(steps []json.RawMessage) bool {
	var first struct {
		T        json.RawMessage `json:"t_s"`
		Response json.RawMessage `json:"response"`
	}
	return len(steps) > 0 && json.Unmarshal(steps[0], &first) == nil && first.T != nil && first.Response == nil
}

// list reads the items of a list.
func list[T any](name string, texts []json.RawMessage, read func(field string, text []byte) (T, error)) ([]T, error) {
	items := make([]T, len(texts))
	for i, text := range texts {
		var err error
		if items[i], err = read(fmt.Sprintf("%s[%d]", name, i), text); err != nil {
			return nil, err
		}
	}
	return items, nil
}

func readStep(field string, text []byte) (s Step, err error) {
	if err = decode(field, text, &s); err == nil {
		err = s.Response.check(field + ".response")
	}
	return s, err
}

func readOutcome(field string, text []byte) (Outcome, error) {
	o := Outcome{T: absent, Repeat: 1}
	err := decode(field, text, &o)
	if err == nil && o.T == absent {
		err = fail(field+".t_s", "is missing")
	}
	return o, cmp.Or(err, within(field+".repeat", &o.Repeat, 1, maxRepeat))
}

func readOperation(field string, text []byte) (o Operation, err error) {
	var in struct {
		Responses []json.RawMessage `json:"responses"`
	}
	if err = decode(field, text, &in); err != nil {
		return o, err
	}
	if len(in.Responses) == 0 {
		return o, fail(field+".responses", "is missing or empty")
	}
	if _, err = list(field+".responses", in.Responses, readResponse); err != nil {
		return o, err
	}
	return o, decode(field, text, &o)
}

func readResponse(field string, text []byte) (r Response, err error) {
	if err = decode(field, text, &r); err == nil {
		err = r.check(field)
	}
	return r, err
}

// decode reads a value, which is JSON.
func decode(field string, text []byte, into any) error {
	err := json.Unmarshal(text, into)
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	if wrong.Type.Kind() == reflect.Int && wholeIn(text, wrong) {
		return decode(field, text, into)
	}
	if field != "" && wrong.Field != "" {
		field += "."
	}
	return fail(field+wrong.Field, "must be %s, not %s", wanted(wrong.Type), found(wrong.Value))
}

// wholeIn rewrites a whole number such as 3.0 or 1e1 for package json. It returns false for any
// other wrong value.
func wholeIn(text []byte, wrong *json.UnmarshalTypeError) bool {
	number, ok := strings.CutPrefix(wrong.Value, "number ")
	n, err := strconv.ParseFloat(number, 64)
	digits := fmt.Sprintf("%-*.0f", len(number), n)
	if !ok || err != nil || n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 || len(digits) > len(number) || digits == number {
		return false
	}
	copy(text[int(wrong.Offset)-len(number):], digits)
	return true
}

// wanted names the JSON form of a type.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Int:
		return "a whole number"
	case reflect.Int64:
		return "from 0 to " + MaxTime.String()
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}

// found names the kind of a value, in the words of package json.
func found(value string) string {
	number, isNumber := strings.CutPrefix(value, "number ")
	switch {
	case isNumber:
		return number
	case value == "array":
		return "a list"
	case value == "bool":
		return "a boolean"
	case value == "object":
		return "an object"
	default:
		return "a " + value
	}
}

// check returns an error for settings that a trace must not have.
func (t *Trace) check() error {
	g := &t.Given
	if err := cmp.Or(
		oneOf("mode", t.Mode, Standard, Adaptive),
		oneOf("behavior", t.Behavior, string(retry.V21), string(retry.V20)),
		within("given.max_attempts", g.MaxAttempts, 1, math.MaxInt32),
		within("given.initial_quota", g.InitialQuota, 0, math.MaxInt32),
		within("given.quota_capacity", g.QuotaCapacity, 0, math.MaxInt32),
	); err != nil {
		return err
	}
	if g.Jitter < 0 || g.Jitter > 1 {
		return fail("given.jitter", "must be from 0 to 1, not %s", strconv.FormatFloat(g.Jitter, 'f', -1, 64))
	}
	if g.MaxBackoff == 0 {
		return fail("given.max_backoff_s", "must be a nanosecond or more")
	}
	g.MaxBackoff = max(g.MaxBackoff, 0) // which is absent
	return nil
}

func (r Response) check(field string) error {
	if r.Kind == "" && r.Status == 0 && r.ErrorCode == "" {
		return fail(field, "there is neither kind nor status nor error_code")
	}
	for i, reason := range r.ThrottledBy {
		names := slices.Sorted(maps.Keys(reaches()))
		if err := oneOf(fmt.Sprintf("%s.throttled_by[%d].reach", field, i), reason.Reach, names...); err != nil {
			return err
		}
	}
	return cmp.Or(oneOf(field+".kind", r.Kind, kinds()...), within(field+".status", &r.Status, 0, 999))
}

// oneOf returns an error for a value that is neither empty nor one of some.
func oneOf(field, value string, some ...string) error {
	if value == "" || slices.Contains(some, value) {
		return nil
	}
	return fail(field, "must be one of %s, not %q", strings.Join(some, ", "), value)
}

// within returns an error for a number out of bounds. Nil is always valid.
func within(field string, n *int, low, high int) error {
	if n == nil || low <= *n && *n <= high {
		return nil
	}
	return fail(field, "must be from %d to %d, not %d", low, high, *n)
}
