package lint_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/testonly/world"
	"github.com/awsretry/awsretry/retry"
)

// FuzzSharedFiles reads two files of any bytes. No function panics, and Resolve fails only for
// a value that is not accepted and counts. The profiles are the same when they are written
// out and read again. ini.v1 and the data have the same values. Each profile that is read
// alone has the values that it has among all profiles.
func FuzzSharedFiles(f *testing.F) {
	f.Add([]byte("[default]\nretry_mode = adaptive\n"), []byte("[a]\nmax_attempts = 4\n"))
	f.Fuzz(func(t *testing.T, configText, credentialsText []byte) {
		src := world.Texts(string(configText), string(credentialsText))
		raw, err := world.RawProfiles(src)
		require.NoError(t, err)

		again := world.Texts(writeOut(raw))
		same, err := world.RawProfiles(again)
		require.NoError(t, err)
		require.Equal(t, raw, same)
		require.Empty(t, coded(findings(t, again, false), "malformed-line"))

		requireFindings(t, src)
		requireStrict(t, src)
		requireSingles(t, src, raw)
		requireReasonsToFail(t, src, raw)
		requireFixed(t, src)
	})
}

// writeOut returns profiles as a config file, and as a credentials file those whose names no
// config file can have. No blank stands before a value, because the value may begin with a
// comment character.
func writeOut(raw map[string]map[string]any) (configText, credentialsText string) {
	var files [2]strings.Builder
	for name, values := range raw {
		if header, ok := quoted(name); ok {
			files[0].WriteString("[profile " + header + "]\n" + writeOutValues(values))
			continue
		}
		files[1].WriteString("[" + name + "]\n" + writeOutValues(values))
	}
	return files[0].String(), files[1].String()
}

func writeOutValues(values map[string]any) string {
	var b strings.Builder
	for key, value := range values {
		text, single := value.(string)
		b.WriteString(key + "=" + strings.ReplaceAll(text, "\n", "\n ") + "\n")
		if single {
			continue
		}
		b.WriteString("\tno key = 1\n")
		for key, value := range value.(map[string]any) {
			b.WriteString("\t" + key + "=" + value.(string) + "\n")
		}
	}
	return b.String()
}

// quoted returns a name in quotes, which keep the whitespace at its ends. A name that contains
// both kinds of quotes needs none, unless a pair around it would be taken for quotes of the file.
func quoted(name string) (text string, ok bool) {
	for _, quote := range []string{`"`, `'`} {
		if !strings.Contains(name, quote) {
			return quote + name + quote, true
		}
	}
	last := len(name) - 1
	return name, name[0] != '"' && name[0] != '\'' || strings.IndexByte(name[1:], name[0]) != last-1
}

// requireFindings checks the order and the number of the findings of lint.
func requireFindings(t *testing.T, src config.Sources) {
	t.Helper()
	found := findings(t, src, false)
	count := map[[2]string]int{}
	previous := lint.Diagnostic{File: "/c", Line: 1}
	for _, d := range found {
		require.GreaterOrEqual(t, d.File, previous.File)
		switch {
		case d.Line == 0:
			require.Equal(t, 100, count[[2]string{d.File, d.Code}], d.String())
		case d.File == previous.File:
			require.NotZero(t, previous.Line, d.String())
			require.GreaterOrEqual(t, d.Line, previous.Line)
		}
		count[[2]string{d.File, d.Code}]++
		require.Equal(t, d.Code == "read-differently" && d.Line > 0, len(d.Tools) > 0, d.String())
		previous = d
	}
	for at, n := range count {
		require.LessOrEqual(t, n, 101, at)
	}
}

// requireStrict compares strict reading with the findings about malformed lines, and those of Resolve with those of Files.
func requireStrict(t *testing.T, src config.Sources) {
	t.Helper()
	settings, err := lint.Resolve(overriding(src, ""))
	require.NoError(t, err)
	want := malformedPlaces(findings(t, src, false))
	require.Equal(t, want, malformedPlaces(settings.Diagnostics))
	_, err = config.Query{Sources: src, Strict: true}.Resolve()
	parse, refused := errors.AsType[*config.ParseError](err)
	require.Equal(t, len(want) > 0, refused, "%v", err)
	if refused {
		require.Equal(t, want[0], fmt.Sprint(parse.File, parse.Line))
		require.NotEmpty(t, parse.Msg)
	}
}

func malformedPlaces(found []lint.Diagnostic) (places []string) {
	for _, d := range found {
		if d.Code == "malformed-line" && d.Line > 0 {
			places = append(places, fmt.Sprint(d.File, d.Line))
		}
	}
	return places
}

// overriding returns a query in which code overrides every value of a file.
func overriding(src config.Sources, profile string) config.Query {
	return config.Query{Sources: world.As(src, profile), Given: []config.Candidate{
		world.Option("WithMode", "retry_mode", config.Mode("standard")), world.Option("WithMaxAttempts", "max_attempts", 3),
		world.Option("WithBehavior", "behavior", retry.V21),
	}}
}

// requireSingles compares each profile that is read alone with the same profile among all.
func requireSingles(t *testing.T, src config.Sources, raw map[string]map[string]any) {
	t.Helper()
	for name, values := range raw {
		settings, err := lint.Resolve(overriding(src, name))
		require.NoError(t, err)
		require.Equal(t, name, settings.Profile.Value)
		for key, given := range map[string][]config.Candidate{
			"retry_mode": settings.RetryMode.Overridden, "max_attempts": settings.MaxAttempts.Overridden,
		} {
			text, ok := winner(values, key)
			require.Equal(t, ok, len(given) > 0)
			if ok {
				require.Equal(t, text, given[0].Raw)
				require.Positive(t, given[0].Origin.Line)
				require.Equal(t, accepted(key, text), given[0].Valid)
			}
		}
	}
}

// winner returns the value that counts, in the form of Candidate.Raw.
func winner(values map[string]any, key string) (text string, ok bool) {
	value, ok := values[key]
	text, _ = value.(string) // It is empty for sub-properties.
	first, _, several := strings.Cut(text, "\n")
	if several {
		first += "\n..."
	}
	return first, ok
}

func accepted(key, text string) bool {
	return config.Candidate{Raw: text, Origin: config.Origin{Key: key}}.Check() == nil
}

// requireReasonsToFail checks that Resolve fails only for a value that is not accepted and
// counts, and for a missing profile.
func requireReasonsToFail(t *testing.T, src config.Sources, raw map[string]map[string]any) {
	t.Helper()
	for _, name := range append([]string{"", "default", "no such profile"}, slices.Sorted(maps.Keys(raw))...) {
		_, err := lint.Resolve(config.Query{Sources: world.As(src, name)})
		values, exists := raw[name]
		if name == "" {
			values, exists = raw["default"], true
		}
		_, missing := errors.AsType[*config.ProfileNotFoundError](err)
		require.Equal(t, !exists, missing, "%q: %v", name, err)
		bad := ""
		for _, key := range []string{"max_attempts", "retry_mode"} {
			if text, ok := winner(values, key); ok && !accepted(key, text) {
				bad = key
			}
		}
		invalid, ok := errors.AsType[*config.ValueError](err)
		require.Equal(t, bad != "", ok, "%q: %v", name, err)
		if ok {
			require.Equal(t, bad, invalid.Key)
		}
		require.True(t, ok || missing || err == nil, "%v", err)
	}
}
