package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/awsretry/awsretry/classify"
)

func (c *call) classifyCommand() *cobra.Command {
	var s signs
	cmd := c.command("classify", "whether a failure is retried, and which classifier decided", classifyNotes,
		"awsretry classify --status 503 --code SlowDown --header 'x-amz-retry-after: 1500'", true, func(context.Context) error { return c.classify(&s) })
	s.define(cmd)
	return cmd
}

const classifyNotes = `The flags are signs of one failure. Some errors are retryable only in some
services: --service names the service by its id, as SDKs and models spell it,
such as "DynamoDB" or "Auto Scaling". Case, spaces, dashes and underscores do
not matter. The name in a service's address may differ: "Directory Service Data"
is known, "ds-data" is not.`

// signs are the properties of a failure from the flags.
type signs struct {
	answer    answerError
	transport string
	modeled   modeledError
	grpc      *grpcError
	sqlState  sqlError
	used      time.Duration
	observed  *time.Duration
}

func (s *signs) define(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Func("status", "HTTP `status` of the answer", func(text string) (err error) {
		s.answer.status, err = parseStatus(text)
		return err
	})
	f.StringVar(&s.answer.code, "code", "", "error `code` of the answer, as it is on the wire")
	choice(cmd, &s.transport, "transport", "`kind` of a failure without an answer: "+strings.Join(transportKinds(), ", "), transportKinds()...)
	choice(cmd, &s.modeled, "modeled", "what the `model` of the service says of the error: retryable, throttling, not_retryable", "retryable", "throttling", "not_retryable")
	f.Func("grpc", "`code` of a call of gRPC, such as UNAVAILABLE or 14", func(text string) (err error) {
		s.grpc, err = parseGRPC(text)
		return err
	})
	f.Func("sqlstate", "SQLSTATE `code` of a database, such as 40001", func(text string) error {
		s.sqlState = sqlError(strings.ToUpper(text))
		if len(text) != 5 || strings.ContainsFunc(string(s.sqlState), func(c rune) bool { return !strings.ContainsRune(sqlStateDigits, c) }) {
			return errors.New("must have five digits or letters, such as 40001 or 57P01")
		}
		return nil
	})
	f.Func("header", "header `K: V` of the answer, or K=V: x-amz-retry-after, retry-after (in seconds) and x-amzn-errortype matter; may be repeated", s.answer.addHeader)
	f.Func("attempt-skew-s", "clock skew in `seconds` that the request was signed with; 0 unless given", func(text string) (err error) {
		s.used, err = parseSkew(text)
		return err
	})
	f.Func("candidate-skew-s", "clock skew in `seconds` that the answer shows; none unless given", func(text string) error {
		observed, err := parseSkew(text)
		s.observed = &observed
		return err
	})
}

// err returns the error that a client returns for the failure.
func (s *signs) err() error {
	parts := []error{&s.answer}
	if s.transport != "" {
		parts = append(parts, transportFailure(s.transport))
	}
	if s.modeled != "" {
		parts = append(parts, s.modeled)
	}
	if s.grpc != nil {
		parts = append(parts, s.grpc)
	}
	if s.sqlState != "" {
		parts = append(parts, s.sqlState)
	}
	err := errors.Join(parts...)
	if s.observed != nil {
		err = &skewedError{used: s.used, observed: *s.observed, err: err}
	}
	return err
}

// classification is what --json prints.
type classification struct {
	Retryable  bool   `json:"retryable"`
	Throttling bool   `json:"throttling"`
	Timeout    bool   `json:"timeout"`
	Transient  bool   `json:"transient"`
	ClockSkew  bool   `json:"clock_skew"`
	HardQuota  bool   `json:"hard_quota"`
	RetryAfter any    `json:"retry_after_s"`
	Trail      []step `json:"trail"`
}

type step struct {
	Classifier string `json:"classifier"`
	Action     string `json:"action"`
	Kind       string `json:"kind"`
}

func (c *call) classify(s *signs) error {
	for _, header := range s.answer.unread {
		fmt.Fprintf(c.errs, "awsretry classify: warning: --header %q: the value is not a whole number of 0 or more, so the header counts as absent\n", header)
	}
	verdict, trail := classify.Default().Explain(classify.Outcome{
		Err: s.err(), Service: c.service, Attempt: 1, CallerGone: strings.HasPrefix(s.transport, "caller_"),
	})
	if !c.json {
		c.classifyText(verdict, trail)
		return nil
	}
	kind := verdict.Kind()
	answer := classification{
		Retryable:  verdict.Retryable(),
		Throttling: kind == classify.Throttling,
		Timeout:    kind == classify.Timeout,
		Transient:  kind == classify.Transient || kind == classify.Timeout,
		ClockSkew:  kind == classify.ClockSkew,
		HardQuota:  verdict.HardQuota(),
	}
	if after, ok := verdict.Hint(); ok {
		answer.RetryAfter = after.Seconds()
	}
	for _, said := range trail {
		action, _, _ := strings.Cut(said.Verdict.String(), "(")
		answer.Trail = append(answer.Trail, step{said.Classifier, action, said.Verdict.Kind().String()})
	}
	return c.print(answer)
}

// classifyText prints the verdict as text, and below it the opinion of each classifier.
func (c *call) classifyText(verdict classify.Verdict, trail classify.Trail) {
	switch {
	case verdict.Forbids():
		fmt.Fprint(c.out, "not retried: forbidden")
	case !verdict.Retryable():
		fmt.Fprint(c.out, "not retried: no classifier asks for it")
	default:
		fmt.Fprintf(c.out, "retried: %s", verdict.Kind())
	}
	if after, hinted := verdict.Hint(); hinted {
		fmt.Fprintf(c.out, ", after %v as the server asks", after)
	}
	if verdict.HardQuota() {
		fmt.Fprint(c.out, ", although it is a hard quota that another attempt does not change")
	}
	fmt.Fprintln(c.out)
	fmt.Fprintln(c.out)
	table := tabwriter.NewWriter(c.out, 0, 8, 2, ' ', 0)
	for _, said := range trail {
		fmt.Fprintf(table, "  %s\t%s\n", said.Classifier, said.Verdict)
	}
	_ = table.Flush()
}
