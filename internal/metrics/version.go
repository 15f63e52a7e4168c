package metrics

import (
	"runtime/debug"
	"slices"
)

const (
	module = "github.com/awsretry/awsretry"
	// unreleased is what Go calls a version that was built in a checkout.
	unreleased = "(devel)"
)

// Version returns the version of this module in the program that runs, such as "v1.2.3". It is "(devel)" in a checkout, and
// where the program does not say.
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return of(info)
}

func of(info *debug.BuildInfo) string {
	if info == nil {
		return unreleased
	}
	found := &info.Main
	if i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == module }); i >= 0 {
		found = info.Deps[i]
	} else if found.Path != module {
		return unreleased
	}
	if found.Replace != nil {
		found = found.Replace
	}
	if found.Version == "" {
		return unreleased
	}
	return found.Version
}
