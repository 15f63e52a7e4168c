package main

import "testing"

func TestLintOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args string
		files      map[string]string
	}{
		{name: "lint", args: "lint", files: bothFiles()},
		{name: "lint-json", args: "lint --json", files: bothFiles()},
		{name: "lint-good", args: "lint --strict", files: goodFile()},
		{name: "lint-warning", args: "lint", files: map[string]string{"home/me/.aws/config": "[default]\nretry-mode = x\n"}},
		{name: "lint-warning-strict", args: "lint --strict", files: map[string]string{"home/me/.aws/config": "[default]\nretry-mode = x\n"}},
		{name: "lint-broken", args: "lint", files: brokenFile()},
		{name: "lint-broken-strict", args: "lint --strict --json", files: brokenFile()},
		{name: "lint-escapes", args: "lint", files: unusualFiles()},
		{name: "lint-escapes-json", args: "lint --json", files: unusualFiles()},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requireOutput(t, c.name, c.args, world(c.files, nil))
		})
	}
}
