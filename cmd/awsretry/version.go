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
		synopsis: "the version of the command",
		example:  "awsretry version --json",
		define: func(*flags) func(context.Context, *call) error {
			return func(_ context.Context, c *call) error { return c.version() }
		},
	}
}

// build is the output of version.
type build struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	Commit  string `json:"commit"`
}

// thisBuild returns the version, the Go release and the commit recorded in the build.
func thisBuild() build {
	v := build{Version: "(devel)", Go: runtime.Version()}
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
	return v
}

// version prints the version of the command.
func (c *call) version() error {
	if c.json {
		return c.print(c.build)
	}
	fmt.Fprintf(c.out, "awsretry %s (%s)\n", c.build.Version, c.build.Go)
	return nil
}
