package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// about says where something was measured, as lines of configuration in the format
// of benchmarks, so that it stays with the figures.
func about(ctx context.Context) (string, error) {
	commit, err := output(ctx, "git", "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return "", err
	}
	changed, err := output(ctx, "git", "status", "--porcelain", "--", ":/", ":(top,exclude,glob)**/RESULTS*.md")
	if err != nil {
		return "", err
	}
	if changed != "" {
		commit += ", and changes to it"
	}
	peers, err := output(ctx, "go", "list", "-deps", "-test",
		"-f", "{{with .Module}}{{if not (or .Main .Indirect .Replace)}}{{.Path}} {{.Version}}{{end}}{{end}}", "./micro", "./effect")
	if err != nil {
		return "", err
	}
	modules := slices.DeleteFunc(strings.Split(peers, "\n"), func(line string) bool { return line == "" })
	slices.Sort(modules)
	return fmt.Sprintf("machine: %s/%s, %d cores\ngo: %s\ncommit: %s\npeers: %s\n",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), commit,
		strings.Join(slices.Compact(modules), ", ")), nil
}

// describe is about as a paragraph, with the processor, which benchmarks print.
func (r *results) describe() string {
	c := r.config
	return fmt.Sprintf("%s, %s; %s; commit %s.\n\nPeers: %s.\n", c["machine"], c["cpu"], c["go"], c["commit"], c["peers"])
}

// output is what a command prints, without the end of the last line.
func output(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}
