package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (c *call) versionCommand() *cobra.Command {
	return c.command("version", "the version of the command", "", "awsretry version --json", false, func(context.Context) error {
		if c.json {
			return c.print(c.build)
		}
		_, err := io.WriteString(c.out, c.build.String())
		return err
	})
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

// String is the line that version prints.
func (b build) String() string { return fmt.Sprintf("awsretry %s (%s)\n", b.Version, b.Go) }
