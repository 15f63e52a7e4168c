package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/awsretry/awsretry/classify"
)

// response is the response of an attempt.
type response struct {
	kind, code string
	status     int
	hint       string // the value of x-amz-retry-after
}

// read reads a response. It reports false for null.
func (p *response) read(r *traceReader) (present bool, err error) {
	present, err = r.object(func(name string) error { return p.member(r, name) })
	switch {
	case err != nil || !present:
		return false, err
	case p.kind == "" && p.status == 0 && p.code == "":
		return false, r.fail("there is neither kind nor status nor error_code")
	default:
		return true, nil
	}
}

func (p *response) member(r *traceReader, name string) error {
	switch name {
	case "kind":
		return assign(&p.kind)(r.oneOf("success", "transient", "timeout", "connect", "throttling", "clock_skew", "server", "client"))
	case "status":
		status, err := r.whole(0, 999)
		p.status = or(status, 0)
		return err
	case "error_code":
		code, err := r.text()
		p.code = or(code, "")
		return err
	case "headers":
		_, err := r.object(func(name string) error {
			if !strings.EqualFold(name, "x-amz-retry-after") {
				return r.skip()
			}
			hint, err := r.text()
			p.hint = or(hint, "")
			return err
		})
		return err
	default:
		return r.skip()
	}
}

// failure returns the error that a client returns for the response, or nil for success.
func (p *response) failure() error {
	switch {
	case p.kind == "success", p.kind == "" && p.code == "" && p.status/100 == 2:
		return nil
	case p.kind == "":
		return &responseError{*p}
	default:
		return &classify.JudgedError{Verdict: p.verdict(), Err: &responseError{*p}}
	}
}

// verdict returns the verdict for the kind. Status and code do not matter.
func (p *response) verdict() classify.Verdict {
	switch p.kind {
	case "transient", "connect":
		return classify.RetryAs(classify.Transient)
	case "timeout":
		return classify.RetryAs(classify.Timeout)
	case "throttling":
		return classify.RetryAs(classify.Throttling)
	case "clock_skew":
		return classify.RetryAs(classify.ClockSkew)
	default: // server, client
		return classify.Verdict{}
	}
}

// responseError is a response that is not a success.
type responseError struct{ response response }

// Error describes the response.
func (e *responseError) Error() string {
	return fmt.Sprintf("status %d %s", e.response.status, e.response.code)
}

// HTTPStatusCode returns the status.
func (e *responseError) HTTPStatusCode() int { return e.response.status }

// ErrorCode returns the error code.
func (e *responseError) ErrorCode() string { return e.response.code }

// RetryAfter returns the hint of the server.
func (e *responseError) RetryAfter() (time.Duration, bool) {
	return classify.ParseRetryAfterMillis(e.response.hint)
}
