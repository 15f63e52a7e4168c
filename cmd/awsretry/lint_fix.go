package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/files"
	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/words"
)

// fix prints how the cured files differ, and writes them. bad is errBad if one differs.
func (c *call) fix(sources []config.Sources, write bool) (bad, err error) {
	for _, source := range sources {
		found, err := lint.Fix(source)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			c.showFixed(f)
			if bad = errBad; !write {
				continue
			}
			if err := c.write(f); err != nil {
				return bad, fmt.Errorf("%s: cannot be fixed: %w", sharedfile.ShownPath(f.Path), err)
			}
		}
	}
	return bad, nil
}

// showFixed prints the lines that differ, as diff -U0 does but without their comments, which may hold anything.
func (c *call) showFixed(f lint.Fixed) {
	path := words.Escaped(sharedfile.ShownPath(f.Path))
	fmt.Fprintf(c.out, "--- %s\n+++ %s\n", path, path)
	if f.Decoded != "" {
		fmt.Fprintf(c.out, "# UTF-8 in place of %s\n", f.Decoded)
	}
	for _, l := range f.Lines {
		fmt.Fprintf(c.out, "@@ -%d +%[1]d @@\n-%s\n+%s\n", l.Number, words.Escaped(l.Before), words.Escaped(l.After))
	}
}

var errChanged = errors.New("it has changed meanwhile; try again")

// write writes a file unless it has changed since it was read: printing takes as long as a pager is open.
func (c *call) write(f lint.Fixed) error {
	if _, stream := c.streams[f.Path]; stream {
		return sharedfile.ErrNotRegular
	}
	if now, err := os.ReadFile(f.Path); err != nil || string(now) != f.Before { // such as by a tool that renews credentials
		return cmp.Or(err, errChanged)
	}
	return files.Replace(f.Path, []byte(f.After))
}
