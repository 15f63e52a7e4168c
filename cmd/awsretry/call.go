package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/config"
)

// flags are the flags of a command: the common ones, and those it adds.
type flags struct {
	*flag.FlagSet
	profile, configFile, credentialsFile, service string
	json                                          bool
}

// call is one run of a command.
type call struct {
	system
	flags
	// argument is that of a command that takes one.
	argument string
}

// errBad ends a command whose output says already what is bad.
var errBad = errors.New("the answer is bad")

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
		fmt.Fprintf(sys.errs, "awsretry %s: %v\n", c.name, err)
		return exitUsage
	}
	run := &call{system: sys, flags: *f, argument: argument}
	switch err := act(ctx, run); {
	case errors.Is(err, errBad):
		return exitBad
	case err != nil:
		run.fail(err)
		return exitBad
	default:
		return exitFine
	}
}

// parse reads the flags and the argument, before, between and behind which they
// may stand.
func (c command) parse(f *flags, args []string) (argument string, err error) {
	for given := false; ; given = true {
		switch err := f.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			return "", err
		case err != nil:
			return "", fmt.Errorf("%w; awsretry %s -h shows the flags", err, c.name)
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
	f.StringVar(&f.profile, "profile", "", "profile to use, in place of AWS_PROFILE")
	f.StringVar(&f.configFile, "config-file", "", "config file, in place of AWS_CONFIG_FILE and ~/.aws/config")
	f.StringVar(&f.credentialsFile, "credentials-file", "",
		"credentials file, in place of AWS_SHARED_CREDENTIALS_FILE and ~/.aws/credentials")
	f.StringVar(&f.service, "service", "", "service whose defaults to use, such as dynamodb")
	f.BoolVar(&f.json, "json", false, "print JSON, one object a line")
	f.Usage = func() {
		fmt.Fprintf(f.Output(), "%s\n\nUsage: awsretry %s\n\nExample:\n\n  %s\n\nFlags:\n\n",
			c.synopsis, strings.TrimRight(c.name+" [flags] "+c.argument, " "), c.example)
		f.PrintDefaults()
		if c.notes != "" {
			fmt.Fprint(f.Output(), "\n"+c.notes)
		}
	}
	return f
}

// options are the options that the flags and the system stand for.
func (c *call) options() []awsretry.Option {
	return []awsretry.Option{
		awsretry.WithProfile(c.profile),
		awsretry.WithConfigFile(c.configFile),
		awsretry.WithCredentialsFile(c.credentialsFile),
		awsretry.WithService(c.service),
		awsretry.WithEnv(c.sources.LookupEnv),
		awsretry.WithFS(c.sources.FS),
		awsretry.WithPlatform(c.sources.Platform),
		awsretry.WithHomeDir(c.sources.HomeDir),
		awsretry.WithOptionNames(optionNames()),
	}
}

// files opens the shared files.
func (c *call) files() (*config.Files, error) {
	sources := c.sources
	sources.ConfigFile, sources.CredentialsFile = c.configFile, c.credentialsFile
	sources.OptionNames = optionNames()
	return config.Open(sources)
}

// optionNames is what this program calls the options of the library.
func optionNames() map[string]string {
	return map[string]string{
		"WithProfile":         "--profile",
		"WithConfigFile":      "--config-file",
		"WithCredentialsFile": "--credentials-file",
	}
}

// print prints a value as one line of JSON.
func (c *call) print(value any) error {
	encoder := json.NewEncoder(c.out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// short replaces the home directory by ~ in a path, and wherever a path stands
// after a space in a text.
func (c *call) short(text string) string {
	home := strings.TrimRight(c.sources.Home(), `/\`)
	if home == "" {
		return text
	}
	for _, separator := range []string{"/", `\`} {
		text = strings.ReplaceAll(text, " "+home+separator, " ~"+separator)
		if rest, ok := strings.CutPrefix(text, home+separator); ok {
			text = "~" + separator + rest
		}
	}
	return text
}

// show prints a diagnostic for people.
func (c *call) show(indent string, d config.Diagnostic) {
	fmt.Fprintln(c.out, indent+c.short(d.String()))
}
