package main

import (
	"bytes"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	goVersion := regexp.QuoteMeta(runtime.Version())
	for args, want := range map[string]string{
		"version": `^awsretry \S+ \(` + goVersion + `\)\n$`, "--version": `^awsretry \S+ \(` + goVersion + `\)\n$`,
		"version --json": `^\{"version":"[^"]+","go":"` + goVersion + `","commit":"[0-9a-f]*"\}\n$`,
	} {
		var out bytes.Buffer
		require.Zero(t, run(t.Context(), strings.Fields(args), system{out: &out, build: thisBuild()}))
		require.Regexp(t, want, out.String())
	}
}
