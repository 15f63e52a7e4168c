package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/wire"
)

func TestBareCodeIsWhatIsLeftWithoutTheWire(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"SlowDown":                        "SlowDown",
		"com.amazon#SlowDown":             "SlowDown",
		"SlowDown:http://x/":              "SlowDown",
		"com.amazon#SlowDown:http://x/#y": "SlowDown",
		"com#amazon#SlowDown":             "amazon#SlowDown",
		" SlowDown ":                      " SlowDown ",
		"":                                "",
		"#":                               "",
		":":                               "",
	} {
		require.Equal(t, want, wire.BareCode(code), "%q", code)
	}
}
