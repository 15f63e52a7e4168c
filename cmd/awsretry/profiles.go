package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

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
func printProperty(w *bufio.Writer, key, value string) {
	_, _ = w.WriteString(key + " =") // The buffer keeps an error.
	between := " "
	for line := range strings.SplitSeq(value, "\n") {
		if value != "" {
			_, _ = w.WriteString(between)
		}
		between = "\n    "
		if !strings.ContainsFunc(line, escape.Obeyed) {
			_, _ = w.WriteString(line)
			continue
		}
		_ = w.WriteByte('"')
		for piece := range pieces(line) {
			quoted := strconv.Quote(piece)
			_, _ = w.WriteString(quoted[1 : len(quoted)-1])
		}
		_ = w.WriteByte('"')
	}
	_ = w.WriteByte('\n')
}

// printProfiles writes {"profiles":{name:{key:value}}}.
func printProfiles(w *bufio.Writer, all iter.Seq2[string, iter.Seq2[string, string]]) {
	_, _ = w.WriteString(`{"profiles":{`)
	separator := ""
	for name, properties := range all {
		_, _ = w.WriteString(separator)
		separator = ","
		printString(w, name)
		_, _ = w.WriteString(":{")
		between := ""
		for key, value := range properties {
			_, _ = w.WriteString(between)
			between = ","
			printString(w, key)
			_ = w.WriteByte(':')
			printString(w, value)
		}
		_ = w.WriteByte('}')
	}
	_, _ = w.WriteString("}}\n")
}

// printString writes a string as JSON.
func printString(w *bufio.Writer, text string) {
	_ = w.WriteByte('"')
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	for piece := range pieces(text) {
		b.Reset()
		_ = encoder.Encode(piece) // A string can always be encoded.
		_, _ = w.Write(b.Bytes()[1 : b.Len()-2])
	}
	_ = w.WriteByte('"')
}

// pieces cuts a text between characters, because quoting a text of 4 MiB in one piece may need six
// times as much memory.
func pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			end := min(len(text), 4096)
			for end < len(text) && !utf8.RuneStart(text[end]) {
				end--
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}
