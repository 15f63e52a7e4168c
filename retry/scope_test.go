package retry_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/retry"
)

func TestKeysOfScopes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		key  retry.ScopeKey
		want string // its name
	}{
		"nothing":             {retry.ScopeKey{}, ""},
		"a name":              {retry.ScopeKey{Scope: "orders"}, "orders"},
		"a service":           {retry.ScopeKey{Service: "s3"}, "s3"},
		"a region":            {retry.ScopeKey{Region: "eu-west-1"}, "/eu-west-1"},
		"an operation":        {retry.ScopeKey{Operation: "GetItem"}, "//GetItem"},
		"a resource":          {retry.ScopeKey{Resource: "orders"}, "//orders"},
		"all but a name":      {retry.ScopeKey{Service: "s3", Region: "eu-west-1", Operation: "Get", Resource: "b"}, "s3/eu-west-1/Get/b"},
		"a name and more":     {retry.ScopeKey{Scope: "mine", Service: "s3"}, "mine/s3"},
		"that of an overflow": {retry.OverflowKey(), "(overflow)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, tt.key.String())
			require.Equal(t, name == "nothing", tt.key.IsZero())
			require.Equal(t, tt.key.IsZero(), tt.key == retry.ScopeKey{})
		})
	}
}
