package main

import (
	"context"

	"github.com/awsretry/awsretry/config"
)

func lintCommand() command {
	return command{
		name:     "lint",
		prose:    true,
		synopsis: "what is wrong or without effect in the shared files",
		example:  "awsretry lint --strict --config-file ./aws-config",
		define: func(f *flags) func(context.Context, *call) error {
			strict := f.Bool("strict", false, "count malformed lines as errors, and exit with 1 for any finding")
			return func(_ context.Context, c *call) error { return lint(c, *strict) }
		},
	}
}

// lint prints the diagnostics of all profiles.
func lint(c *call, strict bool) error {
	found, err := c.source().Lint(strict)
	if err != nil {
		return err
	}
	bad := false
	for _, d := range found {
		bad = bad || strict || d.Severity == config.SeverityError
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
