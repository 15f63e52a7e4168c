package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awsretry/awsretry/internal/escape"
	"github.com/awsretry/awsretry/internal/lint"
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
func (c *call) profileNames() (names []string) {
	all, _, err := lint.Profiles(c.source(), false, false)
	if err != nil {
		return nil
	}
	for name := range all {
		names = append(names, name)
	}
	return names
}

// profiles prints all profiles with their properties. It prints each one as soon as it is read,
// because all together may be many times as large as the files.
func (c *call) profiles(showValues, strict bool) error {
	all, found, err := lint.Profiles(c.source(), showValues, strict)
	if err != nil {
		return err
	}
	for _, d := range found {
		show(c.errs, "", d)
	}
	out := bufio.NewWriter(c.out)
	if c.json {
		printProfiles(out, all)
		return out.Flush()
	}
	separator := ""
	for name, properties := range all {
		fmt.Fprintf(out, "%s[%s]\n", separator, escape.Plain(name))
		separator = "\n"
		for key, value := range properties {
			printProperty(out, key, value)
		}
	}
	return out.Flush()
}

// printProperty writes a property. Further lines of the value are indented.
func printProperty(w io.Writer, key, value string) {
	lines := []string{key + " ="}
	for line := range strings.SplitSeq(value, "\n") {
		lines = append(lines, escape.Plain(line))
	}
	if value == "" {
		lines = lines[:1]
	}
	fmt.Fprintln(w, strings.Replace(strings.Join(lines, "\n    "), "\n    ", " ", 1))
}

// printProfiles writes {"profiles":{name:{key:value}}}, with names and keys in the order of the files.
func printProfiles(w io.Writer, all iter.Seq2[string, iter.Seq2[string, string]]) {
	fmt.Fprint(w, `{"profiles":{`)
	separator := ""
	for name, properties := range all {
		fmt.Fprint(w, separator, quotedJSON(name), ":{")
		separator = ","
		between := ""
		for key, value := range properties {
			fmt.Fprint(w, between, quotedJSON(key), ":", quotedJSON(value))
			between = ","
		}
		fmt.Fprint(w, "}")
	}
	fmt.Fprintln(w, "}}")
}

// quotedJSON returns a string in JSON.
func quotedJSON(text string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // A string can always be encoded.
	return strings.TrimSuffix(b.String(), "\n")
}
