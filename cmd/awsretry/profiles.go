package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/awsretry/awsretry/config"
)

func profilesCommand() command {
	return command{
		name:     "profiles",
		synopsis: "what AWS tools see in the shared files",
		example:  "awsretry profiles --show-values --json",
		define: func(f *flags) func(context.Context, *call) error {
			show := f.Bool("show-values", false, "show values, but for those of secrets")
			strict := f.Bool("strict", false, "refuse the first malformed line of the shared files")
			return func(_ context.Context, c *call) error { return c.profiles(*show, *strict) }
		},
	}
}

// profiles prints all profiles with their properties, each as soon as it is read:
// together they may be many times as large as the files.
func (c *call) profiles(showValues, strict bool) error {
	all, found, err := config.Profiles(c.source(), showValues, strict)
	if err != nil {
		return err
	}
	for _, d := range found {
		show(c.errs, "", d)
	}
	out := bufio.NewWriter(c.out)
	if c.json {
		if err := printProfiles(out, all); err != nil {
			return err
		}
		return out.Flush()
	}
	separator := ""
	for name, properties := range all {
		fmt.Fprintf(out, "%s[%s]\n", separator, plain(name))
		separator = "\n"
		for key, value := range properties {
			lines := strings.Split(value, "\n")
			for i, line := range lines {
				lines[i] = plain(line)
			}
			fmt.Fprintln(out, strings.TrimRight(key+" = "+strings.Join(lines, "\n    "), " "))
		}
	}
	return out.Flush()
}

// printProfiles writes {"profiles":{name:{key:value}}} piece by piece.
func printProfiles(w *bufio.Writer, all iter.Seq2[string, iter.Seq2[string, string]]) error {
	_, _ = w.WriteString(`{"profiles":{`) // The buffer keeps an error.
	separator := ""
	for name, properties := range all {
		if err := printStrings(w, separator, name, ":{"); err != nil {
			return err
		}
		separator = ","
		between := ""
		for key, value := range properties {
			if err := printStrings(w, between, key, ":", value, ""); err != nil {
				return err
			}
			between = ","
		}
		_ = w.WriteByte('}')
	}
	_, err := w.WriteString("}}\n")
	return err
}

// printStrings writes every second text as a JSON string, and those between as they
// are.
func printStrings(w io.Writer, texts ...string) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	for i, text := range texts {
		if i%2 == 0 {
			b.WriteString(text)
			continue
		}
		if err := encoder.Encode(text); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // Encode ends each value with a newline.
	}
	_, err := w.Write(b.Bytes())
	return err
}
