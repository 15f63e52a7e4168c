package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
)

func (c *call) lintCommand() *cobra.Command {
	var strict bool
	cmd := c.command("lint", "what is wrong or without effect in the shared files", "",
		"awsretry lint --strict --config-file ./aws-config", true, func(context.Context) error { return c.lint(strict) })
	cmd.Flags().BoolVar(&strict, "strict", false, "count malformed lines as errors, and exit with 1 for any finding")
	return cmd
}

// lint prints the diagnostics of all profiles.
func (c *call) lint(strict bool) error {
	found, err := lint.Files(c.source(), strict)
	if err != nil {
		return err
	}
	bad := false
	for _, d := range found {
		bad = bad || strict || d.Severity == lint.SeverityError
		if c.json {
			if err := c.print(d); err != nil {
				return err
			}
			continue
		}
		show(c.out, "", d)
	}
	if bad {
		return errBad
	}
	return nil
}
