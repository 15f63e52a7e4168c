package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/words"
)

// call is one run of the program.
type call struct {
	system

	// The common flags of all commands.
	configFile, credentialsFile, service string
	json                                 bool

	// args are the arguments of the program.
	args []string
	// name is the command that runs; empty before it does.
	name string
	// streams has what was read from pipes.
	streams map[string]string
}

// errBad ends a command whose output has already said what is bad. Nothing more is printed.
var errBad = errors.New("the answer is bad")

// usageError says which flags do not go together.
type usageError string

func (e usageError) Error() string { return string(e) }

// execute runs the command that the arguments name, and returns the exit status.
func (c *call) execute(ctx context.Context) int {
	root := c.root()
	root.SetArgs(c.args)
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.errs)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return exitFine
	case errors.Is(err, errBad), errors.Is(err, errUnwritten):
		return exitBad
	case errors.Is(err, context.Canceled):
		c.complain(errors.New("interrupted, so there are no figures"))
		return exitInterrupted
	case c.name == "", errors.As(err, new(usageError)):
		text, meant, _ := strings.Cut(err.Error(), "\n\nDid you mean this?\n")
		if meant != "" {
			text += "; did you mean " + strings.Join(strings.Fields(meant), " or ") + "?"
		}
		fmt.Fprintf(c.errs, "%s: %s; %[1]s -h shows the flags\n", cmd.CommandPath(), words.Escaped(text))
		return exitUsage
	default:
		c.fail(err)
		return exitBad
	}
}

// root returns the program with its commands.
func (c *call) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "awsretry",
		Short: "explains and checks the retry settings of AWS profiles",
		Long: "awsretry explains and checks the retry settings of AWS profiles, says which\n" +
			"failures are retried, and simulates what settings do. The exit status is 0 on\n" +
			"success, 1 if problems were found or the output cannot be written, and 2 for a\nusage error.",
		Version:       c.build.Version,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(c.errs)
			return errors.Join(cmd.Help(), errors.New("a command is missing"))
		},
	}
	root.SetVersionTemplate(c.build.String())
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "FlagUsages |", fmt.Sprintf("FlagUsagesWrapped %d |", usualWidth)))
	root.SetFlagErrorFunc(suggesting)
	f := root.PersistentFlags()
	f.StringVar(&c.configFile, "config-file", "", "config `file` to read instead of AWS_CONFIG_FILE and ~/.aws/config; - is standard input")
	f.StringVar(&c.credentialsFile, "credentials-file", "",
		"credentials `file` to read instead of AWS_SHARED_CREDENTIALS_FILE and ~/.aws/credentials; - is standard input")
	f.StringVar(&c.service, "service", "", "`service` whose defaults to use, or that a failure is from, such as dynamodb")
	f.BoolVar(&c.json, "json", false, "print JSON, one object per line")
	completes(root, "service", serviceNames)
	root.AddCommand(c.explainCommand(), c.lintCommand(), c.profilesCommand(), c.classifyCommand(), c.simulateCommand(), c.whyCommand(), c.versionCommand())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() { // Without a command or shell that there is, they would print a help and succeed.
		case "help":
			cmd.Args = func(_ *cobra.Command, names []string) error {
				_, _, err := root.Find(names)
				return err
			}
		case "completion":
			cmd.RunE = func(*cobra.Command, []string) error { return errors.New("a shell is missing") }
		}
	}
	return root
}

// command returns a command that runs act. Prose wraps to the width of a terminal.
func (c *call) command(name, synopsis, notes, example string, prose bool, act func(ctx context.Context) error) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: synopsis, Long: strings.TrimSpace(synopsis + "\n\n" + notes), Example: "  " + example, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.name = cmd.Name()
			if err := checkEmpty(cmd.Flags()); err != nil {
				return err
			}
			c.checkService()
			if !prose || c.json || c.width == 0 {
				return act(cmd.Context())
			}
			var wide bytes.Buffer
			out := c.out
			c.out = &wide
			err := act(cmd.Context())
			c.out = out
			if _, unwritten := io.WriteString(out, wrap(wide.String(), c.width)); unwritten != nil {
				return unwritten
			}
			return err
		},
	}
}

// checkEmpty refuses an empty path or name, most often that of a variable of the shell that is not set. It would count as
// no flag. An empty service or code is none.
func checkEmpty(f *pflag.FlagSet) (err error) {
	f.Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" && f.Name != "service" && f.Name != "code" {
			what, _ := pflag.UnquoteUsage(f)
			err = usageError("--" + f.Name + ": must be a " + what + ", not empty")
		}
	})
	return err
}

// wrap breaks lines at spaces where they are wider than a terminal. What follows is indented, in a row of a table to
// its last column in the left half.
func wrap(wide string, width int) string {
	var all strings.Builder
	for line := range strings.Lines(wide) {
		line = strings.TrimSuffix(line, "\n")
		indent := ""
		for text.StringWidth(line) > width {
			cut := width // so many columns, and one byte or more for each
			first := text.Trim(line, cut)
			if at := strings.LastIndexByte(first+line[len(first):min(len(first)+1, len(line))], ' '); strings.TrimSpace(line[:max(at, 0)]) != "" {
				first = line[:at]
			}
			if indent == "" {
				hang := len(line) - len(strings.TrimLeft(line, " ")) + 2
				if gap := strings.LastIndex(line[:min(width/2, len(first))], "  "); gap >= hang {
					hang = gap + 2
				}
				indent = strings.Repeat(" ", min(hang, width/2))
			}
			all.WriteString(strings.TrimRight(first, " ") + "\n")
			line = indent + strings.TrimLeft(line[len(first):], " ")
		}
		all.WriteString(line + "\n")
	}
	return all.String()
}

// suggesting adds the flags that may be meant to the error for an unknown one.
func suggesting(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	name := unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		name = short // of -profile all letters
	}
	var meant []string
	names := words.Near(name)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if len(name) > 1 && strings.HasPrefix(f.Name, name) {
			meant = append(meant, "--"+f.Name)
		} else {
			names.Add(f.Name)
		}
	})
	for _, name := range names.Best() {
		meant = append(meant, "--"+name)
	}
	if len(meant) == 0 {
		return err
	}
	return fmt.Errorf("%w; did you mean %s?", err, strings.Join(meant, " or "))
}

// completes lets shells complete the values of a flag.
func completes(cmd *cobra.Command, flag string, values func() []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		shown := slices.DeleteFunc(values(), func(value string) bool {
			return !strings.HasPrefix(value, begun) || strings.ContainsFunc(value, words.Obeyed)
		})
		return shown, cobra.ShellCompDirectiveNoFileComp
	}) // It fails only for a flag that is not there, or is registered twice.
}

// choice adds a flag that takes one of some values, which shells complete.
func choice[T ~string](cmd *cobra.Command, into *T, name, usage string, values ...T) {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}
	cmd.Flags().Func(name, usage, func(text string) error {
		if !slices.Contains(texts, text) {
			return errors.New("must be one of " + strings.Join(texts, ", "))
		}
		*into = T(text)
		return nil
	})
	completes(cmd, name, func() []string { return texts })
}

// source returns the sources of the settings. The paths of the flags override those of the system. Pipes can be
// read, and "-" as the path in a flag is the standard input.
func (c *call) source() config.Sources {
	sources := c.sources
	on, ok := sources.FS.(sharedfile.Machine)
	if !ok {
		on.FS = sources.FS
	}
	on.Stream = c.stream
	sources.FS = on
	sources.ConfigFile, sources.CredentialsFile = c.configFile, c.credentialsFile
	return sources
}

// stream reads a pipe, or for "-" the standard input. As either can be read once only, it keeps the text.
func (c *call) stream(name string, limit int64) (string, error) {
	if text, ok := c.streams[name]; ok {
		return text, nil
	}
	in := c.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer func() { _ = file.Close() }() // Nothing was written, so closing loses nothing.
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, limit))
	if err != nil {
		return "", err
	}
	if c.streams == nil {
		c.streams = map[string]string{}
	}
	c.streams[name] = string(text)
	return c.streams[name], nil
}

// print prints a value as one line of JSON.
func (c *call) print(value any) error {
	encoder := json.NewEncoder(c.out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// show prints a diagnostic as text.
func show(w io.Writer, indent string, d lint.Diagnostic) {
	fmt.Fprintln(w, indent+words.Escaped(d.String()))
}

// warn prints what was not read, for a command whose output does not say so.
func (c *call) warn(found []lint.Diagnostic) {
	for _, d := range found {
		switch d.Code {
		case "malformed-line", "missing-file", "unreadable-file", "no-home-directory":
			d.Severity = lint.SeverityWarning
			show(c.errs, "", d)
		}
	}
}
