package wire_test

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/wire"
)

func TestHeadersAskForAWait(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, seconds, millis string
		want                  time.Duration
		none                  bool
	}{
		{"nothing", "", "", 0, true},
		{"seconds", "2", "", 2 * time.Second, false},
		{"zero", "0", "", 0, false},
		{"milliseconds win", "2", "150", 150 * time.Millisecond, false},
		{"milliseconds that are none", "2", "1.5", 2 * time.Second, false},
		{"too many seconds", "99999999999999999999", "", math.MaxInt64, false},
		{"negative", "-1", "", 0, true},
		{"half a second", "0.5", "", 0, true},
		{"date", "Sun, 01 Nov 2026 12:00:09 GMT", "", 9 * time.Second, false},
		{"date that has passed", "Sun, 01 Nov 2026 11:00:00 GMT", "", 0, false},
		{"words", "soon", "", 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{"Retry-After": {c.seconds}, "X-Amz-Retry-After": {c.millis}}
			after, inFull, ok := wire.HintOf(header, func() time.Time { return now })
			require.Equal(t, !c.none, ok)
			require.Equal(t, !c.none && c.name != "milliseconds win", inFull, "only Retry-After")
			require.Equal(t, c.want, after)
		})
	}
}
