package trace

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// columns returns the columns of an access log.
func columns() []string { return []string{"time", "operation", "status", "latency"} }

// IsLog reports whether a text is an access log and not JSON.
func IsLog(text []byte) bool {
	first, _, _ := bytes.Cut(bytes.TrimPrefix(text, []byte("\uFEFF")), []byte("\n"))
	names := strings.Split(string(bytes.TrimSpace(first)), ",")
	for _, name := range columns() {
		if !slices.Contains(names, name) {
			return false
		}
	}
	return true
}

// ReadLog reads an access log: CSV whose first line names the columns time, operation, status and latency, in any
// order, among others. A time is in RFC 3339 format or a number of seconds; a latency is a number of seconds, or
// has a unit such as 12ms. The lines may be in any order. The errors are of type [Error].
func ReadLog(file string, text []byte, service string) (*Trace, error) {
	t, line, err := readLog(text, service)
	if wrong, ok := errors.AsType[*Error](err); ok {
		wrong.File, wrong.Line, wrong.Trace = file, line, 1
		wrong.Column = max(wrong.Column, 1)
	}
	return t, err
}

func readLog(text []byte, service string) (t *Trace, line int, err error) {
	if len(text) > MaxBytes {
		return nil, 0, fail("", "the file is larger than %d MiB", MaxBytes>>20)
	}
	t = &Trace{Given: Given{Jitter: 1, Service: service}, Log: true}
	reader := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\uFEFF"))))
	reader.ReuseRecord = true
	head, err := reader.Read()
	if err != nil {
		return nil, 1, notCSV(err, &line)
	}
	var at [4]int
	for i, name := range columns() {
		if at[i] = slices.Index(head, name); at[i] < 0 {
			return nil, 1, fail("", "there is no column %q", name)
		}
	}
	var dated bool
	for {
		fields, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, line, notCSV(err, &line)
		}
		line, _ = reader.FieldPos(0)
		instant, date, err := instantOf(fields[at[0]])
		if err != nil {
			return nil, line, err
		}
		if len(t.Operations) > 0 && date != dated {
			return nil, line, fail("time", "must be a date in all lines, or seconds in all lines")
		}
		dated = date
		status, err := strconv.Atoi(fields[at[2]])
		if err != nil || status < 100 || status > 999 {
			return nil, line, fail("status", "must be a status from 100 to 999, not %q", fields[at[2]])
		}
		latency, err := latencyOf(fields[at[3]])
		if err != nil {
			return nil, line, err
		}
		t.Operations = append(t.Operations, Operation{
			Name: strings.Clone(fields[at[1]]), Start: instant, Latency: latency, Responses: []Response{{Status: status}},
		})
	}
	if len(t.Operations) == 0 {
		return nil, 2, fail("", "there is no line below the names of the columns")
	}
	slices.SortStableFunc(t.Operations, func(a, b Operation) int { return cmp.Compare(a.Start, b.Start) })
	first := t.Operations[0].Start
	for i := range t.Operations {
		t.Operations[i].Start += Seconds(time.Second) - first // an operation at 0 would have no start
	}
	t.Start = Seconds(time.Second)
	return t, 0, nil
}

// notCSV returns the error for a text that is not CSV, and its line.
func notCSV(err error, line *int) error {
	syntax, ok := errors.AsType[*csv.ParseError](err)
	if !ok {
		*line = 1
		return fail("", "not CSV: %v", err)
	}
	*line = syntax.Line
	return &Error{Column: syntax.Column, Problem: "not CSV: " + syntax.Err.Error()}
}

// instantOf reads a time, in nanoseconds since 1970 if it is a date.
func instantOf(text string) (at Seconds, date bool, err error) {
	if n, ok := nanoseconds(text); ok && isNumber(text) {
		return n, false, nil
	}
	d, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || d.Year() < 1971 || d.Year() > 2200 {
		return 0, false, fail("time", "must be a time of RFC 3339 or seconds, not %q", text)
	}
	return Seconds(d.UnixNano()), true, nil
}

func latencyOf(text string) (Seconds, error) {
	if n, ok := nanoseconds(text); ok && isNumber(text) && n <= Seconds(time.Hour) {
		return n, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > time.Hour {
		return 0, fail("latency", "must be seconds, or a time such as 12ms, from 0 to 1h, not %q", text)
	}
	return Seconds(d), nil
}

// isNumber reports whether a text is a JSON number.
func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil && strings.Trim(text, "0123456789.eE+-") == ""
}
