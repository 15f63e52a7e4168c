package config

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/awsretry/awsretry/internal/forecast"
	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/words"
	"github.com/awsretry/awsretry/retry"
)

// Explain writes the settings as text for people, as the command "awsretry explain" prints them: each setting with its
// origin and the values that it beat, the files, and what a strategy with this plan does. A star marks the value that
// counts. It leaves out MaxBackoff, MinDelay and MaxElapsed if they have their built-in defaults, and for the zero Plan
// what the strategy does. It quotes control characters.
//
// Do not parse the text: it may change. The error is that of w.
func (s *Settings) Explain(w io.Writer, plan retry.Plan) error {
	var out bytes.Buffer
	table := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	explainSetting(table, "profile", s.Profile)
	explainSetting(table, keyRetryMode, s.RetryMode)
	explainSetting(table, keyMaxAttempts, s.MaxAttempts)
	explainUnlessBuiltIn(table, keyMaxBackoff, s.MaxBackoff)
	explainUnlessBuiltIn(table, keyMinDelay, s.MinDelay)
	explainUnlessBuiltIn(table, keyMaxElapsed, s.MaxElapsed)
	explainSetting(table, "behavior", s.Behavior)
	_ = table.Flush() // The buffer takes everything.

	fmt.Fprintln(&out, "\nFiles")
	for _, f := range s.Files {
		path := words.Escaped(sharedfile.ShownPath(f.Path))
		if path == "" {
			path = "(no home directory)"
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", f.Kind, path, f.Status)
	}
	_ = table.Flush()

	if !reflect.ValueOf(plan).IsZero() {
		fmt.Fprintln(&out, "\nWhat happens")
		s.explainPlan(table, plan)
		_ = table.Flush()
	}

	_, err := w.Write(out.Bytes())
	return err
}

func explainSetting[T any](table io.Writer, name string, s Setting[T]) {
	fmt.Fprintf(table, "%s\t* %s\t%s\n", name, words.Plain(fmt.Sprint(s.Value)), words.Escaped(s.Origin.String()))
	for _, loser := range s.Overridden {
		text, note := words.Plain(sharedfile.Shorten(loser.Raw)), ""
		if !loser.Valid {
			text, note = sharedfile.Quote(loser.Raw), ", not a valid value"
		}
		fmt.Fprintf(table, "\t  %s\t%s%s\n", text, words.Escaped(loser.Origin.String()), note)
	}
}

// explainUnlessBuiltIn explains a setting that most programs do not set.
func explainUnlessBuiltIn(table io.Writer, name string, s Setting[time.Duration]) {
	if s.Origin.Name != "" {
		explainSetting(table, name, s)
	}
}

func (s *Settings) explainPlan(table io.Writer, p retry.Plan) {
	attempts := "1, so nothing is retried"
	if retries := p.MaxAttempts - 1; retries > 0 {
		attempts = fmt.Sprintf("%d: the first and up to %d retries", p.MaxAttempts, retries)
	}
	fmt.Fprintf(table, "  attempts\t%s\n", attempts)
	if p.MaxElapsed > 0 {
		fmt.Fprintf(table, "  elapsed limit\tno attempt begins more than %v after the operation began\n", p.MaxElapsed)
	}
	if max(p.RetryCost, p.TimeoutCost, p.ThrottlingCost) == 0 {
		fmt.Fprintf(table, "  retry quota\toff: no retry is refused for lack of tokens\n")
	} else {
		fmt.Fprintf(table, "  retry quota\t%d tokens for each scope; a retry takes %d, after a timeout %d, after a throttle %d\n",
			p.QuotaCapacity, p.RetryCost, p.TimeoutCost, p.ThrottlingCost)
		if row := inARow(p); row != "" {
			fmt.Fprintf(table, "  full quota\t%s\n", row)
		}
		fmt.Fprintf(table, "  drain point\t%s\n", drainText(p))
		if p.DebtLimit {
			fmt.Fprintf(table, "  debt limit\ta quota that lacks tokens pays only while retries help\n")
		}
		if p.MaxAttempts > 1 && p.RetryCost <= p.QuotaCapacity {
			fmt.Fprintf(table, "  empty quota\tlends a retry to what was in flight when a connection was lost\n")
		}
	}
	shortest := ""
	if p.MinDelay > 0 {
		shortest = fmt.Sprintf(", and at least %v", p.MinDelay)
	}
	if p.Backoff != nil {
		fmt.Fprintf(table, "  backoff\ta function of the program decides, up to %v%s\n", p.MaxBackoff, shortest)
	} else {
		fmt.Fprintf(table, "  backoff\tup to %v before the first retry, %v after a throttle; doubling with each retry up to %v%s\n",
			p.Base, p.ThrottlingBase, p.MaxBackoff, shortest)
	}
	ends := ""
	if forecast.RetriesInARow(p, min(p.RetryCost, p.TimeoutCost, p.ThrottlingCost)) < p.MaxAttempts-1 {
		ends = ", when it has emptied a full quota"
	}
	fmt.Fprintf(table, "  worst case\t%s of backoff in one operation, without server hints%s\n", secondsText(forecast.WorstCaseDelay(p)), ends)
	sends := "never delayed"
	if s.RetryMode.Value == modeAdaptive {
		sends = "waits for the scope's send rate once the service has throttled"
	}
	fmt.Fprintf(table, "  first attempt\t%s\n", sends)
}

// inARow says how many retries a full quota pays for, if that is less than the attempts allow. It names timeouts and
// throttles only where they differ from other failures.
func inARow(p retry.Plan) string {
	number := func(cost int) int { return forecast.RetriesInARow(p, cost) }
	retries := p.MaxAttempts - 1
	if retries <= 0 || min(number(p.RetryCost), number(p.TimeoutCost), number(p.ThrottlingCost)) == retries {
		return ""
	}
	var others []string
	if p.TimeoutCost != p.RetryCost {
		others = append(others, fmt.Sprintf("%d after timeouts", number(p.TimeoutCost)))
	}
	if p.ThrottlingCost != p.RetryCost {
		others = append(others, fmt.Sprintf("%d after throttles", number(p.ThrottlingCost)))
	}
	text := fmt.Sprintf("pays for %d retries in a row", number(p.RetryCost))
	if others != nil {
		text += " (" + strings.Join(others, ", ") + ")"
	}
	return text
}

// drainText says at which share of failing attempts the quota starts to empty. It names timeouts and throttles only
// where they differ from other failures.
func drainText(p retry.Plan) string {
	if p.MaxAttempts <= 1 {
		return "none, because nothing is retried"
	}
	text := fmt.Sprintf("the quota starts to empty when %.1f %% of attempts fail", 100*forecast.DrainPoint(p, p.RetryCost))
	if p.TimeoutCost != p.RetryCost {
		text += fmt.Sprintf(", or %.1f %% time out", 100*forecast.DrainPoint(p, p.TimeoutCost))
	}
	if p.ThrottlingCost != p.RetryCost {
		text += fmt.Sprintf(", or %.1f %% are throttled", 100*forecast.DrainPoint(p, p.ThrottlingCost))
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
