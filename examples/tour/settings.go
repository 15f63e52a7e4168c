package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/config"
)

// printSettings shows each setting with where it came from.
func printSettings(out io.Writer, s *awsretry.Settings) {
	fmt.Fprintln(out, "Settings")
	printSetting(out, "profile", s.Profile)
	printSetting(out, "retry_mode", s.RetryMode)
	printSetting(out, "max_attempts", s.MaxAttempts)
	printSetting(out, "behavior", s.Behavior)
	for _, d := range s.Diagnostics {
		fmt.Fprintf(out, "  %s\n", d)
	}
	fmt.Fprintln(out)
}

func printSetting[T any](out io.Writer, name string, s config.Setting[T]) {
	fmt.Fprintf(out, "  %-13s %-10v %s\n", name, s.Value, source(s.Origin))
}

// source names an origin in few words: a file by its base name.
func source(o config.Origin) string {
	switch o.Kind {
	case "shared-config", "shared-credentials":
		return fmt.Sprintf("%s:%d (profile %s)", filepath.Base(o.File), o.Line, o.Profile)
	default:
		return o.String()
	}
}
