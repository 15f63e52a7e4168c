package main

import (
	"context"
	_ "embed" // for the scripts
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/awsretry/awsretry/internal/serviceid"
	"github.com/awsretry/awsretry/internal/terminal"
	"github.com/awsretry/awsretry/retry"
)

// The scripts only ask the command itself for candidates, so they do not change with its flags.
//
//go:embed completion.bash
var completionBash string

//go:embed completion.zsh
var completionZsh string

//go:embed completion.fish
var completionFish string

// completing is the hidden command that the scripts call. Its arguments are the words between the
// name of the program and the cursor; the last one is the word to complete, and may be empty. It
// prints the candidates, one per line. If it prints none, the shell completes files.
const completing = "__complete"

func shells() []string { return []string{"bash", "zsh", "fish"} }

func completionCommand() command {
	return command{
		name:     "completion",
		argument: "SHELL",
		synopsis: "a script that lets a shell complete commands, flags and profiles",
		example:  "source <(awsretry completion bash)",
		notes: "SHELL is bash, zsh or fish. For bash, put the line of the example into\n" +
			"~/.bashrc. For zsh, put the same line with zsh into ~/.zshrc, after compinit.\n" +
			"For fish, write the script to ~/.config/fish/completions/awsretry.fish.\n",
		define: func(*flags) func(context.Context, *call) error {
			return func(_ context.Context, c *call) error { return c.completion() }
		},
	}
}

// completion prints the script for a shell.
func (c *call) completion() error {
	script := map[string]string{"bash": completionBash, "zsh": completionZsh, "fish": completionFish}[c.argument]
	if script == "" {
		return usageError(fmt.Sprintf("%q is not a known shell: %s", c.argument, strings.Join(shells(), ", ")))
	}
	if c.json {
		return c.print(map[string]string{"script": script})
	}
	_, err := io.WriteString(c.out, script)
	return err
}

// complete prints the candidates for the last word.
func complete(words []string, sys system) {
	words = joined(words)
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	for _, candidate := range slices.Compact(candidates(words[:len(words)-1], last, sys)) {
		if strings.HasPrefix(candidate, last) && !strings.ContainsFunc(candidate, terminal.Obeyed) {
			fmt.Fprintln(sys.out, candidate)
		}
	}
}

// joined turns --flag, = and VALUE, which are three words in bash, into --flag and VALUE.
func joined(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word == "=" })
}

// candidates returns the words that start with last and may follow before.
func candidates(before []string, last string, sys system) []string {
	names := []string{}
	for _, c := range commands() {
		names = append(names, c.name)
	}
	if len(before) == 0 {
		return append(names, "help", "--help", "--version")
	}
	if before[0] == "help" && len(before) == 1 {
		return names
	}
	i := slices.Index(names, before[0])
	if i < 0 {
		return nil
	}
	c := commands()[i]
	f := newFlags(c)
	c.define(f)
	f.SetOutput(io.Discard)
	args := before[1:]
	_, err := c.parse(f, args) // It parses as far as it can, which sets the files.
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if len(args) > 0 {
		if wants := f.wanting(args[len(args)-1]); wants != nil {
			return f.values(wants.Name, sys)
		}
	}
	switch name, _, assigned := strings.Cut(last, "="); {
	case assigned && strings.HasPrefix(last, "-"):
		values := f.values(strings.TrimLeft(name, "-"), sys)
		for i := range values {
			values[i] = name + "=" + values[i]
		}
		return values
	case strings.HasPrefix(last, "-"):
		flags := []string{"--help"}
		f.VisitAll(func(f *flag.Flag) { flags = append(flags, dashed(f.Name)) })
		return flags
	case c.name == "completion":
		return shells()
	}
	return nil
}

// wanting returns the flag of a word whose value is the next word, or nil.
func (f *flags) wanting(word string) *flag.Flag {
	if !strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
		return nil
	}
	found := f.Lookup(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"))
	if found == nil || isSwitch(found) {
		return nil
	}
	return found
}

// isSwitch reports whether a flag needs no value.
func isSwitch(f *flag.Flag) bool {
	value, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && value.IsBoolFlag()
}

// values returns the possible values of a flag, or none if they cannot be listed.
func (f *flags) values(name string, sys system) []string {
	switch name {
	case "profile":
		return f.profiles(sys)
	case "behavior":
		return []string{string(retry.V20), string(retry.V21)}
	case "service":
		ids := []string{}
		for _, id := range serviceid.All() {
			ids = append(ids, strings.ReplaceAll(strings.ToLower(id), " ", "-"))
		}
		return ids
	case "modeled":
		return []string{"not_retryable", "retryable", "throttling"}
	case "transport":
		return transportKinds()
	}
	return nil
}

// profiles returns the names of the profiles in the files that the flags and the system name.
func (f *flags) profiles(sys system) []string {
	sources := sys.sources
	sources.ConfigFile, sources.CredentialsFile = f.configFile, f.credentialsFile
	all, _, err := sources.Profiles(false, false)
	if err != nil {
		return nil
	}
	names := []string{}
	for name := range all {
		names = append(names, name)
	}
	return names
}
