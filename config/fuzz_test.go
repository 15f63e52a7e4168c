package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
)

// FuzzSharedFiles feeds two files of any bytes. Nothing may panic. What is
// accepted gives the same profiles when it is written out again, the line index
// and ini.v1 agree about every value, and every single profile agrees with the
// whole.
func FuzzSharedFiles(f *testing.F) {
	f.Add([]byte("[default]\nretry_mode = adaptive\n"), []byte("[a]\nmax_attempts = 4\n"))
	f.Fuzz(func(t *testing.T, configText, credentialsText []byte) {
		files := openTexts(t, string(configText), string(credentialsText))
		files.Lint()
		profiles, err := files.Profiles()
		if err != nil {
			_, err2 := files.Profile("default", config.Origin{})
			require.EqualError(t, err2, err.Error())
			return
		}
		indexed, err := files.LastValues()
		require.NoError(t, err)
		require.Equal(t, indexed, profiles.Raw())

		again := openTexts(t, writeOut(profiles), "")
		same, err := again.Profiles()
		require.NoError(t, err)
		require.Equal(t, profiles.Raw(), same.Raw())
		requireSingles(t, files, profiles)
	})
}

// writeOut writes profiles as a config file. Lines end with CR and LF, as a
// value may end with a CR; there is no blank before a value, as it may begin with
// a comment character.
func writeOut(profiles *config.Profiles) string {
	var b strings.Builder
	for name, values := range profiles.Raw() {
		b.WriteString("[profile " + name + "]\r\n")
		for key, value := range values {
			b.WriteString(key + "=" + strings.ReplaceAll(value, "\n", "\r\n ") + "\r\n")
			if profiles.IsGroup(name, key) {
				b.WriteString("\tx = 1\r\n")
			}
		}
	}
	return b.String()
}

// requireSingles compares each profile, read alone, with all of them.
func requireSingles(t *testing.T, files *config.Files, profiles *config.Profiles) {
	t.Helper()
	for name, values := range profiles.Raw() {
		profile, err := files.Profile(name, config.Origin{Kind: config.OriginOption})
		require.NoError(t, err)
		require.True(t, profile.Found)
		for _, key := range []string{config.KeyRetryMode, config.KeyMaxAttempts} {
			given := profile.Candidates(key)
			value, ok := values[key]
			require.Equal(t, ok, len(given) > 0)
			if !ok {
				continue
			}
			first, _, several := strings.Cut(value, "\n")
			if several {
				first += "\n..."
			}
			require.Equal(t, first, given[0].Raw)
			require.Positive(t, given[0].Origin.Line)
		}
	}
}

// FuzzValues reads values of any text: what is accepted is in range, and an
// error names what is.
func FuzzValues(f *testing.F) {
	for _, raw := range []string{"", "standard", " Adaptive\t", "legacy", "+010", "2147483647", "2147483648", "-1", "5\n..."} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		n, err := config.ParseMaxAttempts(raw)
		require.Equal(t, err == nil, n >= 1 && n <= 1<<31-1)
		mode, _, err := config.ParseMode(raw)
		require.Equal(t, err == nil, mode == config.ModeStandard || mode == config.ModeAdaptive)
		behavior, known := config.ParseNewRetries(raw)
		require.True(t, known || behavior == config.BehaviorV20)
		_, err = config.ParseBehavior(raw)
		require.Equal(t, err == nil, raw == "v2.0" || raw == "v2.1")
	})
}
