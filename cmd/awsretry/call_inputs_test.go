package main

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// inputs are what people give to a flag that does not take it: a word, nothing, zero, a negative, a huge one, a wrong unit.
var inputs = []string{"word", "", "0", "-1", "-1s", "1e9", "1e400", "99999h", "5parsecs", "5%"}

// TestInputsOfFlags gives each input to each flag that takes a value. One that is refused is a usage error that names the flag,
// says what it takes, and shows a value that it does take.
func TestInputsOfFlags(t *testing.T) {
	t.Chdir(t.TempDir()) // a report is tried there
	const none, texts = "none", "texts"
	accepts := map[string]string{ // with commas between them; texts is all but the empty one
		"classify --attempt-skew-s": "0,-1,1e9", "classify --candidate-skew-s": "0,-1,1e9", "classify --code": texts, "classify --grpc": "0",
		"classify --header": none, "classify --modeled": none, "classify --sqlstate": "1e400", "classify --status": "0", "classify --transport": none,
		"explain --behavior": none, "explain --profile": texts,
		"lint --fail-on": none, "lint --format": none,
		"why --behavior": none, "why --profile": texts,
		"awsretry --config-file": texts, "awsretry --credentials-file": texts, "awsretry --service": texts,

		"simulate --behavior": none, "simulate --profile": texts, "simulate --output": texts,
		"simulate --limit": none, "simulate --burst": none, "simulate --offered": none,
		"simulate --workers": "0", "simulate --clients": none, "simulate --calls": none, "simulate --seed": none,
		"simulate --latency": "0", "simulate --timeout": "0", "simulate --duration": none, "simulate --within": "99999h", "simulate --outage": "0", "simulate --lose": none,
		"simulate --fail": "0,5%", "simulate --vs": none, "simulate --phase": none, "simulate --require": none,

		"simulate --vs max_attempts=": none, "simulate --vs max_backoff=": "99999h", "simulate --vs min_delay=": "0", "simulate --vs max_elapsed=": "0,99999h",
		"simulate --vs quota_capacity=": none, "simulate --vs send_limit=": none, "simulate --vs deadline=": "99999h", "simulate --vs timeout=": "99999h",
		"simulate --vs behavior=": none, "simulate --vs retry_mode=": none, "simulate --vs controller=": none,
		"simulate --phase 31s:limit=": "0", "simulate --phase 31s:burst=": none, "simulate --phase 31s:offered=": "0", "simulate --phase 31s:workers=": "0",
		"simulate --phase 31s:fail=": "0,5%", "simulate --phase 31s:throttle=": "0,5%", "simulate --phase 31s:latency=": "0", "simulate --phase 31s:timeout=": "0",
		"simulate --require failed<": "0,-1,5%", "simulate --require p99<": "0,-1,-1s,1e9,99999h", "simulate --require waiting<": "0,-1,1e9",
	}
	var flags []string
	root := (&call{}).root()
	for _, cmd := range append(root.Commands(), root) {
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, cmd.Name()+" --"+f.Name) })
		cmd.PersistentFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, cmd.Name()+" --"+f.Name) })
		flags = slices.DeleteFunc(flags, func(name string) bool {
			_, flag, _ := strings.Cut(name, "--")
			f := cmd.Flag(flag)
			return f != nil && f.Value.Type() == "bool"
		})
	}
	for _, flag := range flags {
		require.Contains(t, accepts, flag, "a flag without a row")
	}
	ended, end := context.WithCancel(t.Context())
	end() // what can be simulated is not played
	give := func(place, input string) (errs string, status int) {
		command, rest, _ := strings.Cut(place, " ")
		flag, value, _ := strings.Cut(rest, " ")
		var out, e bytes.Buffer
		in := strings.NewReader("exceeded maximum number of attempts, 3")
		args := []string{strings.Replace(command, "awsretry", "explain", 1), flag, value + input}
		status = run(ended, args, system{in: in, out: &out, errs: &e, sources: world(nil, nil)})
		return e.String(), status
	}
	shows := regexp.MustCompile(`(?:such as|must be|must be one of|from|at most|which is) ([^ ,;]*[^ ,;.a-z][^ ,;]*|standard|adaptive|cut-per-throttle|error|text|v2\.0|retryable|connect_timeout|UNAVAILABLE)`)
	refuses := func(t *testing.T, place, takes string) {
		t.Helper()
		for _, input := range inputs {
			errs, status := give(place, input)
			name := place + input + ": " + errs
			if taken := takes == texts && input != "" || slices.Contains(strings.Split(takes, ","), input) && takes != none; taken {
				require.NotEqual(t, exitUsage, status, name)
				continue
			}
			if status != exitUsage && input == "" && takes == texts { // an empty service or code is none
				continue
			}
			require.Equal(t, exitUsage, status, name)
			_, flag, _ := strings.Cut(place, " ")
			flag, _, _ = strings.Cut(flag, " ")
			require.Contains(t, errs, flag, name)
			require.NotRegexp(t, `strconv|parsing|syntax`, errs, name)
			require.Contains(t, errs, "must ", name)
			if takes == texts {
				continue
			}
			shown := shows.FindAllStringSubmatch(errs, -1)
			require.True(t, slices.ContainsFunc(shown, func(match []string) bool {
				for _, before := range []string{place, strings.TrimRight(place, "=<abcdefghijklmnopqrstuvwxyz0123456789:_")} {
					if _, status := give(strings.TrimSpace(before), match[1]); status != exitUsage {
						return true
					}
				}
				return false
			}), "%s: shows nothing that it takes: %q", name, shown)
		}
	}
	for place, takes := range accepts {
		t.Run(place, func(t *testing.T) { refuses(t, place, takes) })
	}
}
