package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/machine"
	"github.com/awsretry/awsretry/internal/terminal"
)

// flags are the common flags of all commands. A command adds its own to the FlagSet.
type flags struct {
	*flag.FlagSet
	configFile, credentialsFile, service string
	json                                 bool
}

// call is one run of a command.
type call struct {
	system
	flags
	// args are the arguments after the name of the command.
	args []string
	// argument is the argument of a command that takes one, else empty.
	argument string
	// streams has what was read from pipes.
	streams map[string][]byte
}

// errBad ends a command whose output has already said what is bad. Nothing more is printed.
var errBad = errors.New("the answer is bad")

// usageError says which flags do not go together.
type usageError string

func (e usageError) Error() string { return string(e) }

func (c command) run(ctx context.Context, args []string, sys system) int {
	f := newFlags(c)
	act := c.define(f)
	var said strings.Builder
	f.SetOutput(&said)
	argument, err := c.parse(f, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(sys.out, said.String())
		return exitFine
	case err != nil:
		return c.usageFailure(sys, err)
	}
	run := &call{system: sys, flags: *f, args: args, argument: argument}
	run.checkService()
	err = run.wrap(c.prose, func() error { return act(ctx, run) })
	switch {
	case errors.Is(err, errBad), errors.Is(err, errUnwritten):
		return exitBad
	case errors.As(err, new(usageError)):
		return c.usageFailure(sys, fmt.Errorf("%w; awsretry %s -h shows the flags", err, c.name))
	case err != nil:
		run.fail(err)
		return exitBad
	default:
		return exitFine
	}
}

// wrap calls act, and wraps its output to the width of the terminal if prose is true.
func (c *call) wrap(prose bool, act func() error) error {
	if !prose || c.json || c.width == 0 {
		return act()
	}
	out := c.out
	fold := terminal.NewFold(out, c.width)
	c.out = fold
	err := act()
	c.out = out
	if flushed := fold.Flush(); err == nil {
		err = flushed
	}
	return err
}

// usageFailure prints why the arguments are rejected, and returns the exit status for that.
func (c command) usageFailure(sys system, err error) int {
	fmt.Fprintf(sys.errs, "awsretry %s: %s\n", c.name, terminal.Escaped(err.Error()))
	return exitUsage
}

// parse reads the flags and the argument. Flags may come before or after the argument.
func (c command) parse(f *flags, args []string) (argument string, err error) {
	for given := false; ; given = true {
		switch err := f.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			return "", err
		case err != nil:
			// Package flag writes one dash.
			text := regexp.MustCompile(`(for|flag|defined:|argument:) -(\w[\w-])`).ReplaceAllString(err.Error(), "$1 --$2")
			return "", fmt.Errorf("%s; awsretry %s -h shows the flags", text, c.name)
		case f.NArg() == 0 && !given && c.argument != "":
			return "", fmt.Errorf("missing argument: %s", c.argument)
		case f.NArg() == 0:
			return argument, nil
		case given || c.argument == "":
			return "", fmt.Errorf("unexpected argument: %q", f.Arg(0))
		}
		argument, args = f.Arg(0), f.Args()[1:]
	}
}

func newFlags(c command) *flags {
	f := &flags{FlagSet: flag.NewFlagSet(c.name, flag.ContinueOnError)}
	f.StringVar(&f.configFile, "config-file", "", "config file to read instead of AWS_CONFIG_FILE and ~/.aws/config; - is standard input")
	f.StringVar(&f.credentialsFile, "credentials-file", "",
		"credentials file to read instead of AWS_SHARED_CREDENTIALS_FILE and ~/.aws/credentials; - is standard input")
	f.StringVar(&f.service, "service", "", "service whose defaults to use, such as dynamodb")
	f.BoolVar(&f.json, "json", false, "print JSON, one object per line")
	f.Usage = func() {
		out := terminal.NewFold(f.Output(), usualWidth)
		fmt.Fprintf(out, "%s\n\nUsage: awsretry %s\n\nExample:\n\n  %s\n\nFlags:\n\n",
			c.synopsis, strings.TrimRight(c.name+" [flags] "+c.argument, " "), c.example)
		table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
		f.VisitAll(func(f *flag.Flag) {
			value, text := flag.UnquoteUsage(f)
			fmt.Fprintf(table, "  %s\t%s\n", strings.TrimRight(dashed(f.Name)+" "+value, " "), text)
		})
		_ = table.Flush() // The flags go to a buffer, which takes everything.
		if c.notes != "" {
			fmt.Fprint(out, "\n"+c.notes)
		}
	}
	return f
}

// dashed returns a flag as users write it: one dash before a letter, two before a word.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// source returns the sources of the settings. The paths of the flags override those of the system. Pipes can be
// read, and "-" as the path in a flag is the standard input.
func (c *call) source() config.Sources {
	sources := c.sources
	on, ok := sources.FS.(machine.FS)
	if !ok {
		on.FS = sources.FS
	}
	on.Stream = c.stream
	sources.FS = on
	sources.ConfigFile, sources.CredentialsFile = c.configFile, c.credentialsFile
	return sources
}

// stream reads a pipe, or for "-" the standard input. As either can be read once only, it keeps the text.
func (c *call) stream(name string, limit int64) ([]byte, error) {
	if text, ok := c.streams[name]; ok {
		return text, nil
	}
	in := c.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // Nothing was written, so closing loses nothing.
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, limit))
	if err != nil {
		return nil, err
	}
	if c.streams == nil {
		c.streams = map[string][]byte{}
	}
	c.streams[name] = text
	return text, nil
}

// print prints a value as one line of JSON.
func (c *call) print(value any) error {
	encoder := json.NewEncoder(c.out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// show prints a diagnostic as text.
func show(w io.Writer, indent string, d config.Diagnostic) {
	fmt.Fprintln(w, indent+terminal.Escaped(d.String()))
}
