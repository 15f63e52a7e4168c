package main

import (
	"bytes"
	"regexp"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	sys := system{out: &out, build: thisBuild()}
	require.Zero(t, run(t.Context(), []string{"version"}, sys))
	require.Regexp(t, `^awsretry \S+ \(`+regexp.QuoteMeta(runtime.Version())+`\)\n$`, out.String())
	out.Reset()
	require.Zero(t, run(t.Context(), []string{"version", "--json"}, sys))
	require.Regexp(t, `^\{"version":"[^"]+","go":"`+regexp.QuoteMeta(runtime.Version())+`","commit":"[0-9a-f]*"\}\n$`, out.String())
	out.Reset()
	require.Zero(t, run(t.Context(), []string{"--version"}, sys))
	require.Equal(t, sys.build.String(), out.String())
}
