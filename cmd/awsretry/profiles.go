package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/words"
)

func (c *call) profilesCommand() *cobra.Command {
	var values, strict bool
	cmd := c.command("profiles", "what AWS tools see in the shared files", "",
		"awsretry profiles --show-values --json", true, func(context.Context) error { return c.profiles(values, strict) })
	cmd.Flags().BoolVar(&values, "show-values", false, "show values, except secrets")
	cmd.Flags().BoolVar(&strict, "strict", false, "refuse the first malformed line of the shared files")
	return cmd
}

// profileNames returns the names of the profiles, for completion.
func (c *call) profileNames() []string {
	if c.configFile == "-" || c.credentialsFile == "-" {
		return nil // The shell's standard input is the terminal.
	}
	pair := sharedfile.Open(sharedfile.Sources(c.source()))
	pair.Read("", true)
	return pair.Profiles()
}

// profiles prints all profiles, sorted by name in byte order, with the properties that the sections of both files
// together have. It prints each one as soon as it is read, because all together may be many times as large as the files.
func (c *call) profiles(showValues, strict bool) error {
	found, err := lint.Files(c.source(), false)
	if err != nil {
		return err
	}
	_, err = config.Query{Sources: c.source(), Strict: strict}.Resolve()
	if malformed, ok := errors.AsType[*config.ParseError](err); ok { // No other error matters here.
		return malformed
	}
	c.warn(found)
	pair := sharedfile.Open(sharedfile.Sources(c.source()))
	pair.Read("", true)
	out, separator := bufio.NewWriter(c.out), ""
	if c.json {
		fmt.Fprint(out, `{"profiles":{`)
	}
	for _, name := range pair.Profiles() {
		properties := shown(pair, name, showValues)
		if c.json {
			fmt.Fprint(out, separator, inJSON(name), ":", inJSON(properties))
			separator = ","
			continue
		}
		fmt.Fprintf(out, "%s[%s]\n", separator, words.Plain(name))
		separator = "\n"
		for _, key := range slices.Sorted(maps.Keys(properties)) {
			printProperty(out, key, properties[key])
		}
	}
	if c.json {
		fmt.Fprintln(out, "}}")
	}
	return out.Flush()
}

// shown returns the values of a profile by key. One that is not shown is "***", and a property with sub-properties has
// an empty value. The value of a secret is never shown, nor one that has the key of a secret in a further line.
func shown(pair *sharedfile.Pair, profile string, showValues bool) map[string]string {
	all := map[string]string{}
	for _, r := range pair.Files { // The credentials file, which wins, comes last.
		for key, v := range r.Sections[sharedfile.Place{Profile: true, Name: profile}].Values() {
			switch {
			case v.Group:
				all[key] = ""
			case !showValues || v.Secret || sharedfile.IsSecret(key):
				all[key] = "***"
			default:
				all[key] = string(v.Text)
			}
		}
	}
	return all
}

// printProperty writes a property. Further lines of the value are indented.
func printProperty(w io.Writer, key, value string) {
	lines := []string{key + " ="}
	for line := range strings.SplitSeq(value, "\n") {
		lines = append(lines, words.Plain(line))
	}
	if value == "" {
		lines = lines[:1]
	}
	fmt.Fprintln(w, strings.Replace(strings.Join(lines, "\n    "), "\n    ", " ", 1))
}

// inJSON returns a string, or a map of strings sorted by key, in JSON.
func inJSON[T string | map[string]string](value T) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // Strings can always be encoded.
	return strings.TrimSuffix(b.String(), "\n")
}
