package main

import (
	"context"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func explainCommand() command {
	return command{
		name:     "explain",
		synopsis: "what the settings are, where each came from, and what they do",
		example:  "awsretry explain --profile prod --service dynamodb",
		define: func(*flags) func(context.Context, *call) error {
			return explain
		},
	}
}

// explanation is what --json prints.
type explanation struct {
	Profile     awsretry.Setting[string]            `json:"profile"`
	RetryMode   awsretry.Setting[awsretry.Mode]     `json:"retry_mode"`
	MaxAttempts awsretry.Setting[int]               `json:"max_attempts"`
	Behavior    awsretry.Setting[awsretry.Behavior] `json:"behavior"`
	Strategy    strategyNumbers                     `json:"strategy"`
	Files       []config.FileStatus                 `json:"files"`
	Diagnostics []config.Diagnostic                 `json:"diagnostics"`
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
func explain(ctx context.Context, c *call) error {
	settings, err := awsretry.Resolve(ctx, c.options()...)
	if err != nil {
		return err
	}
	strategy, err := awsretry.New(settings)
	if err != nil {
		return err
	}
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

func numbers(plan standard.Plan) strategyNumbers {
	var n strategyNumbers
	n.Costs.Retry, n.Costs.Timeout, n.Costs.Throttling = plan.RetryCost, plan.TimeoutCost, plan.ThrottlingCost
	n.Bases.Throttling, n.Bases.Other = plan.ThrottlingBase.Seconds(), plan.Base.Seconds()
	n.WorstCaseDelay = plan.WorstCaseDelay()
	return n
}
