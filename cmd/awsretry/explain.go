package main

import (
	"context"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/cmd/awsretry/internal/tools"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/forecast"
	"github.com/awsretry/awsretry/internal/words"
	"github.com/awsretry/awsretry/retry"
)

func (c *call) explainCommand() *cobra.Command {
	var q question
	var others bool
	cmd := c.command("explain", "what the settings are, where each came from, and what they do", "",
		"awsretry explain --profile prod --service dynamodb", true, func(context.Context) error { return c.explain(q, others) })
	q.define(c, cmd)
	cmd.Flags().BoolVar(&others, "tools", false, "print what other AWS tools read here, each value with its place")
	return cmd
}

// question holds the flags that select the settings.
type question struct {
	profile  string
	behavior retry.Behavior
	strict   bool
}

// define adds the flags of the question.
func (q *question) define(c *call, cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&q.profile, "profile", "", "`profile` to use instead of AWS_PROFILE and AWS_DEFAULT_PROFILE")
	f.BoolVar(&q.strict, "strict", false, "refuse the first malformed line of the shared files")
	choice(cmd, &q.behavior, "behavior", "`generation` of behavior, v2.1 or v2.0; v2.1 unless given", retry.V20, retry.V21)
	completes(cmd, "profile", c.profileNames)
}

// explanation is the output with --json.
type explanation struct {
	Profile     config.Setting[string]         `json:"profile"`
	RetryMode   config.Setting[config.Mode]    `json:"retry_mode"`
	MaxAttempts config.Setting[int]            `json:"max_attempts"`
	Behavior    config.Setting[retry.Behavior] `json:"behavior"`
	Strategy    strategyNumbers                `json:"strategy"`
	Files       []config.FileStatus            `json:"files"`
	Diagnostics []lint.Diagnostic              `json:"diagnostics"`
	Tools       []tools.Use                    `json:"tools,omitempty"`
	Error       *failure                       `json:"error,omitempty"`
}

// strategyNumbers are the numbers of the strategy.
type strategyNumbers struct {
	Costs       byKind[int]     `json:"costs"`
	DrainPoints byKind[float64] `json:"drain_points"`
	Bases       struct {
		Throttling float64 `json:"throttling"`
		Other      float64 `json:"other"`
	} `json:"bases_s"`
	WorstCaseDelay float64 `json:"worst_case_delay_s"`
}

// byKind has a number for retries after timeouts, after throttles, and after other failures.
type byKind[T any] struct {
	Retry      T `json:"retry"`
	Timeout    T `json:"timeout"`
	Throttling T `json:"throttling"`
}

// explain resolves the settings, and prints them and their effect.
func (c *call) explain(q question, others bool) error {
	query := c.query(q, c.service)
	report, refused := lint.Examine(query)
	if report == nil {
		return refused
	}
	var uses []tools.Use
	if others {
		var err error
		if uses, err = lint.Uses(query.Sources); err != nil {
			return err
		}
	}
	settings := report.Settings
	strategy, err := awsretry.New(settings)
	if err != nil {
		return err
	}
	fromFlag(&settings.Profile.Origin)
	plan := strategy.Plan(retry.Operation{})
	if c.json {
		answer := explanation{
			Profile: settings.Profile, RetryMode: settings.RetryMode,
			MaxAttempts: settings.MaxAttempts, Behavior: settings.Behavior,
			Strategy: numbers(plan), Files: settings.Files, Diagnostics: report.Diagnostics, Tools: uses,
		}
		if refused != nil {
			answer.Error = new(describe(refused))
		}
		err = c.print(answer)
	} else if err = settings.Explain(c.out, plan); err == nil && len(report.Diagnostics) > 0 {
		fmt.Fprintln(c.out, "\nDiagnostics")
		for _, d := range report.Diagnostics {
			show(c.out, "  ", d)
		}
	}
	if err == nil && !c.json {
		c.showUses(uses)
	}
	if err == nil && refused != nil {
		c.complain(refused)
		err = errBad
	}
	return err
}

// showUses prints what the tools read.
func (c *call) showUses(uses []tools.Use) {
	if len(uses) > 0 {
		fmt.Fprintln(c.out, "\nTools")
	}
	for _, use := range uses {
		text := fmt.Sprintf("%-14s", use.Tool)
		if use.Refused != nil {
			text += "refused: " + use.Refused.String()
		} else {
			text += "retry_mode " + use.Mode.String() + ", max_attempts " + use.Attempts.String()
		}
		fmt.Fprintln(c.out, "  "+words.Escaped(text))
	}
}

// query returns the query for a question.
func (c *call) query(q question, service string) config.Query {
	query := config.Query{Sources: c.source(), Service: service, Strict: q.strict}
	query.Profile = q.profile
	if q.behavior != "" {
		query.Given = ofBehavior(q.behavior)
	}
	return query
}

// ofBehavior returns a behavior as the flag has set it.
func ofBehavior(b retry.Behavior) []config.Candidate {
	return []config.Candidate{config.Typed(config.Origin{Kind: option, Name: "--behavior"}, "behavior", b)}
}

// option is the kind of the origin of a value of code, which in this program is one of its flags.
const option = "option"

// fromFlag names the flag in the origin of a profile that code has named.
func fromFlag(profile *config.Origin) {
	if profile.Kind == option {
		profile.Name = "--profile"
	}
}

func numbers(plan retry.Plan) strategyNumbers {
	var n strategyNumbers
	n.Costs = byKind[int]{plan.RetryCost, plan.TimeoutCost, plan.ThrottlingCost}
	n.DrainPoints = byKind[float64]{
		fourDigits(forecast.DrainPoint(plan, plan.RetryCost)), fourDigits(forecast.DrainPoint(plan, plan.TimeoutCost)),
		fourDigits(forecast.DrainPoint(plan, plan.ThrottlingCost)),
	}
	n.Bases.Throttling, n.Bases.Other = plan.ThrottlingBase.Seconds(), plan.Base.Seconds()
	n.WorstCaseDelay = forecast.WorstCaseDelay(plan)
	return n
}

// fourDigits rounds a share, because further digits differ between processors.
func fourDigits(share float64) float64 { return math.Round(1e4*share) / 1e4 }
