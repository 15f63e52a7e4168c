// Package prom runs the programs of Prometheus.
package prom

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// ErrMissing means that promtool or prometheus was not found.
var ErrMissing = errors.New("prom: no promtool and prometheus on PATH or in .bin/prometheus: run lab/scripts/prometheus")

// Tools are the paths of the programs.
type Tools struct{ Promtool, Prometheus string }

// Find looks for the programs on PATH, and then where lab/scripts/prometheus puts them.
func Find() (Tools, error) {
	if t, ok := find(""); ok {
		return t, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return Tools{}, err
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		if t, ok := find(filepath.Join(dir, ".bin", "prometheus", "usr", "bin")); ok {
			return t, nil
		}
		if dir == filepath.Dir(dir) {
			return Tools{}, ErrMissing
		}
	}
}

func find(dir string) (t Tools, ok bool) {
	for name, path := range map[string]*string{"promtool": &t.Promtool, "prometheus": &t.Prometheus} {
		found, err := exec.LookPath(filepath.Join(dir, name))
		if err != nil {
			return Tools{}, false
		}
		*path = found
	}
	return t, true
}
