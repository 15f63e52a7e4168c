package main

import (
	"context"
	"fmt"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/retry"
)

func explainCommand() command {
	return command{
		name:     "explain",
		synopsis: "what the settings are, where each came from, and what they do",
		example:  "awsretry explain --profile prod --service dynamodb",
		define: func(f *flags) func(context.Context, *call) error {
			var q question
			f.StringVar(&q.profile, "profile", "", "profile to use, in place of AWS_PROFILE and AWS_DEFAULT_PROFILE")
			f.BoolVar(&q.strict, "strict", false, "refuse the first malformed line of the shared files")
			f.Func("behavior", "`generation` of behavior, v2.1 or v2.0; v2.1 unless given", func(text string) error {
				q.behavior = retry.Behavior(text)
				if q.behavior != retry.V20 && q.behavior != retry.V21 {
					return fmt.Errorf("must be %s or %s", retry.V20, retry.V21)
				}
				return nil
			})
			return func(ctx context.Context, c *call) error { return c.explain(ctx, q) }
		},
	}
}

// question is what explain is asked.
type question struct {
	profile  string
	behavior retry.Behavior
	strict   bool
}

// explanation is what --json prints.
type explanation struct {
	Profile     awsretry.Setting[string]         `json:"profile"`
	RetryMode   awsretry.Setting[awsretry.Mode]  `json:"retry_mode"`
	MaxAttempts awsretry.Setting[int]            `json:"max_attempts"`
	Behavior    awsretry.Setting[retry.Behavior] `json:"behavior"`
	Strategy    strategyNumbers                  `json:"strategy"`
	Files       []config.FileStatus              `json:"files"`
	Diagnostics []config.Diagnostic              `json:"diagnostics"`
}

// strategyNumbers is what the strategy will do.
type strategyNumbers struct {
	Costs struct {
		Retry      int `json:"retry"`
		Timeout    int `json:"timeout"`
		Throttling int `json:"throttling"`
	} `json:"costs"`
	Bases struct {
		Throttling float64 `json:"throttling"`
		Other      float64 `json:"other"`
	} `json:"bases_s"`
	WorstCaseDelay float64 `json:"worst_case_delay_s"`
}

// explain resolves the settings and says what they do.
func (c *call) explain(ctx context.Context, q question) error {
	settings, err := awsretry.Resolve(ctx, c.options(q)...)
	if err != nil {
		return err
	}
	strategy, err := awsretry.New(settings)
	if err != nil {
		return err
	}
	settings.Profile.Origin = asFlag(settings.Profile.Origin)
	settings.Behavior.Origin = asFlag(settings.Behavior.Origin)
	plan := strategy.Plan(retry.Operation{})
	if c.json {
		return c.print(explanation{
			Profile: settings.Profile, RetryMode: settings.RetryMode,
			MaxAttempts: settings.MaxAttempts, Behavior: settings.Behavior,
			Strategy: numbers(plan), Files: settings.Files, Diagnostics: settings.Diagnostics,
		})
	}
	c.explainText(settings, plan)
	return nil
}

// options are the options that the flags and the system stand for.
func (c *call) options(q question) []awsretry.Option {
	options := []awsretry.Option{
		awsretry.WithProfile(q.profile),
		awsretry.WithBehavior(q.behavior),
		awsretry.WithConfigFile(c.configFile),
		awsretry.WithCredentialsFile(c.credentialsFile),
		awsretry.WithService(c.service),
		awsretry.WithEnv(c.sources.LookupEnv),
		awsretry.WithFS(c.sources.FS),
		awsretry.WithPlatform(c.sources.Platform),
		awsretry.WithHomeDir(c.sources.HomeDir),
	}
	if q.strict {
		options = append(options, awsretry.WithStrict())
	}
	return options
}

// asFlag names the flag in place of the option that it stands for.
func asFlag(origin config.Origin) config.Origin {
	switch origin.Name {
	case "WithProfile":
		origin.Name = "--profile"
	case "WithBehavior":
		origin.Name = "--behavior"
	}
	return origin
}

func numbers(plan retry.Plan) strategyNumbers {
	var n strategyNumbers
	n.Costs.Retry, n.Costs.Timeout, n.Costs.Throttling = plan.RetryCost, plan.TimeoutCost, plan.ThrottlingCost
	n.Bases.Throttling, n.Bases.Other = plan.ThrottlingBase.Seconds(), plan.Base.Seconds()
	n.WorstCaseDelay = plan.WorstCaseDelay()
	return n
}
