package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// A trial is what the tests of a package do in the program with all switches, while none is on.
type trial struct {
	program string
	reached string           // the numbers of the changes in functions that ran, each on a line
	skip    string           // the tests that failed, as a pattern
	took    [2]time.Duration // of the processor, and of the clock
}

// A verdict says which test noticed a change first.
type verdict struct {
	broken    bool // the change does not compile
	dir, test string
	late      bool // the tests ran out of time
	idle      bool // no test runs the function
}

// try runs the tests that use the changed package, until one fails. A change without a switch has the number 0.
func (c *checkout) try(ctx context.Context, m change, number int) (v verdict, err error) {
	var overlay string
	if number == 0 {
		text := c.files[m.file].text
		if overlay, err = c.overlay(map[string]string{m.file: text[:m.start] + m.text + text[m.end:]}); err != nil {
			return v, err
		}
		if c.compile(ctx, overlay, []string{m.pkg}) != "" {
			return verdict{broken: true}, ctx.Err()
		}
	}
	v.idle = true
	for _, s := range c.users(m.pkg) {
		if err := c.prepare(ctx, s); err != nil {
			return v, err
		}
		program := s.trial.program
		if number == 0 {
			if program, err = c.link(ctx, s, overlay); err != nil {
				return v, err
			}
			defer func() { _ = os.Remove(program) }()
		} else if !strings.Contains("\n"+s.trial.reached, fmt.Sprintf("\n%d\n", number)) {
			continue
		}
		v.idle = false
		// Enough on a machine that has become slower since the trial.
		limit := [2]time.Duration{5*s.trial.took[0] + 10*time.Second, 10*s.trial.took[1] + time.Minute}
		out, _, err := c.play(ctx, s, program, limit, "MUTANT="+strconv.Itoa(number), "-test.failfast", "-test.skip="+s.trial.skip)
		switch {
		case ctx.Err() != nil:
			return v, ctx.Err()
		case err != nil:
			late := strings.Contains(err.Error(), "killed")
			return verdict{dir: s.dir, test: firstFailure(out.String()), late: late}, nil
		}
	}
	return v, nil
}

// prepare links the tests of a package with all switches, and runs them once with none on. It leaves out those that
// fail: some count allocations, and with switches the compiler does not inline functions.
func (c *checkout) prepare(ctx context.Context, s *suite) (err error) {
	if s.trial != nil {
		return nil
	}
	t := &trial{}
	if t.program, err = c.link(ctx, s, c.switches); err != nil {
		return err
	}
	list := filepath.Join(c.temp, "reached")
	for range 3 {
		if err := os.WriteFile(list, nil, 0o600); err != nil {
			return err
		}
		out, took, failed := c.play(ctx, s, t.program, [2]time.Duration{time.Hour, time.Hour}, "MUTANTS_REACHED="+list, "-test.skip="+t.skip)
		if failed == nil {
			reached, err := os.ReadFile(list)
			t.reached, t.took, s.trial = string(reached), took, t
			return err
		}
		for _, match := range regexp.MustCompile(`(?m)^--- FAIL: (\S+)`).FindAllStringSubmatch(out.String(), -1) {
			fmt.Fprintf(c.out, "%s %s\tleft out, since it fails without a change\n", s.dir, match[1])
			t.skip = strings.TrimPrefix(t.skip+"|^"+match[1]+"$", "|")
		}
		err = fmt.Errorf("the tests of %s without a change: %w\n%s", s.dir, failed, &out)
	}
	return err
}

func (c *checkout) link(ctx context.Context, s *suite, overlay string) (program string, err error) {
	program = strings.TrimSuffix(overlay, ".json") + strings.ReplaceAll(s.dir, "/", "-") + ".test"
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-p=1", "-vet=off", "-ldflags=-w", "-o="+program, "-overlay="+overlay, s.pkg)
	cmd.Dir = filepath.Join(c.root, s.module)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go test -c %s: %w\n%s", s.pkg, err, out)
	}
	return program, nil
}

// play runs a test program, and with it ends all that it has started.
func (c *checkout) play(ctx context.Context, s *suite, program string, limit [2]time.Duration, variable string, flags ...string) (out head, took [2]time.Duration, err error) {
	// A loop without end stops soon, on a slow machine too, and fills no memory. Without the timer of a timeout, the
	// runtime ends a program whose goroutines all wait for each other.
	script := fmt.Sprintf(`ulimit -t %d -v 8000000; exec "$0" "$@"`, int(limit[0].Seconds()))
	args := []string{"-c", script, program, "-test.paniconexit0", "-test.timeout=0"}
	ctx, cancel := clock.WithTimeout(ctx, clock.System{}, limit[1])
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", append(args, flags...)...)
	cmd.Dir = filepath.Join(c.root, s.dir)
	cmd.Env = append(cmd.Environ(), variable)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	kill := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel, cmd.WaitDelay = kill, 10*time.Second
	cmd.Stdout, cmd.Stderr = &out, &out
	before := clock.System{}.Now()
	if err = cmd.Run(); cmd.Process == nil {
		return out, took, err
	}
	_ = kill()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return out, [2]time.Duration{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), clock.System{}.Now().Sub(before)}, err
}

// A head keeps the first megabyte that is written to it.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), max(0, 1<<20-h.Len()))])
	return len(p), nil
}

// firstFailure returns the test that failed first, and the one in it that failed first.
func firstFailure(out string) (test string) {
	for _, match := range regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`).FindAllStringSubmatch(out, -1) {
		if test == "" || strings.HasPrefix(match[1], test+"/") {
			test = match[1]
		}
	}
	return test
}
