package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

func profilesCommand() command {
	return command{
		name:     "profiles",
		synopsis: "what AWS tools see in the shared files",
		example:  "awsretry profiles --show-values --json",
		define: func(f *flags) func(context.Context, *call) error {
			show := f.Bool("show-values", false, "show values, but for those of secrets")
			return func(_ context.Context, c *call) error { return profiles(c, *show) }
		},
	}
}

// profiles prints all profiles with their properties.
func profiles(c *call, showValues bool) error {
	files, err := c.files()
	if err != nil {
		return err
	}
	read, err := files.Profiles()
	if err != nil {
		return err
	}
	all := read.Map(showValues)
	if c.json {
		return c.print(map[string]any{"profiles": all})
	}
	for i, name := range read.Names() {
		if i > 0 {
			fmt.Fprintln(c.out)
		}
		fmt.Fprintf(c.out, "[%s]\n", name)
		for _, key := range slices.Sorted(maps.Keys(all[name])) {
			value := strings.ReplaceAll(all[name][key], "\n", "\n    ")
			fmt.Fprintln(c.out, strings.TrimRight(key+" = "+value, " "))
		}
	}
	return nil
}
