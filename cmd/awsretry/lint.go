package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	reports "github.com/owenrumney/go-sarif/v3/pkg/report"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/spf13/cobra"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/words"
)

// linting holds the flags of lint.
type linting struct {
	strict, rules  bool
	diff, fix      bool
	format, failOn string
	files          []string
}

func (c *call) lintCommand() *cobra.Command {
	l := linting{format: "text", failOn: "error"}
	cmd := c.command("lint", "what is wrong or without effect in the shared files", lintNotes,
		"awsretry lint --fail-on warning deploy/aws/config", true, func(context.Context) error { return c.lint(&l) })
	cmd.Use = "lint [FILE...]"
	cmd.Args = func(_ *cobra.Command, args []string) error {
		l.files = args
		if slices.Contains(args, "") {
			return errors.New("the name of a file is empty")
		}
		if len(args) > 0 && (c.configFile != "" || c.credentialsFile != "") {
			return errors.New("files are arguments or those of --config-file and --credentials-file, not both")
		}
		return nil
	}
	f := cmd.Flags()
	f.BoolVar(&l.strict, "strict", false, "count malformed lines as errors, and exit with 1 for any finding")
	choice(cmd, &l.format, "format", "`form` of the findings: text, json, github for annotations of its Actions, sarif (text unless given)", "text", "json", "github", "sarif")
	choice(cmd, &l.failOn, "fail-on", "`severity` from which on the exit status is 1: error or warning (error unless given)", "error", "warning")
	f.BoolVar(&l.diff, "diff", false, "print what --fix would change, and nothing else")
	f.BoolVar(&l.fix, "fix", false, "print and write the cures of headers, keys, quotes and marks, and then the findings that are left")
	f.BoolVar(&l.rules, "rules", false, "print the codes of all findings, with meaning, example and cure")
	return cmd
}

const lintNotes = `A file named credentials is read as a credentials file, any other as a config
file, and each by itself. Without files it reads those of the environment. A
comment "awsretry:ignore CODE" in a line, or in the line above, hides findings
with that code; without a code it hides all.`

// lint prints the findings of the files.
func (c *call) lint(l *linting) error {
	if l.rules {
		return c.lintRules()
	}
	if c.json {
		l.format = "json"
	}
	sources := []config.Sources{c.source()}
	if len(l.files) > 0 {
		sources = nil
		for _, file := range l.files {
			sources = append(sources, alone(c.source(), file))
		}
	}
	if l.diff || l.fix {
		if l.format != "text" {
			return usageError("--diff and --fix print text, so neither --json nor --format goes with them")
		}
		if changed, err := c.fix(sources, l.fix); err != nil || !l.fix {
			return cmp.Or(err, changed)
		}
	}
	var all []lint.Diagnostic
	for _, source := range sources {
		found, err := lint.Files(source, l.strict)
		if err != nil {
			return err
		}
		all = append(all, slices.DeleteFunc(found, func(d lint.Diagnostic) bool { return len(l.files) > 0 && d.File == "" })...)
	}
	if err := c.printFindings(l.format, all); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(d lint.Diagnostic) bool {
		return l.strict || l.failOn == "warning" || d.Severity == lint.SeverityError
	}) {
		return errBad
	}
	return nil
}

// alone returns the sources with one file. The other one is empty.
func alone(s config.Sources, file string) config.Sources {
	s.ConfigFile, s.CredentialsFile = file, os.DevNull
	if filepath.Base(file) == "credentials" {
		s.ConfigFile, s.CredentialsFile = os.DevNull, file
	}
	return s
}

// settingsPage has the meaning of each code.
const settingsPage = "https://github.com/awsretry/awsretry/blob/main/docs/settings.md#"

func (c *call) printFindings(format string, all []lint.Diagnostic) error {
	switch format {
	case "json":
		for _, d := range all {
			if err := c.print(d); err != nil {
				return err
			}
		}
	case "github":
		// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
		property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
		for _, d := range all {
			at := ""
			if d.File != "" {
				at = fmt.Sprintf("file=%s,line=%d,", property.Replace(d.File), max(d.Line, 1))
			}
			if d.Column > 0 {
				at += fmt.Sprintf("col=%d,", d.Column)
			}
			fmt.Fprintf(c.out, "::%s %stitle=%s::%s\n", d.Severity, at, property.Replace(d.Code),
				strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(words.Escaped(d.Message)))
		}
	case "sarif":
		return sarifOf(c.build.Version, all).PrettyWrite(c.out)
	default:
		for _, d := range all {
			show(c.out, "", d)
		}
	}
	return nil
}

// sarifOf returns the findings in the Static Analysis Results Interchange Format, version 2.1.0.
func sarifOf(version string, all []lint.Diagnostic) *sarif.Report {
	run := sarif.NewRunWithInformationURI("awsretry lint", "https://github.com/awsretry/awsretry")
	run.Tool.Driver.WithVersion(version)
	run.WithColumnKind("unicodeCodePoints")
	for _, rule := range lint.Rules() {
		run.AddRule(rule.Code).WithDescription(rule.Meaning + " " + rule.Cure).WithHelpURI(settingsPage + rule.Code)
	}
	for _, d := range all {
		result := run.CreateResultForRule(d.Code).WithLevel(d.Severity.String()).WithMessage(sarif.NewTextMessage(words.Escaped(d.Message)))
		if d.File != "" {
			region := sarif.NewSimpleRegion(max(d.Line, 1), max(d.Line, 1)).WithByteOffset(-1).WithCharOffset(-1)
			if d.Column > 0 {
				region.WithStartColumn(d.Column)
			}
			run.AddDistinctArtifact(filepath.ToSlash(d.File))
			result.AddLocation(sarif.NewLocationWithPhysicalLocation(sarif.NewPhysicalLocation().
				WithArtifactLocation(sarif.NewSimpleArtifactLocation(filepath.ToSlash(d.File))).
				WithRegion(region)))
		}
	}
	all210 := reports.NewV210Report()
	all210.AddRun(run)
	return all210
}

// lintRules prints all kinds of findings.
func (c *call) lintRules() error {
	if c.json {
		for _, rule := range lint.Rules() {
			if err := c.print(rule); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(c.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "code\texample\tmeaning\tcure")
	for _, rule := range lint.Rules() {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", rule.Code, rule.Example, rule.Meaning, rule.Cure)
	}
	return table.Flush()
}
