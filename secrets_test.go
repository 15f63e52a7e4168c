package awsretry_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
)

func TestNoSecretInSettingsOrErrors(t *testing.T) {
	t.Parallel()
	const secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	keys := "aws_access_key_id = " + secret + "\naws_secret_access_key = " + secret + "\n"
	for name, c := range map[string]world{
		"good":             {credentials: "[default]\n" + keys + "max_attempts = 4\n" + keys},
		"loser with more":  {credentials: "[default]\n" + keys + "max_attempts = 4\n  token = " + secret + "\nmax_attempts = 5\n"},
		"winner with more": {credentials: "[default]\n" + keys + "max_attempts = 4\n  token = " + secret + "\n"},
		"bad line":         {credentials: "[default]\n" + keys + secret + "\n"},
		"bad start":        {credentials: keys},
		"missing profile":  {credentials: "[default]\n" + keys, opts: []awsretry.ResolveOption{awsretry.WithProfile("x")}},
		"strict":           {credentials: "[default]\n" + keys + keys, opts: []awsretry.ResolveOption{awsretry.WithStrict()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := c.resolve(t)
			data, jsonErr := json.Marshal(s)
			require.NoError(t, jsonErr)
			text := fmt.Sprintf("%v %+v %#v %s %v %+v %#v", s, s, s, data, err, err, err)
			require.NotContains(t, text, secret)
			require.NotContains(t, text, secret[:10])
		})
	}
}
