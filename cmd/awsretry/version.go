package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

func versionCommand() command {
	return command{
		name:     "version",
		synopsis: "which version of the command this is",
		example:  "awsretry version --json",
		define: func(*flags) func(context.Context, *call) error {
			return func(_ context.Context, c *call) error { return c.version() }
		},
	}
}

// version prints the version, the Go release and the commit that the build has recorded.
func (c *call) version() error {
	v := struct {
		Version string `json:"version"`
		Go      string `json:"go"`
		Commit  string `json:"commit"`
	}{Version: "(devel)", Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Commit = s.Value
			}
		}
	}
	if c.json {
		return c.print(v)
	}
	fmt.Fprintf(c.out, "awsretry %s (%s)\n", v.Version, v.Go)
	return nil
}
