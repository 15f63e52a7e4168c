package engine_test

import (
	"runtime"
	"strconv"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/engine"
	"github.com/awsretry/awsretry/internal/quota"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestNewScopeGetsAPlaceWhileOneMayGo(t *testing.T) {
	t.Parallel()
	for _, places := range []int{2, 10, 100} {
		t.Run(strconv.Itoa(places), func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			s := newAdaptive(t, standard.Config{Clock: clk, MaxScopes: places})
			for i := range places {
				if i < places/2 {
					throttle(t, s, named(i)) // so that it has to stay
				} else {
					succeed(t, s, named(i))
				}
			}
			for i := range 2 * places {
				succeed(t, s, named(places+i))
				require.Contains(t, scopesOf(s), strconv.Itoa(places+i))
			}
			require.Zero(t, s.Snapshot().Overflowed)
			for i := range places / 2 {
				require.Contains(t, scopesOf(s), strconv.Itoa(i))
			}
		})
	}
}

// The scopes that have to stay are asked once, and not for each operation that finds no place.
func TestScopesThatAllHaveToStayAreNotAskedAgainUntilOneMayGo(t *testing.T) {
	t.Parallel()
	clk, questions := &clock.Fake{}, 0
	s, err := adaptive.New(adaptive.Config{
		Standard: standard.Config{Clock: clk, Classifier: judge{}, MaxScopes: 3},
		NewLimiter: func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
			return asked{sendrate.NewLimiter(sendrate.Config{}, clk), func() { questions++ }}
		},
	})
	require.NoError(t, err)
	for i := range 3 {
		throttle(t, s, named(i))
		clk.Advance(time.Minute)
	}
	for range 7 {
		succeed(t, s, named(100))
		clk.Advance(time.Minute - 1)
	}
	require.EqualValues(t, 7, s.Snapshot().Overflowed)
	require.Equal(t, 3, questions)
	clk.Advance(7)
	succeed(t, s, named(100))
	require.EqualValues(t, 7, s.Snapshot().Overflowed)
	require.NotContains(t, scopesOf(s), "0")
}

// A key shares the overflow only if its hash is that of another one.
func TestKeysThatDifferInOnePartHaveScopesOfTheirOwn(t *testing.T) {
	t.Parallel()
	const keys = 2000
	for part, key := range map[string]func(text string) retry.ScopeKey{
		"scope":    func(text string) retry.ScopeKey { return retry.ScopeKey{Scope: text, Resource: "orders"} },
		"account":  func(text string) retry.ScopeKey { return retry.ScopeKey{Account: text, Resource: "orders"} },
		"service":  func(text string) retry.ScopeKey { return retry.ScopeKey{Service: text, Resource: "orders"} },
		"region":   func(text string) retry.ScopeKey { return retry.ScopeKey{Region: text, Resource: "orders"} },
		"name":     func(text string) retry.ScopeKey { return retry.ScopeKey{Name: text, Resource: "orders"} },
		"resource": func(text string) retry.ScopeKey { return retry.ScopeKey{Service: "dynamodb", Resource: text} },
	} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			s := newStandard(t, standard.Config{
				Clock: &clock.Fake{}, Scope: func(op retry.Operation) retry.ScopeKey { return key(op.Name) },
			})
			for i := range keys {
				succeed(t, s, retry.Operation{Name: strconv.Itoa(i)})
			}
			require.Len(t, scopesOf(s), keys)
			require.Zero(t, s.Snapshot().Overflowed)
		})
	}
}

func TestSnapshotKeepsNoScopeThatIsEvictedLater(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	s := newStandard(t, standard.Config{Clock: clk, ScopeIdle: idle})
	begun := func() weak.Pointer[quota.Quota] {
		token := begin(t, s, named(1))
		q := weak.Make(engine.QuotaOf(token))
		require.NoError(t, s.RecordSuccess(token))
		return q
	}()
	require.Len(t, s.Snapshot().Scopes, 2)
	sweep(t, clk, s) // no snapshot from here on, which would be a newer one
	for range 3 {    // the pool of records forgets in two
		runtime.GC()
	}
	require.Nil(t, begun.Value())
	require.NotContains(t, scopesOf(s), "1")
}
