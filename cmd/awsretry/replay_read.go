package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// traceReader reads the JSON of one trace piece by piece. It knows its place in the file, so
// every error has a line and a field.
type traceReader struct {
	file  *traceFile
	json  *json.Decoder
	start int64     // where in the file the decoder began
	path  []segment // the way to the present value
	at    int64     // where the value that was read last begins
	begun bool
}

// segment is the name of a member or, if the name is empty, an index of a list.
type segment struct {
	name  string
	index int
}

func newTraceReader(file *traceFile, offset int64) *traceReader {
	section := io.NewSectionReader(file, offset, math.MaxInt64-offset)
	decoder := json.NewDecoder(bufio.NewReaderSize(section, 64<<10))
	decoder.UseNumber()
	return &traceReader{file: file, json: decoder, start: offset}
}

// offset returns the end of the part that has been read.
func (r *traceReader) offset() int64 { return r.start + r.json.InputOffset() }

// fail returns an error about the value that was read last.
func (r *traceReader) fail(format string, args ...any) error {
	var field strings.Builder
	for i, s := range r.path {
		switch {
		case s.name == "":
			field.WriteString("[" + strconv.Itoa(s.index) + "]")
		case i > 0:
			field.WriteString("." + s.name)
		default:
			field.WriteString(s.name)
		}
	}
	return &traceError{
		File: r.file.name, Line: r.file.line(r.at), Field: field.String(), Problem: fmt.Sprintf(format, args...),
	}
}

// failIn returns an error about a member of that value.
func (r *traceReader) failIn(name, format string, args ...any) error {
	defer r.enter(segment{name: name})()
	return r.fail(format, args...)
}

// enter goes to a member or an item. The function that it returns goes back.
func (r *traceReader) enter(s segment) (leave func()) {
	r.path = append(r.path, s)
	return func() { r.path = r.path[:len(r.path)-1] }
}

// token returns the next token. The error is io.EOF if the trace has no tokens.
func (r *traceReader) token() (json.Token, error) {
	r.at = r.offset()
	token, err := r.json.Token()
	switch syntax, bad := errors.AsType[*json.SyntaxError](err); {
	case err == nil:
		r.begun = true
		return token, nil
	case bad:
		return nil, r.fail("not JSON: %v", syntax)
	case errors.Is(err, io.EOF) && !r.begun:
		return nil, io.EOF
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, r.fail("not JSON: the file ends within the trace")
	default:
		return nil, &unreadableTraceError{File: r.file.name, Err: err}
	}
}

// object reads an object. It calls member for each member, which reads the value. It reports
// false for null.
func (r *traceReader) object(member func(name string) error) (present bool, err error) {
	if present, err = r.open('{', "an object"); !present {
		return false, err
	}
	begin := r.at
	for {
		token, err := r.token()
		if err != nil {
			return false, err
		}
		name, isName := token.(string)
		if !isName { // the closing bracket, as the decoder sees to it
			r.at = begin
			return true, nil
		}
		leave := r.enter(segment{name: name})
		if err := member(name); err != nil {
			return false, err
		}
		leave()
	}
}

// list reads a list. It calls item for each value, which reads the value. It reports false for
// null.
func (r *traceReader) list(item func(i int) error) (present bool, err error) {
	if present, err = r.open('[', "a list"); !present {
		return false, err
	}
	begin := r.at
	for i := 0; r.json.More(); i++ {
		leave := r.enter(segment{index: i})
		if err := item(i); err != nil {
			return false, err
		}
		leave()
	}
	_, err = r.token()
	r.at = begin
	return err == nil, err
}

func (r *traceReader) open(bracket json.Delim, what string) (present bool, err error) {
	token, err := r.token()
	switch {
	case err != nil, token == nil:
		return false, err
	case token != bracket:
		return false, r.wrongType(what, token)
	default:
		return true, nil
	}
}

// skip reads a value of any type.
func (r *traceReader) skip() error {
	for depth := 0; ; {
		token, err := r.token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

func (r *traceReader) wrongType(want string, token json.Token) error {
	got := "an object"
	switch value := token.(type) {
	case string:
		got = "a string"
	case json.Number:
		got = "a number"
	case bool:
		got = "a boolean"
	case nil:
		got = "null"
	case json.Delim:
		if value == '[' {
			got = "a list"
		}
	}
	return r.fail("must be %s, not %s", want, got)
}
