package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/words"
	"github.com/awsretry/awsretry/retry"
)

func (c *call) whyCommand() *cobra.Command {
	var q question
	var text string
	cmd := c.command("why", "what the text of an error says, and what to do",
		"The text is an argument or standard input: an error of awsretry or of\naws-sdk-go-v2, or a line of a log with either.",
		`awsretry why 'exceeded maximum number of attempts, 3, ...'`, true,
		func(context.Context) error { return c.why(q, text) })
	cmd.Use = "why [TEXT]"
	cmd.Args = func(_ *cobra.Command, args []string) error {
		text = strings.Join(args, " ")
		return nil
	}
	q.define(c, cmd)
	return cmd
}

// end is how a call ended, as texts say it.
type end struct {
	reason error
	sdk    string // a part of the text of the SDK's own error; "" if it has none
	ended  string
	limit  func(s *config.Settings) string // that decided
	do     []string
	page   string // below docs
}

// ends are all that a text may say, those first whose words are in the texts of others.
func ends() []end {
	always := func(text string) func(*config.Settings) string { return func(*config.Settings) string { return text } }
	return []end{
		{
			retry.ErrDebtLimit, "", "Retries of this scope fail, so one that was allowed was not made, although the retry quota had tokens.",
			always("DebtLimit of standard.Config, which the program sets"),
			[]string{"find out why so many retries of this scope fail", "make attempt timeouts longer than the service takes under load"},
			"modes.md#the-limit-on-debt",
		},
		{
			retry.ErrQuotaExhausted, "retry quota exceeded", "The retry quota was empty, so a retry that was allowed was not made.",
			always("the retry quota: 500 tokens for each scope, unless the program sets QuotaCapacity"),
			[]string{
				"find out why so many calls of this scope fail: the quota empties above the drain point of awsretry explain",
				"raise QuotaCapacity for a job that may take its time; awsretry simulate --vs quota_capacity=5000 shows what it does",
				"use adaptive mode if the failures are throttles",
			},
			"observing.md#awsretryquotaempty",
		},
		{
			retry.ErrAttemptsExhausted, "exceeded maximum number of attempts", "All attempts that the call may make have failed.",
			func(s *config.Settings) string {
				return fmt.Sprintf("max_attempts, which is %d here: %s", s.MaxAttempts.Value, s.MaxAttempts.Origin)
			},
			[]string{"mend what the last error says", "awsretry simulate --vs max_attempts=10 shows what more attempts do"},
			"settings.md#the-number-of-attempts",
		},
		{
			retry.ErrSendRateLimited, "failed to get retry Send token", "Adaptive mode held the attempt back for longer than allowed.",
			func(s *config.Settings) string {
				return fmt.Sprintf("the send rate, since retry_mode is %s here: %s; MaxSendWait, MaxSendQueue and NoSendWait of the program bound the wait",
					s.RetryMode.Value, s.RetryMode.Origin)
			},
			[]string{"call less often, or ask for a higher limit", "let calls wait longer: MaxSendWait or a later deadline"},
			"observing.md#awsretrysendwaitlong",
		},
		{
			retry.ErrMaxElapsed, "", "The time of the operation was over before the next attempt could begin.",
			func(s *config.Settings) string {
				if s.MaxElapsed.Origin.Name == "" {
					return "MaxElapsed or NotAfter of the program"
				}
				return fmt.Sprintf("max_elapsed, which is %v here: %s", s.MaxElapsed.Value, s.MaxElapsed.Origin)
			},
			[]string{"allow more time, or fewer attempts"},
			"clients.md#how-long-a-call-may-take",
		},
		{
			retry.ErrHintTooLong, "", "The server asked for a longer wait than the program allows.",
			always("MaxHint of standard.Config, one minute unless set"),
			[]string{"call again later, as the server asks", "raise MaxHint"},
			"clients.md#time-and-hints",
		},
		{
			retry.ErrDeadline, "", "The next wait could not end before the caller's deadline, so it was not begun.",
			always("the deadline of the caller's context"),
			[]string{"give the call more time", "mend what the last error says"},
			"clients.md#how-long-a-call-may-take",
		},
		{
			retry.ErrCanceled, "canceled", "The caller's context ended.",
			always("the caller: a cancel or a deadline of its context"),
			[]string{"look for what canceled it; context.Cause says more"},
			"observing.md#errors",
		},
		{
			retry.ErrAborted, "", "An attempt did not return: it panicked, or ended its goroutine.",
			always("the function of the program"),
			[]string{"look for the panic"},
			"observing.md#errors",
		},
		{
			retry.ErrNotRetryable, "", "Nothing asked for a retry, or a rule stopped it.",
			always("the classifiers, or the rule that the text names"),
			[]string{"mark the error with retry.Mark, or add a classifier, if it may be retried"},
			"classification.md",
		},
	}
}

// whyAnswer is what --json prints.
type whyAnswer struct {
	Ended   string   `json:"ended"`
	Decided string   `json:"decided"`
	Last    string   `json:"last_error"`
	Verdict string   `json:"verdict"`
	Do      []string `json:"do"`
	Page    string   `json:"page"`
}

var (
	attemptsMade = regexp.MustCompile(`\((\d+) attempts?(?: of (\d+))?[,)]`)
	statusIn     = regexp.MustCompile(`StatusCode: (\d{3})|status (\d{3})`)
	codeIn       = regexp.MustCompile(`(?:api error |RequestID: [^,]*, (?:HostID: [^,]*, )?(?:api error )?)([A-Za-z][A-Za-z0-9._]*):`)
	operationIn  = regexp.MustCompile(`operation error ([^:]+): (\w+)`)
)

// why reads the text of an error.
func (c *call) why(q question, text string) error {
	if text == "" {
		read, err := io.ReadAll(io.LimitReader(c.in, 1<<20))
		if err != nil {
			return err
		}
		text = string(read)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return usageError("there is no text, neither as an argument nor on standard input")
	}
	report, err := lint.Examine(c.query(q, c.service))
	if err != nil {
		return err
	}
	answer, known := answerTo(text, report.Settings, c.service)
	if !known {
		return errors.New("this is the text of no error of awsretry or of aws-sdk-go-v2 that has ended a call; awsretry classify takes its status and code")
	}
	if c.json {
		return c.print(answer)
	}
	for _, line := range []struct{ name, said string }{
		{"ended", answer.Ended},
		{"decided", answer.Decided},
		{"last error", answer.Last + ": " + answer.Verdict},
		{"do", strings.Join(answer.Do, "; ")},
		{"more", answer.Page},
	} {
		fmt.Fprintf(c.out, "%-11s %s\n", line.name, words.Escaped(line.said))
	}
	return nil
}

// answerTo reads the text, and reports false if it says nothing that it knows.
func answerTo(text string, s *config.Settings, service string) (answer whyAnswer, known bool) {
	last, ok := lastOf(text, &service)
	for _, e := range ends() {
		if !strings.Contains(text, strings.TrimPrefix(e.reason.Error(), "retry: ")) && (e.sdk == "" || !strings.Contains(text, e.sdk)) {
			continue
		}
		answer = whyAnswer{Ended: e.ended, Decided: e.limit(s), Do: e.do, Page: "https://github.com/awsretry/awsretry/blob/main/docs/" + e.page}
		if made := attemptsMade.FindStringSubmatch(text); made != nil {
			answer.Ended += " It had made " + plural(made[1], "attempt") + "."
		}
		known = true
		break
	}
	if !known && !ok {
		return answer, false
	}
	if !known { // the error of a service that no loop has wrapped
		answer = whyAnswer{
			Ended: "The service answered with an error, and nothing in the text says that a retry was refused.", Decided: "the classifiers, by status and code",
			Do: []string{"mend the request if the error is final"}, Page: "https://github.com/awsretry/awsretry/blob/main/docs/classification.md",
		}
	}
	answer.Last, answer.Verdict = "the text names none", "nothing to classify"
	if ok {
		verdict := classify.Default().Classify(classify.Outcome{Err: &last, Service: service})
		answer.Last, answer.Verdict = strings.TrimSpace(last.Error()), "not retried"
		if verdict.Retryable() {
			answer.Verdict = "retried as " + verdict.Kind().String()
		}
	}
	return answer, true
}

// lastOf returns the status and the code of the last answer that a text names, and the service if it names one.
func lastOf(text string, service *string) (last answerError, ok bool) {
	if found := operationIn.FindStringSubmatch(text); found != nil && *service == "" {
		*service = found[1]
	}
	if _, after, found := strings.Cut(text, "last error: "); found {
		text = after
	}
	if found := statusIn.FindStringSubmatch(text); found != nil {
		last.status, _ = strconv.Atoi(found[1] + found[2])
	}
	if found := codeIn.FindStringSubmatch(text); found != nil {
		last.code = found[1]
	}
	return last, last.status != 0 || last.code != ""
}

func plural(n, what string) string {
	if n == "1" {
		return n + " " + what
	}
	return n + " " + what + "s"
}
