package proptest_test

import (
	"encoding/json"
	"flag"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/config"
)

// named and unnamed are two ways to embed Values.
type named struct {
	Listen string          `json:"listen" yaml:"listen"`
	AWS    awsretry.Values `json:"aws" yaml:"aws"`
}

type unnamed struct {
	Listen          string `json:"listen" yaml:"listen"`
	awsretry.Values `yaml:",inline"`
}

// drawValues draws values that are accepted, some of them unset.
func drawValues(t *rapid.T) awsretry.Values {
	v := awsretry.Values{Mode: drawFrom[config.Mode](t, "mode", "", "standard", " Adaptive", "legacy")}
	if n := drawFrom(t, "attempts", 0, 1, 7, 1<<31-1); n > 0 {
		v.MaxAttempts = json.Number(strconv.Itoa(n))
	}
	for _, field := range []*string{&v.MaxBackoff, &v.MinDelay, &v.MaxElapsed} {
		if drawBool(t, "set") {
			*field = drawDuration(t, 1, 1<<62, "duration").String()
		}
	}
	return v
}

func TestValuesAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := drawValues(t)
		for name, format := range map[string]struct {
			write func(any) ([]byte, error)
			read  func([]byte, any) error
		}{"json": {json.Marshal, json.Unmarshal}, "yaml": {yaml.Marshal, yaml.Unmarshal}} {
			data, err := format.write(named{":80", v})
			require.NoError(t, err)
			var n named
			require.NoError(t, format.read(data, &n))
			require.Equal(t, named{":80", v}, n, name)

			data, err = format.write(unnamed{":80", v})
			require.NoError(t, err)
			var u unnamed
			require.NoError(t, format.read(data, &u))
			require.Equal(t, unnamed{":80", v}, u, name)
			require.Equal(t, v.MaxAttempts != "", strings.Contains(string(data), "max_attempts"), name)
		}
	})
}

func TestYAMLIsWrittenAndReadAsPeopleDo(t *testing.T) {
	t.Parallel()
	text := "listen: :80\naws:\n    retry_mode: adaptive\n    max_attempts: 5\n    max_backoff: 10s\n    min_delay: 300ms\n    max_elapsed: 1m30s\n"
	want := named{":80", awsretry.Values{
		Mode: "adaptive", MaxAttempts: "5", MaxBackoff: "10s", MinDelay: "300ms", MaxElapsed: "1m30s",
	}}
	var n named
	require.NoError(t, yaml.Unmarshal([]byte(text), &n))
	require.Equal(t, want, n)
	data, err := yaml.Marshal(want)
	require.NoError(t, err)
	require.Equal(t, strings.Replace(text, "5", `"5"`, 1), string(data))

	require.NoError(t, yaml.Unmarshal([]byte("aws: {max_attempts: 0, min_delay: 0, max_elapsed: 5, max_backoff: null}"), &n))
	require.Equal(t, awsretry.Values{Mode: "adaptive", MaxAttempts: "0", MaxBackoff: "10s", MinDelay: "0", MaxElapsed: "5"}, n.AWS)
}

// Flags and fields in any order: each setting has the last flag, else the field, and its place.
func TestSettingsAreThoseOfFlagsAndFields(t *testing.T) {
	t.Parallel()
	environment := func(string) (string, bool) { return "", false }
	rapid.Check(t, func(t *rapid.T) {
		var v awsretry.Values
		fs := flag.NewFlagSet("program", flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		v.AddFlags(fs, "x-")
		field, flags := "", ""
		t.Repeat(map[string]func(*rapid.T){
			"file": func(t *rapid.T) {
				field = drawDuration(t, 0, time.Hour, "field").String()
				require.NoError(t, json.Unmarshal([]byte(`{"max_elapsed": "`+field+`"}`), &v))
				v.From("file " + field)
			},
			"flag": func(t *rapid.T) {
				flags = drawDuration(t, 0, time.Hour, "flag").String()
				require.NoError(t, fs.Parse([]string{"-x-max-elapsed", flags}))
			},
			"bad flag": func(t *rapid.T) {
				require.Error(t, fs.Parse([]string{"-x-max-elapsed=" + drawFrom(t, "bad", "", "5", "-1s")}))
			},
			"copy": func(*rapid.T) { other := v; other.MaxElapsed = "7h"; other.From("nowhere") },
			"": func(t *rapid.T) {
				s, err := awsretry.Resolve(t.Context(), awsretry.WithValues(v),
					awsretry.WithSources(awsretry.Sources{LookupEnv: environment, ConfigFile: "/nowhere", CredentialsFile: "/nowhere"}))
				require.NoError(t, err)
				got := s.MaxElapsed.Value.String() + " " + s.MaxElapsed.Origin.String()
				switch {
				case flags != "":
					require.Equal(t, flags+" flag --x-max-elapsed", got)
				case field != "":
					require.Equal(t, field+" file "+field, got)
				default:
					require.Equal(t, "0s built-in default", got)
				}
			},
		})
	})
}
