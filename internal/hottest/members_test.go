package hottest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/hottest"
	"github.com/awsretry/awsretry/retry"
)

// heats makes a snapshot of scopes such as "a:3/10": 3 waiting attempts and 10 used tokens of 500.
func heats(t *testing.T, scopes string) retry.Snapshot {
	t.Helper()
	var s retry.Snapshot
	for text := range strings.FieldsSeq(scopes) {
		name, heat, _ := strings.Cut(text, ":")
		var waiting, used int
		_, err := fmt.Sscanf(heat, "%d/%d", &waiting, &used)
		require.NoError(t, err)
		s.Scopes = append(s.Scopes, hotScope(name, waiting, used))
	}
	return s
}

func TestScopesKeepTheirPlaces(t *testing.T) {
	t.Parallel()
	type step struct {
		at     time.Duration
		scopes string
		want   string // of two that are shown
	}
	for name, steps := range map[string][]step{
		"for five minutes after they were hot": {
			{0, "a:0/100 b:0/90 c:0/80", "a b"},
			{time.Minute, "a:0/100 b:0/90 c:0/95", "a b"},
			{5*time.Minute - 1, "a:0/100 b:0/90 c:0/95", "a b"},
			{5 * time.Minute, "a:0/100 b:0/90 c:0/95", "a c"},
		},
		"from when they were last hot": {
			{0, "a:0/100 b:0/90 c:0/80", "a b"},
			{4 * time.Minute, "a:0/100 b:0/90 c:0/80", "a b"},
			{8 * time.Minute, "a:0/100 b:0/70 c:0/80", "a b"},
			{9 * time.Minute, "a:0/100 b:0/70 c:0/80", "a c"},
		},
		"unless another one has clearly more waiting attempts": {
			{0, "a:30/0 b:10/0 c:0/0", "a b"},
			{time.Second, "a:30/0 b:10/0 c:25/0", "a b"},
			{time.Second, "a:30/0 b:10/0 c:26/0", "a c"},
		},
		"unless another one has used clearly more of its quota": {
			{0, "a:0/400 b:0/50 c:0/0", "a b"},
			{time.Second, "a:0/400 b:0/50 c:0/225", "a b"},
			{time.Second, "a:0/400 b:0/50 c:0/226", "a c"},
		},
		"with fewer waiting attempts, whatever the quota says": {
			{0, "a:9/0 b:2/0 c:0/0", "a b"},
			{time.Second, "a:9/0 b:0/0 c:0/500", "a b"},
			{2 * time.Minute, "a:9/0 b:0/0 c:0/500", "a c"},
		},
		"by the heat of the last minutes, not by that of a moment": {
			{0, "a:30/0 b:20/0 c:0/0", "a b"},
			{time.Second, "a:30/0 b:0/0 c:25/0", "a b"},
			{time.Minute, "a:30/0 b:0/0 c:25/0", "a b"},
			{time.Minute + 2*time.Second, "a:30/0 b:0/0 c:26/0", "a c"},
		},
		"not if they were there because there was a place": {
			{0, "a:0/0 b:0/0 c:0/0", "a b"},
			{time.Second, "a:0/0 b:0/0 c:0/1", "c a"},
			{time.Second, "a:0/0 b:0/0 c:0/1 d:0/1", "c d"},
			{time.Hour, "a:0/0 b:0/0 c:0/0 d:0/0", "c d"}, // no other one is hotter
		},
		"the coldest one goes first": {
			{0, "a:20/0 b:2/0 c:0/0", "a b"},
			{time.Second, "a:20/0 b:2/0 c:90/0", "c a"},
		},
		"not if they are gone": {
			{0, "a:0/100 b:0/90 c:0/80", "a b"},
			{time.Second, "b:0/90 c:0/80 d:0/10", "b c"},
			{2 * time.Second, "a:0/1 b:0/90 c:0/80 d:0/10", "b c"},
		},
		"when a clock goes back": {
			{time.Hour, "a:0/100 b:0/90 c:0/80", "a b"},
			{0, "a:0/100 b:0/90 c:0/95", "a b"},
			{time.Hour + 4*time.Minute, "a:0/100 b:0/90 c:0/95", "a b"},
			{time.Hour + 5*time.Minute, "a:0/100 b:0/90 c:0/95", "a c"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := hottest.New(2, nil)
			for i, step := range steps {
				picked := s.Pick(time.Unix(0, 0).Add(step.at), heats(t, step.scopes))
				if picked[len(picked)-1].Scope == hottest.Rest {
					picked = picked[:len(picked)-1]
				}
				require.Equal(t, step.want, names(picked), "step %d", i)
			}
		})
	}
}

// A thousand scopes are as hot as one another, but for chance, and their load grows from nothing.
func TestUniformHeatMovesFewMembers(t *testing.T) {
	t.Parallel()
	for name, heat := range map[string]func(r *rand.Rand, load float64) (waiting, used int){
		"waiting attempts": func(r *rand.Rand, load float64) (int, int) { return poisson(r, 3*load), 0 },
		"many of them":     func(r *rand.Rand, load float64) (int, int) { return poisson(r, 50*load), 0 },
		"used quota":       func(r *rand.Rand, load float64) (int, int) { return 0, min(14*poisson(r, 20*load), 500) },
		"any quota":        func(r *rand.Rand, load float64) (int, int) { return 0, int(500 * load * r.Float64()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(2) {
				r := rand.New(rand.NewPCG(seed, 1))
				s, shown := hottest.New(20, nil), map[string]bool{}
				for at := time.Duration(0); at <= 3*time.Minute; at += 10 * time.Second {
					var snapshot retry.Snapshot
					for i := range 1000 {
						waiting, used := heat(r, min(at.Minutes(), 1))
						snapshot.Scopes = append(snapshot.Scopes, hotScope(fmt.Sprintf("%04d", i), waiting, used))
					}
					picked := s.Pick(time.Unix(0, 0).Add(at), snapshot)
					require.Len(t, picked, 21)
					for _, scope := range picked[:20] {
						shown[scope.Scope] = true
					}
				}
				t.Log(len(shown), "scopes")
				require.LessOrEqual(t, len(shown), 60)
			}
		})
	}
}

func poisson(r *rand.Rand, mean float64) (n int) {
	for left := mean; ; n++ {
		if left -= r.ExpFloat64(); left < 0 {
			return n
		}
	}
}

// Each pick has all waiting attempts, however many there are at the same time.
func TestPickConcurrentSafe(t *testing.T) {
	t.Parallel()
	s := hottest.New(5, nil)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 1))
			for i := range 200 {
				var snapshot retry.Snapshot
				want := 0
				for j := range 20 {
					waiting := r.IntN(50)
					want += waiting
					snapshot.Scopes = append(snapshot.Scopes, hotScope(fmt.Sprintf("%02d", j), waiting, 0))
				}
				got, seen := 0, []string{}
				for _, scope := range s.Pick(time.Unix(int64(i), 0), snapshot) {
					got += scope.Waiting
					seen = append(seen, scope.Scope)
				}
				slices.Sort(seen)
				if len(slices.Compact(seen)) != 6 || got != want {
					t.Errorf("%d waiting attempts of %d in %d scopes", got, want, len(seen))
				}
			}
		})
	}
	all.Wait()
}
