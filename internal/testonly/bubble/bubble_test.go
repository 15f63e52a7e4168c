package bubble_test

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/bubble"
)

func TestGoroutinesAreThoseOfTheBubble(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	defer close(stop)
	for range 10 {
		go func() { <-stop }() // outside
	}
	for range 3 { // the number of the bubble does not matter
		synctest.Test(t, func(t *testing.T) {
			alone := bubble.Goroutines()
			const more = 500 // whose stacks are above the first guess
			end := make(chan struct{})
			var all sync.WaitGroup
			for range more {
				all.Go(func() { <-end })
			}
			synctest.Wait()
			require.Equal(t, alone+more, bubble.Goroutines())
			close(end)
			all.Wait()
			synctest.Wait()
			require.Equal(t, alone, bubble.Goroutines())
		})
	}
}

func TestGoroutinesOutsideOfABubble(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, "bubble: Goroutines outside of a bubble", func() { bubble.Goroutines() })
}
