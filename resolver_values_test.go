package awsretry_test

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// parsed returns Values whose flags, with the prefix aws-, were set by the arguments.
func parsed(t *testing.T, v awsretry.Values, arguments ...string) awsretry.Values {
	t.Helper()
	require.NoError(t, parse(&v, arguments...))
	return v
}

func parse(v *awsretry.Values, arguments ...string) error {
	fs := flag.NewFlagSet("program", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	v.AddFlags(fs, "aws-")
	return fs.Parse(arguments)
}

// from returns Values of which all fields come from a place.
func from(place string, v awsretry.Values) awsretry.Values {
	v.From(place)
	return v
}

func TestValuesOfAProgramHaveTheirPlaceAmongAllOthers(t *testing.T) {
	t.Parallel()
	const inFile = "3 /config:2: [default] max_attempts"
	const variable = "9 AWS_MAX_ATTEMPTS"
	with := awsretry.WithValues
	file := from("file app.yaml", awsretry.Values{Mode: "Legacy", MaxAttempts: "7"})
	opts := func(all ...awsretry.ResolveOption) []awsretry.ResolveOption { return all }
	for _, c := range []struct {
		name           string
		opts           []awsretry.ResolveOption
		mode, attempts string // and their origins
		losers         []string
	}{
		{"none", opts(with(awsretry.Values{})), "adaptive AWS_RETRY_MODE", variable, []string{}},
		{"file", opts(with(file)), "standard file app.yaml", "7 file app.yaml", []string{variable}},
		{
			"flag and file", opts(with(parsed(t, file, "-aws-max-attempts", "+05", "--aws-retry-mode=adaptive"))),
			"adaptive flag --aws-retry-mode", "5 flag --aws-max-attempts",
			[]string{"7 file app.yaml", variable},
		},
		{
			"flag twice", opts(with(parsed(t, awsretry.Values{}, "-aws-max-attempts=5", "-aws-max-attempts=6"))),
			"adaptive AWS_RETRY_MODE", "6 flag --aws-max-attempts",
			[]string{variable},
		},
		{
			"fields that no From was called for", opts(with(awsretry.Values{Mode: "standard", MaxAttempts: "7"})),
			"standard option WithValues", "7 option WithValues",
			[]string{variable},
		},
		{
			"an option before", opts(awsretry.WithMode("adaptive"), awsretry.WithMaxAttempts(2), with(file)),
			"standard file app.yaml", "7 file app.yaml",
			[]string{"2 option WithMaxAttempts", variable},
		},
		{
			"an option behind", opts(with(file), awsretry.WithMode("adaptive"), awsretry.WithMaxAttempts(2)),
			"adaptive option WithMode", "2 option WithMaxAttempts",
			[]string{"7 file app.yaml", variable},
		},
		{
			"of two the later one, setting by setting", opts(with(file), with(from("file more.yaml", awsretry.Values{MaxAttempts: "4"}))),
			"standard file app.yaml", "4 file more.yaml",
			[]string{"7 file app.yaml", variable},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			variables := map[string]string{"AWS_RETRY_MODE": "adaptive", "AWS_MAX_ATTEMPTS": "9"}
			s := resolved(t, variables, "[default]\nmax_attempts = 3\n", c.opts...)
			require.Equal(t, c.mode, string(s.RetryMode.Value)+" "+s.RetryMode.Origin.String())
			require.Equal(t, c.attempts, strconv.Itoa(s.MaxAttempts.Value)+" "+s.MaxAttempts.Origin.String())
			losers := []string{}
			for _, loser := range s.MaxAttempts.Overridden {
				require.True(t, loser.Valid)
				losers = append(losers, loser.Raw+" "+loser.Origin.String())
			}
			require.Equal(t, append(c.losers, inFile), losers)
		})
	}
}

func TestValuesOfAProgramAreSettings(t *testing.T) {
	t.Parallel()
	own := parsed(t, from("file app.yaml", awsretry.Values{MaxBackoff: " 3s\n", MinDelay: "0.3s"}), "-aws-max-elapsed=1m30s")
	s := resolved(t, nil, "", awsretry.WithStandard(standard.Config{MinDelay: -1}), awsretry.WithValues(own))
	origin := config.Origin{Kind: "option", Name: "file app.yaml", Key: "max_backoff"}
	require.Equal(t, config.Setting[time.Duration]{Value: 3 * time.Second, Raw: " 3s\n", Origin: origin, Overridden: []config.Candidate{}}, s.MaxBackoff)
	require.Equal(t, 300*time.Millisecond, s.MinDelay.Value)
	require.Equal(t, []config.Candidate{{Raw: "-1ns", Origin: config.Origin{Kind: "default", Name: "WithStandard"}}}, s.MinDelay.Overridden)
	require.Equal(t, 90*time.Second, s.MaxElapsed.Value)
	data, err := json.Marshal(s.MaxElapsed.Origin)
	require.NoError(t, err)
	require.JSONEq(t, `{"kind": "option", "name": "flag --aws-max-elapsed", "key": "max_elapsed"}`, string(data))
}

func TestValuesOfAProgramCountBeforeItsConfiguration(t *testing.T) {
	t.Parallel()
	own := awsretry.WithConfig(adaptive.Config{Standard: standard.Config{
		MaxBackoff: 9 * time.Second, MinDelay: 2 * time.Second, MaxElapsed: time.Minute, MaxAttempts: 6,
	}})
	for _, c := range []struct {
		name   string
		values awsretry.Values
		want   retry.Plan // as far as it is compared
	}{
		{"none", awsretry.Values{}, retry.Plan{MaxAttempts: 6, MaxBackoff: 9 * time.Second, MinDelay: 2 * time.Second, MaxElapsed: time.Minute}},
		{
			"all",
			awsretry.Values{MaxAttempts: "2", MaxBackoff: "5s", MinDelay: "1s", MaxElapsed: "30s"},
			retry.Plan{MaxAttempts: 2, MaxBackoff: 5 * time.Second, MinDelay: time.Second, MaxElapsed: 30 * time.Second},
		},
		{
			"some",
			awsretry.Values{MinDelay: "3s"},
			retry.Plan{MaxAttempts: 6, MaxBackoff: 9 * time.Second, MinDelay: 3 * time.Second, MaxElapsed: time.Minute},
		},
		{
			"a zero that was written",
			awsretry.Values{MinDelay: "0", MaxElapsed: "0s"},
			retry.Plan{MaxAttempts: 6, MaxBackoff: 9 * time.Second},
		},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				values := c.values
				values.Mode = config.Mode(mode)
				given := awsretry.WithValues(values)
				for name, build := range map[string]func() (retry.Strategy, error){
					"Load":                       func() (retry.Strategy, error) { return awsretry.Load(t.Context(), with(nil, "", own, given)...) },
					"New with the configuration": func() (retry.Strategy, error) { return awsretry.New(resolved(t, nil, "", given), own) },
					"New without it":             func() (retry.Strategy, error) { return awsretry.New(resolved(t, nil, "", given, own)) },
				} {
					s, err := build()
					require.NoError(t, err)
					plan := s.Plan(retry.Operation{})
					require.Equal(t, c.want, retry.Plan{
						MaxAttempts: plan.MaxAttempts, MaxBackoff: plan.MaxBackoff, MinDelay: plan.MinDelay, MaxElapsed: plan.MaxElapsed,
					}, name)
					require.Equal(t, mode, s.Snapshot().Mode)
				}
			})
		}
	}
	s := resolved(t, nil, "", own, awsretry.WithValues(awsretry.Values{MinDelay: "3s"}))
	inCode := config.Origin{Kind: "default", Name: "WithConfig"}
	require.Equal(t, []config.Candidate{{Raw: "2s", Valid: true, Origin: inCode}}, s.MinDelay.Overridden)
	require.Equal(t, inCode, s.MaxElapsed.Origin)

	strategy, err := awsretry.New(s, awsretry.WithConfig(adaptive.Config{Standard: standard.Config{MinDelay: time.Second}}))
	require.NoError(t, err)
	require.Equal(t, 3*time.Second, strategy.Plan(retry.Operation{}).MinDelay)
}

func TestBadValueOfAProgramIsAnErrorThatNamesPlaceSettingAndValue(t *testing.T) {
	t.Parallel()
	longest, shortest := standard.Config{MaxBackoff: time.Second}, standard.Config{MinDelay: 5 * time.Second, MaxBackoff: time.Minute}
	for _, c := range []struct {
		values awsretry.Values
		config standard.Config
		want   string
	}{
		{awsretry.Values{Mode: "fast"}, standard.Config{}, `retry_mode: "fast": must be standard or adaptive`},
		{awsretry.Values{MaxAttempts: "0"}, standard.Config{}, `max_attempts: "0": must be a decimal integer from 1 to 2147483647`},
		{awsretry.Values{MaxBackoff: "0"}, standard.Config{}, `max_backoff: "0": must be a duration above zero, such as 20s`},
		{awsretry.Values{MaxElapsed: "soon"}, standard.Config{}, `max_elapsed: "soon": must be a duration of zero or more, such as 300ms or 1m30s`},
		{awsretry.Values{MinDelay: "30s"}, standard.Config{}, `min_delay: "30s": must be at most max_backoff, which is 20s (built-in default)`},
		{awsretry.Values{MinDelay: "2s", MaxBackoff: "1s"}, standard.Config{}, `min_delay: "2s": must be at most max_backoff, which is 1s (file app.json)`},
		{awsretry.Values{MinDelay: "2s"}, longest, `min_delay: "2s": must be at most max_backoff, which is 1s (option WithConfig)`},
		{awsretry.Values{MaxBackoff: "1s"}, shortest, `config: option WithConfig: min_delay: "5s": must be at most max_backoff, which is 1s (file app.json)`},
	} {
		t.Run(c.want, func(t *testing.T) {
			t.Parallel()
			want := c.want
			if !strings.HasPrefix(want, "config: ") {
				want = "config: file app.json: " + want
			}
			opts := with(nil, "", awsretry.WithValues(from("file app.json", c.values)),
				awsretry.WithConfig(adaptive.Config{Standard: c.config}))
			_, err := awsretry.Load(t.Context(), opts...)
			require.EqualError(t, err, want)
			_, ok := errors.AsType[*config.ValueError](err)
			require.True(t, ok)
		})
	}
	_, err := awsretry.Load(t.Context(), with(nil, "", awsretry.WithValues(awsretry.Values{MaxAttempts: "0"}))...)
	require.EqualError(t, err, `config: option WithValues: max_attempts: "0": must be a decimal integer from 1 to 2147483647`)

	_, err = awsretry.New(resolved(t, nil, "", awsretry.WithValues(awsretry.Values{MinDelay: "2s"})),
		awsretry.WithConfig(adaptive.Config{Standard: longest}))
	require.EqualError(t, err, "standard: MinDelay 2s: must not be above MaxBackoff, which is 1s")
}

func TestBadValueThatLosesIsNoError(t *testing.T) {
	t.Parallel()
	s := resolved(t, nil, "", awsretry.WithConfig(adaptive.Config{Standard: standard.Config{MinDelay: -1}}), awsretry.WithValues(
		parsed(t, from("file app.json", awsretry.Values{MaxAttempts: "0", Mode: "legacy", MinDelay: "1s"}), "-aws-max-attempts=4")))
	require.Equal(t, 4, s.MaxAttempts.Value)
	require.Equal(t, awsretry.ModeStandard, s.RetryMode.Value)
	require.False(t, s.MaxAttempts.Overridden[0].Valid)
	require.False(t, s.MinDelay.Overridden[0].Valid)
}

func TestFlagOfAProgramRefusesABadValue(t *testing.T) {
	t.Parallel()
	for argument, want := range map[string]string{
		"-aws-retry-mode=fast": `invalid value "fast" for flag -aws-retry-mode: must be standard or adaptive`,
		"-aws-max-attempts=0":  `invalid value "0" for flag -aws-max-attempts: must be a decimal integer from 1 to 2147483647`,
		"-aws-max-elapsed=9":   `invalid value "9" for flag -aws-max-elapsed: must be a duration of zero or more, such as 300ms or 1m30s`,
	} {
		v := from("file app.json", awsretry.Values{MaxAttempts: "2"})
		before := v
		require.EqualError(t, parse(&v, argument), want)
		require.Equal(t, before, v)
	}
}

func TestPlaceIsThatOfTheFileThatChangedTheField(t *testing.T) {
	t.Parallel()
	var v awsretry.Values
	for _, file := range []struct{ place, text string }{
		{"file a.json", `{"max_attempts": 8, "min_delay": "1s", "max_elapsed": "9s"}`},
		{"file b.json", `{"max_attempts": 9, "retry_mode": "adaptive"}`},
	} {
		require.NoError(t, json.Unmarshal([]byte(file.text), &v))
		v.From(file.place)
	}
	v.MaxElapsed = "10s"
	s := resolved(t, nil, "", awsretry.WithValues(v))
	require.Equal(t, []string{"file b.json", "file b.json", "file a.json", "option WithValues"}, []string{
		s.MaxAttempts.Origin.String(), s.RetryMode.Origin.String(), s.MinDelay.Origin.String(), s.MaxElapsed.Origin.String(),
	})
}

func TestCopyOfValuesIsIndependent(t *testing.T) {
	t.Parallel()
	var original awsretry.Values
	fs := flag.NewFlagSet("program", flag.ContinueOnError)
	original.AddFlags(fs, "")
	original.MaxAttempts = "8"
	original.From("file a.json")
	require.NoError(t, fs.Set("min-delay", "1s"))
	before, other := original, original
	require.NoError(t, json.Unmarshal([]byte(`{"max_attempts": 2, "max_backoff": "2s"}`), &other))
	other.From("file b.json")
	require.NoError(t, parse(&other, "-aws-min-delay=2s"))
	require.Equal(t, before, original, "what is done to a copy")
	require.NoError(t, fs.Set("min-delay", "3s"))
	require.Equal(t, 2*time.Second, resolved(t, nil, "", awsretry.WithValues(other)).MinDelay.Value, "what is done to the original")

	given := awsretry.WithValues(original)
	original.MaxAttempts = "0"
	for _, attempts := range []json.Number{"4", "5"} { // An option has a copy, and may be used in several calls.
		s := resolved(t, nil, "", awsretry.WithValues(awsretry.Values{MaxAttempts: attempts}), given)
		require.Equal(t, 8, s.MaxAttempts.Value)
		require.Equal(t, string(attempts), s.MaxAttempts.Overridden[0].Raw)
	}
}

func TestProgramMayEmbedValuesWithoutAName(t *testing.T) {
	t.Parallel()
	type program struct {
		Listen string `json:"listen"`
		awsretry.Values
	}
	var p program
	text := `{"listen":":80","retry_mode":"adaptive","max_attempts":4,"min_delay":"300ms"}`
	require.NoError(t, json.Unmarshal([]byte(text), &p))
	require.Equal(t, program{":80", awsretry.Values{Mode: "adaptive", MaxAttempts: "4", MinDelay: "300ms"}}, p)
	data, err := json.Marshal(p)
	require.NoError(t, err)
	require.Equal(t, text, string(data))
	data, err = json.Marshal(awsretry.Values{})
	require.NoError(t, err)
	require.Equal(t, "{}", string(data))

	var promoted []string
	for method := range reflect.TypeFor[*awsretry.Values]().Methods() {
		promoted = append(promoted, method.Name)
	}
	require.Equal(t, []string{"AddFlags", "From"}, promoted, "none that an encoder, a decoder, flag or fmt looks for")
}

func TestFlagsHaveNoDefaults(t *testing.T) {
	t.Parallel()
	v := from("file app.json", awsretry.Values{MaxAttempts: "8"})
	fs := flag.NewFlagSet("program", flag.ContinueOnError)
	v.AddFlags(fs, "aws-")
	fs.VisitAll(func(f *flag.Flag) {
		require.Empty(t, f.DefValue)
		zero := reflect.New(reflect.TypeOf(f.Value).Elem()).Interface().(flag.Value)
		require.Empty(t, zero.String(), "the package flag asks a zero one")
	})
	require.NoError(t, fs.Set("aws-min-delay", "5s"))
	require.Equal(t, "5s", fs.Lookup("aws-min-delay").Value.String())
}
