package token_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/model"
	"github.com/awsretry/awsretry/internal/token"
)

// held is a token, and what the model knows of it.
type held struct {
	token.Token
	attempt int
	delay   time.Duration
	stale   bool // of an attempt that is over
}

// A cell serves one operation after the other. The model knows the present token and its phase, 0 when it has been taken. No
// other token, whatever it was once good for, is good for anything or touches the present one.
func FuzzTokens(f *testing.F) {
	model.Play(f, 100, func(p *model.Player) {
		o := newOwner()
		limit, phase, all := 3, token.Issued, []*held{{Token: o.First(3), attempt: 1}}
		for range 100 {
			present := all[len(all)-1]
			h := model.From(p, present, present, model.From(p, all...))
			now := map[bool]token.Phase{false: phase}[h.stale]
			op := model.From(p, "take", "take", "set", "next", "operation", "copy", "while ready")
			p.Step("%s of attempt %d, stale %v, phase %d", op, h.attempt, h.stale, now)
			switch op {
			case "take":
				wanted := token.Phase(p.IntN(int(anyPhase) + 1))
				was, ok := h.Take(wanted)
				require.Equal(p, now&wanted != 0, ok)
				if ok {
					require.Equal(p, now, was)
					phase = 0
				} else {
					require.Zero(p, was)
				}
			case "set": // as a caller that has taken it may
				if !h.stale && phase == 0 {
					phase = model.From(p, token.Issued, token.Ready, token.Refused)
					h.Set(phase)
				}
			case "next", "operation":
				if phase != 0 {
					break
				}
				for _, old := range all {
					old.stale = true
				}
				delay := time.Duration(p.IntN(9))
				next := &held{Token: present.Next(delay), attempt: present.attempt + 1, delay: delay}
				if phase = token.Issued; op == "operation" {
					limit = model.From(p, 1, 3, math.MaxInt32-1, math.MaxInt32, math.MaxInt)
					next = &held{Token: o.First(limit), attempt: 1}
				}
				all = append(all, next)
			case "copy":
				same := *h
				same.delay = time.Second
				same.Token = h.WithDelay(time.Second)
				all = append([]*held{&same}, all...)
			case "while ready":
				called := false
				require.Equal(p, now == token.Ready, h.Ref().WhileReady(func() {
					called = true
					_, ok := h.Take(token.Issued)
					require.False(p, ok)
					require.False(p, h.Ref().WhileReady(nil))
				}))
				require.Equal(p, now == token.Ready, called)
			}
			for _, h := range all {
				require.Equal(p, h.attempt, h.Attempt())
				require.Equal(p, h.delay, h.Delay())
				require.Same(p, o, h.Ref().Owner())
				most, ok := h.Ref().MaxAttempts()
				require.Equal(p, !h.stale && phase != 0, ok)
				if ok {
					require.Equal(p, min(limit, math.MaxInt32), most)
				}
			}
		}
	})
}
