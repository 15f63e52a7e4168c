package limit_test

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/limit"
)

// answer is how many of the entries of an answer were throttled.
type answer struct{ throttled, entries int }

// answers are those to batches of 25.
func answers(throttled ...int) (all []answer) {
	for _, n := range throttled {
		all = append(all, answer{n, 25})
	}
	return all
}

func TestThrottledEntriesThatMakeAThrottle(t *testing.T) {
	t.Parallel()
	single, five := []answer{{0, 0}}, []answer{{0, 5}}
	for name, c := range map[string]struct {
		answers []answer
		want    []int // the places of those that count
	}{
		"none":                       {answers(0, 0, 0), nil},
		"the first":                  {answers(1), []int{0}},
		"all of each":                {answers(25, 25, 25), []int{0, 1, 2}},
		"all of very many":           {slices.Repeat([]answer{{math.MaxInt, math.MaxInt}}, 3), []int{0, 1, 2}},
		"all after some":             {answers(5, 5, 25, 5, 5), []int{0, 2}},
		"some after four without":    {answers(1, 0, 0, 0, 0, 1), []int{0, 5}},
		"some after hundred without": {append(answers(make([]int, 100)...), answers(1)...), []int{100}},
		"some between three without": {answers(1, 0, 0, 0, 1, 0, 0, 0, 1), []int{0, 8}},
		"twenty between one without": {answers(20, 0, 20, 0, 20, 0, 20), []int{0, 2, 4, 6}},

		"as many as the burst is too small for": {answers(slices.Repeat([]int{5}, 100)...), []int{0}},
		"half of the burst, again and again":    {answers(5, 5, 5, 5, 15, 15, 15, 5, 5, 5, 5, 15, 15, 15), []int{0, 6, 13}},
		"a twentieth of the burst, once":        {answers(5, 5, 5, 5, 6, 5, 5, 5, 5, 6, 5, 5, 5), []int{0}},
		"smaller batches between them":          {slices.Concat(answers(5, 5, 5, 5), five, five, five, five, answers(6)), []int{0}},
		"other calls between them":              {slices.Concat(answers(5, 5, 5, 5), single, single, single, single, answers(6)), []int{0, 8}},
		"half of the burst from then on":        {answers(slices.Concat([]int{5}, slices.Repeat([]int{15}, 100))...), []int{0, 2, 4, 7, 9, 12, 15, 19, 24, 30, 40}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b limit.Batches
			var got []int
			for i, a := range c.answers {
				if b.Throttled(a.throttled, a.entries) {
					got = append(got, i)
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}

// The sum of what many goroutines are told is that of their answers: each in which everything is throttled counts.
func TestEachAnswerWithoutAnyEntryIsAThrottle(t *testing.T) {
	t.Parallel()
	const goroutines, each = 8, 1000
	var b limit.Batches
	var counted atomic.Int64
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range each {
				if b.Throttled(25, 25) {
					counted.Add(1)
				}
			}
		})
	}
	all.Wait()
	require.EqualValues(t, goroutines*each, counted.Load())
}
