package main

import (
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/retry"
)

// explainText prints the settings as text. A star marks the value that counts, and below it
// stand the values that it beat.
func (c *call) explainText(s *awsretry.Settings, plan retry.Plan) {
	table := tabwriter.NewWriter(c.out, 0, 8, 2, ' ', 0)
	explainSetting(table, "profile", s.Profile)
	explainSetting(table, "retry_mode", s.RetryMode)
	explainSetting(table, "max_attempts", s.MaxAttempts)
	explainSetting(table, "behavior", s.Behavior)
	_ = table.Flush()

	fmt.Fprintln(c.out, "\nFiles")
	for _, f := range s.Files {
		path := escaped(f.Path)
		if path == "" {
			path = "(no home directory)"
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", f.Kind, path, f.Status)
	}
	_ = table.Flush()

	fmt.Fprintln(c.out, "\nWhat happens")
	c.planText(table, s, plan)
	_ = table.Flush()

	if len(s.Diagnostics) > 0 {
		fmt.Fprintln(c.out, "\nDiagnostics")
	}
	for _, d := range s.Diagnostics {
		show(c.out, "  ", d)
	}
}

func explainSetting[T any](table *tabwriter.Writer, name string, s config.Setting[T]) {
	fmt.Fprintf(table, "%s\t* %s\t%s\n", name, plain(fmt.Sprint(s.Value)), escaped(s.Origin.String()))
	for _, loser := range s.Overridden {
		note := ""
		if !loser.Valid {
			note = ", not a valid value"
		}
		fmt.Fprintf(table, "\t  %s\t%s%s\n", loserText(loser), escaped(loser.Origin.String()), note)
	}
}

// loserText returns a value that lost. A value that is not valid is in quotes.
func loserText(loser config.Candidate) string {
	if loser.Valid {
		return plain(loser.Raw)
	}
	return strconv.Quote(loser.Raw)
}

func (c *call) planText(table *tabwriter.Writer, s *awsretry.Settings, p retry.Plan) {
	attempts := "1, so nothing is retried"
	if retries := p.MaxAttempts - 1; retries > 0 {
		attempts = fmt.Sprintf("%d, that is up to %d after the first", p.MaxAttempts, retries)
	}
	fmt.Fprintf(table, "  attempts\t%s\n", attempts)
	fmt.Fprintf(table, "  retry quota\t%d tokens for each scope; a retry takes %d, after a timeout %d, after a throttle %d\n",
		p.QuotaCapacity, p.RetryCost, p.TimeoutCost, p.ThrottlingCost)
	fmt.Fprintf(table, "  drain point\t%s\n", drainText(p))
	fmt.Fprintf(table, "  backoff\tup to %v before the first retry, %v after a throttle; each next one doubles it, to %v at most\n",
		p.Base, p.ThrottlingBase, p.MaxBackoff)
	fmt.Fprintf(table, "  worst case\t%s of backoff in one operation, without hints of the server\n", secondsText(p.WorstCaseDelay()))
	sends := "never delayed"
	if s.RetryMode.Value == awsretry.ModeAdaptive {
		sends = "delayed to the send rate of the scope once the service has throttled"
	}
	fmt.Fprintf(table, "  first attempt\t%s\n", sends)
}

// drainText says at which share of failing attempts the quota starts to empty. It names
// timeouts and throttles only where they differ from other failures.
func drainText(p retry.Plan) string {
	if p.MaxAttempts <= 1 {
		return "none, because nothing is retried"
	}
	text := fmt.Sprintf("the quota starts to empty when %.1f %% of attempts fail", 100*p.DrainPoint(p.RetryCost))
	if p.TimeoutCost != p.RetryCost {
		text += fmt.Sprintf(", or %.1f %% time out", 100*p.DrainPoint(p.TimeoutCost))
	}
	if p.ThrottlingCost != p.RetryCost {
		text += fmt.Sprintf(", or %.1f %% are throttled", 100*p.DrainPoint(p.ThrottlingCost))
	}
	return text
}

// secondsText returns seconds as a Duration below one day, and else as a number.
func secondsText(seconds float64) string {
	if seconds < (24 * time.Hour).Seconds() {
		return time.Duration(seconds * float64(time.Second)).String()
	}
	return strconv.FormatFloat(seconds, 'f', -1, 64) + "s"
}
