// Package model plays random operations at what is tested and at a model of it that is as plain as possible.
package model

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Play plays a game in a bubble with each of so many seeds, and with any other under go test -fuzz. A game that fails prints
// its steps.
func Play(f *testing.F, seeds uint64, game func(p *Player)) {
	f.Helper()
	for seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			t.Helper()
			p := &Player{T: t, Rand: rand.New(rand.NewPCG(seed, 1))}
			defer func() {
				if t.Failed() {
					t.Logf("seed %d, steps:\n%s", seed, strings.Join(p.steps, "\n"))
				}
			}()
			game(p)
		})
	})
}

// Player draws what happens next in a game.
type Player struct {
	*testing.T
	*rand.Rand

	steps []string
}

// Step notes what happens next.
func (p *Player) Step(format string, args ...any) {
	p.steps = append(p.steps, fmt.Sprintf(format, args...))
}

// Once reports true once in n times.
func (p *Player) Once(n int) bool { return p.IntN(n) == 0 }

// From draws one of the values.
func From[T any](p *Player, values ...T) T { return values[p.IntN(len(values))] }

// Pause draws a time in which nothing happens: none, or one to the edge of a window of half a second, or any.
func (p *Player) Pause() time.Duration {
	return From(p, 0, time.Duration(1+p.IntN(6))*time.Second/4, 1+time.Duration(p.Int64N(1e9)), 1+time.Duration(p.Int64N(8e9)))
}
