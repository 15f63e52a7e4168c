package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// describe says what was measured where: machine, Go, commit, versions of the peers.
// dirty says that there are files other than reports that are not those of the commit.
func describe(ctx context.Context, cpu string) (string, error) {
	commit, err := output(ctx, "git", "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return "", err
	}
	changed, err := output(ctx, "git", "status", "--porcelain", "--", ":/", ":(top,exclude,glob)**/RESULTS*.md")
	if err != nil {
		return "", err
	}
	if changed != "" {
		commit += " (dirty)"
	}
	peers, err := output(ctx, "go", "list", "-m", "-f", "{{if not (or .Main .Indirect .Replace)}}{{.Path}} {{.Version}}{{end}}", "all")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s/%s, %d cores, %s; %s; commit %s.\n\nPeers: %s.\n",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), cpu, runtime.Version(), commit,
		strings.Join(strings.Split(peers, "\n"), ", ")), nil
}

// output is what a command prints, without the end of the last line.
func output(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}
