package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A checkout has the packages of one module, and the tests of it.
type checkout struct {
	root, module string
	files        map[string]file // by their path from the root
	suites       []*suite
	switches     string // the overlay of all changes that can be made at run time
	temp         string
	out          io.Writer
}

type file struct {
	pkg, name string // the import path, and the name of the package
	text      string
}

// A suite is the tests of a package.
type suite struct {
	module, pkg, dir string
	deps             map[string]bool
	trial            *trial
}

// open lists the module that folder is in, and the tests of it.
func open(ctx context.Context, root, folder string) (*checkout, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	c := &checkout{root: root, module: path.Clean(folder), files: map[string]file{}}
	for ; c.module != "."; c.module = path.Dir(c.module) {
		if _, err := os.Stat(filepath.Join(root, c.module, "go.mod")); err == nil {
			break
		}
	}
	if err := c.list(ctx, c.module, "./..."); err != nil {
		return nil, err
	}
	// Tests with real clients are in a module of their own.
	if c.module == "awssdk" {
		err = c.list(ctx, "lab", "./sdktest/...")
	}
	return c, err
}

func (c *checkout) list(ctx context.Context, module, pattern string) error {
	cmd := exec.CommandContext(ctx, "go", "list", "-test", "-json=ImportPath,Name,Dir,ForTest,GoFiles,Deps", pattern)
	cmd.Dir = filepath.Join(c.root, module)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list in %s: %w\n%s", module, err, &complaint)
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Name, Dir, ForTest string
			GoFiles, Deps                  []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		dir, err := filepath.Rel(c.root, p.Dir)
		if err != nil {
			return err
		}
		dir = filepath.ToSlash(dir)
		if pkg, ok := strings.CutSuffix(p.ImportPath, ".test"); ok {
			s := &suite{module: module, pkg: pkg, dir: dir, deps: map[string]bool{}}
			for _, d := range p.Deps {
				// A package that is compiled again for a test is "PATH [TEST]".
				plain, _, _ := strings.Cut(d, " ")
				s.deps[plain] = true
			}
			c.suites = append(c.suites, s)
			continue
		}
		if p.ForTest != "" || module != c.module || strings.Contains(dir, "testonly") {
			continue
		}
		for _, name := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return err
			}
			c.files[path.Join(dir, name)] = file{p.ImportPath, p.Name, string(text)}
		}
	}
}

// users returns the suites that use a package: its own, then always those of a package before those of its importers.
func (c *checkout) users(pkg string) (found []*suite) {
	for _, s := range c.suites {
		if s.deps[pkg] {
			found = append(found, s)
		}
	}
	rank := func(s *suite) int {
		switch {
		case s.pkg == pkg:
			return 0
		case s.module == c.module:
			return len(s.deps)
		}
		return 1e6 + len(s.deps)
	}
	slices.SortFunc(found, func(a, b *suite) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a.pkg, b.pkg)) })
	return found
}

// overlay lays texts over files, and returns the name of the overlay.
func (c *checkout) overlay(texts map[string]string) (string, error) {
	dir, err := os.MkdirTemp(c.temp, "")
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, text := range texts {
		with := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		replace[filepath.Join(c.root, filepath.FromSlash(name))] = with
		if err := os.WriteFile(with, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, data, 0o600)
}

// compile returns the complaints of the compiler about packages.
func (c *checkout) compile(ctx context.Context, overlay string, packages []string) string {
	args := []string{"build", "-p=1", "-gcflags=-e", "-o=" + os.DevNull, "-overlay=" + overlay}
	cmd := exec.CommandContext(ctx, "go", append(args, packages...)...)
	cmd.Dir = filepath.Join(c.root, c.module)
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 {
		return err.Error()
	}
	return string(out)
}
