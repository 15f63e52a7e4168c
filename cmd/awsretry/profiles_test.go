package main

import "testing"

func TestProfilesOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args string
		files      map[string]string
	}{
		{name: "profiles-help", args: "profiles -h"},
		{name: "profiles", args: "profiles", files: bothFiles()},
		{name: "profiles-values", args: "profiles --show-values", files: bothFiles()},
		{name: "profiles-json", args: "profiles --json", files: bothFiles()},
		{name: "profiles-values-json", args: "profiles --show-values --json", files: bothFiles()},
		{name: "profiles-broken-json", args: "profiles --json", files: brokenFile()},
		{name: "profiles-strict-json", args: "profiles --strict --json", files: brokenFile()},
		{name: "profiles-escapes", args: "profiles --show-values", files: unusualFiles()},
		{name: "profiles-escapes-json", args: "profiles --show-values --json", files: unusualFiles()},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requireOutput(t, c.name, c.args, world(c.files, nil))
		})
	}
}
