package lint_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

// secret must not be in any output. It has the characters and the length of a real secret.
const secret = "hUnTeR2/SeCrEt+EXAMPLEKEYwJalrXUtnFEMIK7=="

// requireNoSecret prints values in every way.
func requireNoSecret(t *testing.T, values ...any) {
	t.Helper()
	var b strings.Builder
	for _, v := range values {
		fmt.Fprintf(&b, "%v %+v %#v %s %x %d\n", v, v, v, v, v, v)
		if data, err := json.Marshal(v); err == nil {
			b.Write(data)
		}
	}
	text := strings.ToLower(b.String())
	hex, decimals := fmt.Sprintf("%x", secret[:12]), strings.Trim(fmt.Sprintf("%d", []byte(secret[:12])), "[]")
	for _, part := range []string{strings.ToLower(secret[:12]), hex, decimals} {
		i := strings.Index(text, part)
		require.Negative(t, i, "a secret is in ...%s", text[max(0, i-100):max(0, i)])
	}
}

// everything returns the results of all functions for two files, except for the values and
// keys of profiles.
func everything(src config.Sources, profile string) (said []any) {
	overrides := []config.Candidate{world.Option("WithMode", "retry_mode", config.Mode("standard")), world.Option("WithMaxAttempts", "max_attempts", 3)}
	for _, strict := range []bool{false, true} {
		found, err := lint.Files(src, strict)
		said = append(said, found, err)
		uses, err := lint.Uses(world.As(src, profile))
		said = append(said, uses, err)
		for n := range len(overrides) + 1 {
			settings, err := lint.Resolve(config.Query{Sources: world.As(src, profile), Strict: strict, Given: overrides[:n]})
			said = append(said, settings, err)
		}
	}
	return said
}

func TestSecretsStayInGoodFiles(t *testing.T) {
	t.Parallel()
	text := strings.Join([]string{
		"\uFEFF[default]", "aws_access_key_id = " + secret, "aws_secret_access_key = " + secret, "aws_session_token: " + secret,
		"max_attempts = 4", "  aws_secret_access_key = " + secret, "# " + secret, "  " + secret, "# \xff" + secret,
		"retry_mode =", "  x = " + secret, "retry-mode = " + secret, "password = " + secret, "region = x # " + secret,
		"notes = " + secret, "  aws_secret_access_key = " + secret, "user = '", "more = a\r" + secret,
		"[a] # ]" + secret, "max_attempts = 3", "max_attempts = 9 ", " " + secret, secret, secret, "s3 =", " token = " + secret,
		"[profile x]", "RETRY_MODE : adaptive", "aws_secret_access_key = " + secret, secret, secret,
		"[profile a] ; " + secret, "max_attempts = 010 # " + secret, "max_attempts = 5", "in valid = " + secret, " x = " + secret,
	}, "\n")
	src := world.Texts(text, text)
	src.LookupEnv = world.LookupIn(map[string]string{"AWS_SECRET_ACCESS_KEY": secret})
	said := []any{src}
	for _, name := range []string{"", "default", "a", "x", "missing"} {
		said = append(said, everything(src, name)...)
	}
	src.FS = nil // The file system of the test holds the texts.
	said[0] = src
	requireNoSecret(t, said...)
}

func TestSecretsStayInBadFiles(t *testing.T) {
	t.Parallel()
	bare := strings.TrimRight(secret, "=")
	for name, bad := range map[string]string{
		"alone":                           bare,
		"before the first section":        secret + "\n[default]\n",
		"line of a section":               "[default]\n" + bare,
		"without a key":                   "[default]\n= " + secret,
		"key without a sign":              "[default]\naws_secret_access_key " + bare,
		"retry setting without a sign":    "[default]\nretry_mode " + bare,
		"sub-property without a sign":     "[default]\ns3 =\n " + bare,
		"sub-property of a retry setting": "[default]\nretry_mode =\n retry_mode " + bare,
		"behind a header":                 "[default]" + secret,
		"header with an equals sign":      "[default aws_secret_access_key = " + secret,
		"in the comment of a header":      "[default # " + secret + "]",
		"retry value that is not UTF-8":   "[default]\nretry_mode = \xff" + secret,
		"header that is not UTF-8":        "[default] \xff" + secret,
		"continuation that is not UTF-8":  "[default]\nretry_mode = x\n \xff" + secret,
		"below a malformed line":          "[default]\nx\n aws_secret_access_key = " + secret,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, src := range []config.Sources{world.Texts(bad, ""), world.Texts("", bad), world.Texts(bad, bad)} {
				_, err := lint.Resolve(config.Query{Sources: src, Strict: true})
				require.Error(t, err)
				raw, err := world.RawProfiles(src)
				require.NoError(t, err)
				requireNoSecret(t, append(append(everything(src, ""), everything(src, "default")...), raw)...)
			}
		})
	}
}
