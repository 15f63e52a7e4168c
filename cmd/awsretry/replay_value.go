package main

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// text reads a string. It returns nil for null.
func (r *traceReader) text() (*string, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return nil, err
	}
	value, ok := token.(string)
	if !ok {
		return nil, r.wrongType("a string", token)
	}
	return &value, nil
}

// oneOf reads one of some strings. It returns an empty one for null.
func (r *traceReader) oneOf(names ...string) (string, error) {
	value, err := r.text()
	if err != nil || value == nil {
		return "", err
	}
	if !slices.Contains(names, *value) {
		return "", r.fail("must be one of %s, not %q", strings.Join(names, ", "), *value)
	}
	return *value, nil
}

// boolean reads true or false. It returns false for null.
func (r *traceReader) boolean() (bool, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return false, err
	}
	value, ok := token.(bool)
	if !ok {
		return false, r.wrongType("a boolean", token)
	}
	return value, nil
}

// number reads a number between two others. It returns nil for null.
func (r *traceReader) number(low, high float64) (*float64, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return nil, err
	}
	number, ok := token.(json.Number)
	if !ok {
		return nil, r.wrongType("a number", token)
	}
	value, err := number.Float64()
	if err != nil || value < low || value > high {
		return nil, r.fail("must be from %s to %s, not %s", inFull(low), inFull(high), number)
	}
	return &value, nil
}

// whole reads a whole number between two others. It returns nil for null.
func (r *traceReader) whole(low, high int) (*int, error) {
	value, err := r.number(float64(low), float64(high))
	if err != nil || value == nil {
		return nil, err
	}
	if *value != math.Trunc(*value) {
		return nil, r.fail("must be a whole number, not %s", inFull(*value))
	}
	return new(int(*value)), nil
}

// seconds reads a time in seconds, to the nearest nanosecond. It returns nil for null.
func (r *traceReader) seconds() (*time.Duration, error) {
	token, err := r.token()
	if err != nil || token == nil {
		return nil, err
	}
	number, ok := token.(json.Number)
	if !ok {
		return nil, r.wrongType("a number", token)
	}
	value, ok := nanoseconds(number.String())
	if !ok {
		return nil, r.fail("must be from 0 to %s, not %s", exactSeconds(maxTime), number)
	}
	return &value, nil
}

func inFull(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// or returns the value that p points to, or the other value if p is nil.
func or[T any](p *T, value T) T {
	if p == nil {
		return value
	}
	return *p
}
