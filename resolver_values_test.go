package awsretry_test

import (
	"context"
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

// originOf returns the origin of a value of Values.
func originOf(place, key string) config.Origin {
	return config.Origin{Kind: "option", Name: place, Key: key}
}

func TestValuesOfAProgramHaveTheirPlaceAmongAllOthers(t *testing.T) {
	t.Parallel()
	variables := map[string]string{"AWS_RETRY_MODE": "adaptive", "AWS_MAX_ATTEMPTS": "9"}
	file := from("file app.yaml", awsretry.Values{Mode: "Legacy", MaxAttempts: "7"})
	for _, c := range []struct {
		name     string
		opts     []awsretry.ResolveOption
		mode     string // and its origin
		attempts string // and its origin
		losers   []string
	}{
		{"none", []awsretry.ResolveOption{awsretry.WithValues(awsretry.Values{})}, "adaptive AWS_RETRY_MODE", "9 AWS_MAX_ATTEMPTS", []string{"3 /config:2: [default] max_attempts"}},
		{
			"file",
			[]awsretry.ResolveOption{awsretry.WithValues(file)},
			"standard file app.yaml", "7 file app.yaml",
			[]string{"9 AWS_MAX_ATTEMPTS", "3 /config:2: [default] max_attempts"},
		},
		{
			"flag and file",
			[]awsretry.ResolveOption{awsretry.WithValues(parsed(t, file, "-aws-max-attempts", "+05", "--aws-retry-mode=adaptive"))},
			"adaptive flag --aws-retry-mode", "5 flag --aws-max-attempts",
			[]string{"7 file app.yaml", "9 AWS_MAX_ATTEMPTS", "3 /config:2: [default] max_attempts"},
		},
		{
			"flag twice",
			[]awsretry.ResolveOption{awsretry.WithValues(parsed(t, awsretry.Values{}, "-aws-max-attempts=5", "-aws-max-attempts=6"))},
			"adaptive AWS_RETRY_MODE", "6 flag --aws-max-attempts",
			[]string{"9 AWS_MAX_ATTEMPTS", "3 /config:2: [default] max_attempts"},
		},
		{
			"fields that no From was called for",
			[]awsretry.ResolveOption{awsretry.WithValues(awsretry.Values{Mode: "standard", MaxAttempts: "7"})},
			"standard option WithValues", "7 option WithValues",
			[]string{"9 AWS_MAX_ATTEMPTS", "3 /config:2: [default] max_attempts"},
		},
		{
			"an option before",
			[]awsretry.ResolveOption{awsretry.WithMode("adaptive"), awsretry.WithMaxAttempts(2), awsretry.WithValues(file)},
			"standard file app.yaml", "7 file app.yaml",
			[]string{"2 option WithMaxAttempts", "9 AWS_MAX_ATTEMPTS", "3 /config:2: [default] max_attempts"},
		},
		{
			"an option behind",
			[]awsretry.ResolveOption{awsretry.WithValues(file), awsretry.WithMode("adaptive"), awsretry.WithMaxAttempts(2)},
			"adaptive option WithMode", "2 option WithMaxAttempts",
			[]string{"7 file app.yaml", "9 AWS_MAX_ATTEMPTS", "3 /config:2: [default] max_attempts"},
		},
		{
			"an option before for another setting",
			[]awsretry.ResolveOption{awsretry.WithMode("adaptive"), awsretry.WithMaxAttempts(2), awsretry.WithValues(awsretry.Values{MinDelay: "1s"})},
			"adaptive option WithMode", "2 option WithMaxAttempts",
			[]string{"9 AWS_MAX_ATTEMPTS", "3 /config:2: [default] max_attempts"},
		},
		{
			"of two the later one, setting by setting",
			[]awsretry.ResolveOption{awsretry.WithValues(file), awsretry.WithValues(from("file more.yaml", awsretry.Values{MaxAttempts: "4"}))},
			"standard file app.yaml", "4 file more.yaml",
			[]string{"7 file app.yaml", "9 AWS_MAX_ATTEMPTS", "3 /config:2: [default] max_attempts"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := resolved(t, variables, "[default]\nmax_attempts = 3\n", c.opts...)
			require.Equal(t, c.mode, string(s.RetryMode.Value)+" "+s.RetryMode.Origin.String())
			require.Equal(t, c.attempts, strconv.Itoa(s.MaxAttempts.Value)+" "+s.MaxAttempts.Origin.String())
			var losers []string
			for _, loser := range s.MaxAttempts.Overridden {
				require.True(t, loser.Valid)
				losers = append(losers, loser.Raw+" "+loser.Origin.String())
			}
			require.Equal(t, c.losers, losers)
		})
	}
}

func TestValuesOfAProgramListTheOptionsBeforeThemAsOverridden(t *testing.T) {
	t.Parallel()
	s := resolved(t, nil, "", awsretry.WithMaxBackoff(9*time.Second), awsretry.WithMinDelay(-1), awsretry.WithMode("Adaptive"),
		awsretry.WithValues(awsretry.Values{Mode: "standard", MaxBackoff: "5s", MinDelay: "1s"}), awsretry.WithMaxBackoff(7*time.Second))
	lost := func(raw, option string, valid bool) config.Candidate {
		return config.Candidate{Raw: raw, Valid: valid, Origin: config.Origin{Kind: "option", Name: option}}
	}
	require.Equal(t, []config.Candidate{lost("Adaptive", "WithMode", true)}, s.RetryMode.Overridden)
	require.Equal(t, []config.Candidate{lost("-1ns", "WithMinDelay", false)}, s.MinDelay.Overridden)
	require.Equal(t, 7*time.Second, s.MaxBackoff.Value)
	require.Equal(t, []config.Candidate{
		{Raw: "5s", Valid: true, Origin: originOf("option WithValues", "max_backoff")}, lost("9s", "WithMaxBackoff", true),
	}, s.MaxBackoff.Overridden)
}

func TestValuesOfAProgramAreSettings(t *testing.T) {
	t.Parallel()
	own := parsed(t, from("file app.yaml", awsretry.Values{MaxBackoff: " 3s\n", MinDelay: "0.3s"}), "-aws-max-elapsed=1m30s")
	s := resolved(t, nil, "", awsretry.WithValues(own))
	require.Equal(t, config.Setting[time.Duration]{
		Value: 3 * time.Second, Raw: " 3s\n", Origin: originOf("file app.yaml", "max_backoff"), Overridden: []config.Candidate{},
	}, s.MaxBackoff)
	require.Equal(t, config.Setting[time.Duration]{
		Value: 300 * time.Millisecond, Raw: "0.3s", Origin: originOf("file app.yaml", "min_delay"), Overridden: []config.Candidate{},
	}, s.MinDelay)
	require.Equal(t, config.Setting[time.Duration]{
		Value: 90 * time.Second, Raw: "1m30s", Origin: originOf("flag --aws-max-elapsed", "max_elapsed"), Overridden: []config.Candidate{},
	}, s.MaxElapsed)
	require.Empty(t, s.Diagnostics)

	data, err := json.Marshal(s.MaxElapsed.Origin)
	require.NoError(t, err)
	require.JSONEq(t, `{"kind": "option", "name": "flag --aws-max-elapsed", "key": "max_elapsed"}`, string(data))
	var again config.Origin
	require.NoError(t, json.Unmarshal(data, &again))
	require.Equal(t, "flag --aws-max-elapsed", again.String())
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
				strategies := map[string]retry.Strategy{}
				var err error
				strategies["New after Resolve with both"], err = awsretry.New(resolved(t, nil, "", given, own), own)
				require.NoError(t, err)
				strategies["New after Resolve without the configuration"], err = awsretry.New(resolved(t, nil, "", given), own)
				require.NoError(t, err)
				strategies["New without the configuration"], err = awsretry.New(resolved(t, nil, "", given, own))
				require.NoError(t, err)
				strategies["Load"], err = awsretry.Load(t.Context(), with(nil, "", own, given)...)
				require.NoError(t, err)
				factory, err := awsretry.NewFactory(resolved(t, nil, "", own, given), own)
				require.NoError(t, err)
				strategies["Factory"], err = factory.Strategy("a")
				require.NoError(t, err)
				for name, s := range strategies {
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
		{awsretry.Values{MaxAttempts: "-1"}, standard.Config{}, `max_attempts: "-1": must be a decimal integer from 1 to 2147483647`},
		{awsretry.Values{MaxAttempts: "3.5"}, standard.Config{}, `max_attempts: "3.5": must be a decimal integer from 1 to 2147483647`},
		{awsretry.Values{MaxBackoff: "-5s"}, standard.Config{}, `max_backoff: "-5s": must be a duration above zero, such as 20s`},
		{awsretry.Values{MaxBackoff: "0"}, standard.Config{}, `max_backoff: "0": must be a duration above zero, such as 20s`},
		{awsretry.Values{MaxBackoff: "20"}, standard.Config{}, `max_backoff: "20": must be a duration above zero, such as 20s`},
		{awsretry.Values{MinDelay: "-1ns"}, standard.Config{}, `min_delay: "-1ns": must be a duration of zero or more, such as 300ms or 1m30s`},
		{awsretry.Values{MinDelay: " "}, standard.Config{}, `min_delay: " ": must be a duration of zero or more, such as 300ms or 1m30s`},
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

func TestBadValueOfAProgramThatLosesIsAFinding(t *testing.T) {
	t.Parallel()
	s := resolved(t, nil, "", awsretry.WithValues(parsed(t, from("file app.json", awsretry.Values{MaxAttempts: "0", Mode: "legacy"}), "-aws-max-attempts=4")))
	require.Equal(t, 4, s.MaxAttempts.Value)
	var found []string
	for _, d := range s.Diagnostics {
		found = append(found, d.String())
	}
	require.Equal(t, []string{
		`warning: file app.json: retry_mode: "legacy": a mode of other tools, read as standard [mapped-mode]`,
		`warning: file app.json: max_attempts: "0": must be a decimal integer from 1 to 2147483647; another value wins, so it is ignored [invalid-value]`,
	}, found)
}

func TestBadValueOfAConfigurationThatLosesIsAFindingThatNamesTheSetting(t *testing.T) {
	t.Parallel()
	s := resolved(t, nil, "", awsretry.WithValues(awsretry.Values{MinDelay: "1s"}),
		awsretry.WithConfig(adaptive.Config{Standard: standard.Config{MinDelay: -1}}))
	require.Equal(t, `warning: option WithConfig: min_delay: "-1ns": must be a duration of zero or more, such as 300ms or 1m30s; `+
		`another value wins, so it is ignored [invalid-value]`, s.Diagnostics[0].String())
}

func TestFlagOfAProgramRefusesABadValue(t *testing.T) {
	t.Parallel()
	for argument, want := range map[string]string{
		"-aws-retry-mode=fast": `invalid value "fast" for flag -aws-retry-mode: must be standard or adaptive`,
		"-aws-retry-mode=":     `invalid value "" for flag -aws-retry-mode: must be standard or adaptive`,
		"-aws-max-attempts=0":  `invalid value "0" for flag -aws-max-attempts: must be a decimal integer from 1 to 2147483647`,
		"-aws-max-backoff=0s":  `invalid value "0s" for flag -aws-max-backoff: must be a duration above zero, such as 20s`,
		"-aws-min-delay=-1s":   `invalid value "-1s" for flag -aws-min-delay: must be a duration of zero or more, such as 300ms or 1m30s`,
		"-aws-max-elapsed=9":   `invalid value "9" for flag -aws-max-elapsed: must be a duration of zero or more, such as 300ms or 1m30s`,
	} {
		v := from("file app.json", awsretry.Values{MaxAttempts: "2"})
		before := v
		require.EqualError(t, parse(&v, argument), want)
		require.Equal(t, before, v)
	}
}

// Most programs parse their flags first, because one of them names the file.
func TestFlagIsStrongerThanTheFileWhicheverComesFirst(t *testing.T) {
	t.Parallel()
	file := []byte(`{"retry_mode": "adaptive", "max_attempts": 8}`)
	arguments := []string{"-aws-max-attempts=5"}
	var first, last awsretry.Values
	require.NoError(t, parse(&first, arguments...))
	require.NoError(t, json.Unmarshal(file, &first))
	first.From("file app.json")
	require.NoError(t, json.Unmarshal(file, &last))
	last.From("file app.json")
	require.NoError(t, parse(&last, arguments...))
	require.Equal(t, first, last)
	require.Equal(t, json.Number("8"), first.MaxAttempts, "a flag leaves the field as it is")
	require.Equal(t, 5, resolved(t, nil, "", awsretry.WithValues(first)).MaxAttempts.Value)
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
	before := original

	other := original
	require.NoError(t, json.Unmarshal([]byte(`{"max_attempts": 2, "max_backoff": "2s"}`), &other))
	other.From("file b.json")
	require.NoError(t, parse(&other, "-aws-min-delay=2s"))
	require.Equal(t, before, original, "what is done to a copy")
	require.NoError(t, fs.Set("min-delay", "3s"))
	require.NotEqual(t, before, original)
	require.Equal(t, 2*time.Second, resolved(t, nil, "", awsretry.WithValues(other)).MinDelay.Value, "what is done to the original")

	given := awsretry.WithValues(original)
	original.MaxAttempts = "0"
	for range 2 {
		require.Equal(t, 8, resolved(t, nil, "", given).MaxAttempts.Value, "an option has a copy")
	}
}

func TestOptionOfValuesMayBeUsedInSeveralCalls(t *testing.T) {
	t.Parallel()
	shared := awsretry.WithValues(awsretry.Values{MaxAttempts: "8"})
	for _, attempts := range []json.Number{"4", "5"} {
		s := resolved(t, nil, "", awsretry.WithValues(awsretry.Values{MaxAttempts: attempts}), shared)
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

func TestJSONOfTheWrongTypeIsAnErrorOfTheDecoder(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"max_backoff": 5}`:      "json: cannot unmarshal number into Go struct field Values.max_backoff of type string",
		`{"retry_mode": true}`:    "json: cannot unmarshal bool into Go struct field Values.retry_mode of type config.Mode",
		`{"max_attempts": [1]}`:   "json: cannot unmarshal array into Go struct field Values.max_attempts of type json.Number",
		`{"max_attempts": "ten"}`: `json: invalid number literal, trying to unmarshal "\"ten\"" into Number`,
	} {
		require.EqualError(t, json.Unmarshal([]byte(text), &awsretry.Values{}), want)
	}
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

func TestStandardModeThatAFlagChoseIsNotTheFaultOfTheProgram(t *testing.T) {
	t.Parallel()
	own := awsretry.WithConfig(adaptive.Config{MaxSendWait: time.Second})
	for place, v := range map[string]awsretry.Values{
		"flag --aws-retry-mode": parsed(t, awsretry.Values{}, "-aws-retry-mode=standard"),
		"file app.json":         from("file app.json", awsretry.Values{Mode: "standard"}),
	} {
		s := resolved(t, nil, "", own, awsretry.WithValues(v))
		require.Len(t, s.Diagnostics, 1)
		require.Equal(t, "warning: adaptive.Config.MaxSendWait is set, but the retry mode is standard ("+place+") [no-effect]",
			s.Diagnostics[0].String())
		var events []retry.Event
		_, err := awsretry.New(s, own, awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) { events = append(events, e) })))
		require.NoError(t, err)
		require.Len(t, events, 1)
		require.EqualError(t, events[0].Err, "awsretry: adaptive.Config.MaxSendWait is set, but the retry mode is standard ("+place+")")
	}
}
