package config_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/retry"
)

// FuzzSharedFiles feeds two files of any bytes. Nothing panics, and no text is a
// reason to fail but a bad winning value. What is read gives the same profiles when
// it is written out again, ini.v1 and the data agree about every value, and every
// single profile agrees with the whole.
func FuzzSharedFiles(f *testing.F) {
	f.Add([]byte("[default]\nretry_mode = adaptive\n"), []byte("[a]\nmax_attempts = 4\n"))
	f.Fuzz(func(t *testing.T, configText, credentialsText []byte) {
		src := texts(string(configText), string(credentialsText))
		raw, err := config.RawProfiles(src)
		require.NoError(t, err)
		require.Equal(t, shown(raw), profiles(t, src, true))

		again := texts(writeOut(raw), "")
		same, err := config.RawProfiles(again)
		require.NoError(t, err)
		require.Equal(t, raw, same)
		require.Empty(t, coded(lint(t, again, false), "/c", config.CodeMalformedLine))

		requireFindings(t, src)
		requireStrict(t, src)
		requireSingles(t, src, raw)
		requireReasonsToFail(t, src, raw)
	})
}

// writeOut writes profiles as a config file. There is no blank before a value, as
// it may begin with a comment character.
func writeOut(raw map[string]map[string]any) string {
	var b strings.Builder
	for name, values := range raw {
		b.WriteString("[profile " + quoted(name) + "]\n")
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
	}
	return b.String()
}

// quoted puts quotes around a name, which keeps the whitespace at its ends. A name
// with both quotes in it has been read without any around it.
func quoted(name string) string {
	for _, quote := range []string{`"`, `'`} {
		if !strings.Contains(name, quote) {
			return quote + name + quote
		}
	}
	return name
}

// requireFindings looks at the findings of lint: their order, and their number.
func requireFindings(t *testing.T, src config.Sources) {
	t.Helper()
	found := lint(t, src, false)
	count := map[[2]string]int{}
	previous := config.Diagnostic{File: "/c", Line: 1}
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
		require.Equal(t, d.Code == config.CodeReadDifferently && d.Line > 0, len(d.Tools) > 0, d.String())
		previous = d
	}
	for at, n := range count {
		require.LessOrEqual(t, n, 101, at)
	}
}

// requireStrict compares strict reading with the findings about malformed lines,
// and these with the lines themselves.
func requireStrict(t *testing.T, src config.Sources) {
	t.Helper()
	all, err := config.Malformed(src)
	require.NoError(t, err)
	settings, err := config.Resolve(config.Query{Sources: src, Override: everythingSet()})
	require.NoError(t, err)
	_, found, err := config.Profiles(src, false, false)
	require.NoError(t, err)
	for _, list := range [][]config.Diagnostic{lint(t, src, false), settings.Diagnostics, found} {
		require.Equal(t, placesOf(all), malformedPlaces(list))
	}
	for name, read := range readers(src) {
		err := read(true)
		parse, refused := errors.AsType[*config.ParseError](err)
		if name == "lint" {
			require.NoError(t, err)
			continue
		}
		require.Equal(t, len(all) > 0, refused, "%v", err)
		if refused {
			require.Equal(t, place{parse.File, parse.Line}, placesOf(all)[0])
			require.NotEmpty(t, parse.Msg)
		}
	}
}

type place struct {
	file string
	line int
}

// placesOf gives the places of at most a hundred malformed lines of each file.
func placesOf(all []config.ParseError) []place {
	places, count := []place{}, map[config.FileKind]int{}
	for _, e := range all {
		if count[e.Kind]++; count[e.Kind] <= 100 {
			places = append(places, place{map[config.FileKind]string{config.KindConfig: "/c", config.KindCredentials: "/k"}[e.Kind], e.Line})
		}
	}
	return places
}

func malformedPlaces(found []config.Diagnostic) []place {
	places := []place{}
	for _, d := range found {
		if d.Code == config.CodeMalformedLine && d.Line > 0 {
			places = append(places, place{d.File, d.Line})
		}
	}
	return places
}

// everythingSet is a layer of code beside which no value of a file can win.
func everythingSet() config.Layer {
	return config.Layer{Mode: new(config.ModeStandard), MaxAttempts: new(3), Behavior: new(retry.V21)}
}

// requireSingles compares each profile, read alone, with all of them.
func requireSingles(t *testing.T, src config.Sources, raw map[string]map[string]any) {
	t.Helper()
	for name, values := range raw {
		settings, err := config.Resolve(config.Query{Sources: src, Profile: name, Override: everythingSet()})
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

// winner is the value that counts in the form that is kept of it.
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
	read := config.ParseMode
	if key == "max_attempts" {
		read = config.ParseMaxAttempts
	}
	_, _, err := read(text)
	return err == nil
}

// requireReasonsToFail holds that nothing else than a bad winning value or a missing
// profile makes Resolve fail.
func requireReasonsToFail(t *testing.T, src config.Sources, raw map[string]map[string]any) {
	t.Helper()
	for _, name := range append([]string{"", "default", "no such profile"}, slices.Sorted(maps.Keys(raw))...) {
		_, err := config.Resolve(config.Query{Sources: src, Profile: name})
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
