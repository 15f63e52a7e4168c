package main

import (
	"errors"
	"fmt"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/words"
)

// failure is an error in the output with --json.
type failure struct {
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Origin  *config.Origin `json:"origin,omitempty"`
}

// fail prints an error.
func (c *call) fail(err error) {
	if e, ok := errors.AsType[*config.ProfileNotFoundError](err); ok {
		fromFlag(&e.Origin)
	}
	c.complain(err)
	if c.json {
		_ = c.print(map[string]failure{"error": describe(err)})
	}
}

func (c *call) complain(err error) {
	fmt.Fprintf(c.errs, "awsretry %s: %s\n", c.name, words.Escaped(lint.Text(err)))
}

// describe returns an error with its code and its place.
func describe(err error) failure {
	f := failure{Code: "error", Message: lint.Text(err)}
	if e, ok := errors.AsType[*config.ValueError](err); ok {
		f.Code, f.Origin = "invalid-value", &e.Origin
	}
	if e, ok := errors.AsType[*config.ProfileNotFoundError](err); ok {
		f.Code, f.Origin = "profile-not-found", &e.Origin
	}
	if e, ok := errors.AsType[*config.ParseError](err); ok {
		f.Code, f.Origin = "parse-error", &config.Origin{Kind: "shared-" + e.Kind, File: e.File, Line: e.Line}
	}
	if e, ok := errors.AsType[*config.UnreadableError](err); ok {
		f.Code, f.Origin = "unreadable-file", &config.Origin{Kind: "shared-" + e.Kind, File: e.File}
	}
	return f
}
