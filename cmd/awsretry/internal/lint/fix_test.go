package lint_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

// inUTF16 returns a text in UTF-16.
func inUTF16(order binary.AppendByteOrder, text string) string {
	var data []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		data = order.AppendUint16(data, unit)
	}
	return string(data)
}

func TestFixOfLines(t *testing.T) {
	t.Parallel()
	for before, after := range map[string]string{ // Of a config file. An empty text means that nothing is cured.
		"[prod] # mine\nmax_attempts = 5\n":                      "[profile prod] # mine\nmax_attempts = 5\n",
		"[Profile prod]\n":                                       "[profile prod]\n",
		"  [profile \"prod\"]\r\nregion = 'x'\r\n":               "  [profile prod]\r\nregion = 'x'\r\n",
		"[ default ]\n[profile  dev ]":                           "[default]\n[profile dev]",
		"[prod]\nretry-mode = \"adaptive\" # c\n":                "[profile prod]\nretry_mode = adaptive # c\n",
		"[default]\nMAX_ATTEMPTS: 5\n":                           "[default]\nmax_attempts: 5\n",
		"[default]\nmax_attempts = ' 5 '\nretry_mode = \"x\"\n":  "[default]\nmax_attempts = 5\nretry_mode = \"x\"\n",
		"[default]\n\"max_attempts\" = '5'":                      "[default]\nmax_attempts = 5",
		"\uFEFF[default]\n":                                      "[default]\n",
		"\xff\xfe[default]\n":                                    "[default]\n",
		inUTF16(binary.LittleEndian, "\uFEFF[default]\r\nä = 1"): "[default]\r\nä = 1",
		inUTF16(binary.BigEndian, "[prod]\n"):                    "[profile prod]\n",

		"[prod]\n[profile prod]\n":                                 "", // They would be one section,
		"[prod]\n[Profile prod]\n":                                 "",
		"[default]\n[Profile default]\n":                           "", // and this would drop the other one.
		"[profile \"a\"]\n[profile a]\n":                           "", // Python refuses two.
		"[profile \"a b\"]\n[profile]\n[services x]\n":             "", // No text would be read by all.
		"[default]\nmax_retries = 5\naws_max_retries = 4\n":        "", // One less than attempts.
		"[default]\nretry-mode = adaptive\nretry_mode = x\n":       "", // The later one would count.
		"[default]\nretry-mode = adaptive\nretrymode = standard\n": "",
		"[default]\nmax_attempts = 5\nMAX_ATTEMPTS = 5\n":          "", // Python refuses two.
		"[default]\nmax-attempts = many\n":                         "", // It would be an error.
		"[default]\nmax-attempts = 5\n more\n":                     "",
		"[default]\nmax_attempts = '5'\n more\n":                   "",
		"[default]\ns3 =\n  max-attempts = 5\n":                    "",
		"[default]\nmax_attempts = '5\n":                           "",
		"[prod] # awsretry:ignore\n":                               "",
		"# awsretry:ignore ignored-section\n[prod]\n":              "",
		"[default] # caf\xe9\nregion = x\n":                        "", // In which encoding?
		"\uFEFF[default] # awsretry:ignore\n":                      "",
		inUTF16(binary.LittleEndian, "[default]\n") + "\x00":       "",
		"\xff\xfe[\x00\x00\xdc":                                    "",
	} {
		fixed, err := lint.Fix(world.Texts(before, ""))
		require.NoError(t, err)
		if after == "" {
			require.Empty(t, fixed, "%q", before)
			continue
		}
		require.Len(t, fixed, 1, "%q", before)
		require.Equal(t, after, fixed[0].After, "%q", before)
		require.Equal(t, before, fixed[0].Before)
		requireFixed(t, world.Texts(before, ""))
	}
}

func TestFixOfACredentialsFile(t *testing.T) {
	t.Parallel()
	fixed, err := lint.Fix(world.Texts("", "[profile prod]\naws_secret_access_key = \"x\"\n'retry_mode' = 'standard' ; "+secret+"\n[\"dev\"]\n"))
	require.NoError(t, err)
	require.Equal(t, []lint.FixedLine{{1, "[profile prod]", "[prod]"}, {3, "'retry_mode' = 'standard'", "retry_mode = standard"}}, fixed[0].Lines)
	require.Equal(t, "[prod]\naws_secret_access_key = \"x\"\nretry_mode = standard ; "+secret+"\n[\"dev\"]\n", fixed[0].After)
}

// requireFixed checks that what is cured has no further cure, that only retry settings and headers have changed, and that
// no secret is shown.
func requireFixed(t *testing.T, src config.Sources) {
	t.Helper()
	fixed, err := lint.Fix(src)
	require.NoError(t, err)
	texts := map[string]string{}
	for _, path := range []string{"/c", "/k"} {
		texts[path] = sharedfile.Open(sharedfile.Sources{ConfigFile: path, CredentialsFile: "/none", FS: src.FS}).Files[0].Raw
	}
	for _, f := range fixed {
		texts[f.Path] = f.After
		requireNoSecret(t, fmt.Sprint(f.Lines))
	}
	after := world.Texts(texts["/c"], texts["/k"])
	again, err := lint.Fix(after)
	require.NoError(t, err)
	require.Empty(t, again)
	was, err := world.RawProfiles(src)
	require.NoError(t, err)
	is, err := world.RawProfiles(after)
	require.NoError(t, err)
	for name, values := range was {
		for key, value := range values {
			if sharedfile.RetryKey(key) == "" && sharedfile.Lookalike(key) == "" {
				require.Equal(t, value, is[name][key], "%s %s", name, key)
			} else if text, ok := winner(values, key); ok && sharedfile.RetryKey(key) != "" && accepted(key, text) {
				require.Equal(t, text, is[name][key], "%s %s", name, key)
			}
		}
	}
	require.NotContains(t, strings.Join(lines(findings(t, after, false)), "\n"), "byte-order mark (save it")
}
