package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/simulate"
)

func (c *call) simulateCommand() *cobra.Command {
	var q question
	var s simulate.Simulation
	cmd := c.command("simulate", "what settings do to the calls of a program, in figures and pictures", simulate.Notes,
		"awsretry simulate --vs adaptive --limit 50 --workers 100 -o report.html", true, func(ctx context.Context) error {
			err := s.Run(ctx, &simulate.Program{
				Args: c.args, Version: c.build.Version, Query: c.query(q, c.service), Warn: c.warn,
				Out: c.out, Errs: c.errs, Progress: c.progress, Width: c.width, JSON: c.json,
			})
			if usage, ok := errors.AsType[simulate.UsageError](err); ok {
				return usageError(usage)
			}
			if errors.Is(err, simulate.ErrLimit) {
				return errBad
			}
			return err
		})
	q.define(c, cmd)
	s.Define(cmd.Flags())
	return cmd
}
