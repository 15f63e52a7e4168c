package hottest

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/awsretry/awsretry/retry"
)

const (
	// stay is how long a scope is shown after it was among the hottest: on a graph with a sample every 15 s, a line of
	// 20 points. It is also the window of the rates in the alerts.
	stay = 5 * time.Minute
	// halving is the half-life of the remembered heat of a scope. Uniform load moves the heat of a scope up and
	// down within seconds, and an hour-old peak says nothing.
	halving = time.Minute
	// A scope is clearly hotter than the remembered heat of another if its waiting attempts exceed twice those by
	// more than this, or its used quota exceeds twice that by more than this share of its capacity. Small numbers
	// double by chance.
	clearlyWaiting = 5
	clearlyUsed    = 0.25
)

// members are the scopes that are shown. Each keeps its place for five minutes after it was last one of the hottest,
// unless another scope is clearly hotter than it was in the last minutes. A scope without heat, shown only because
// there was a free place, yields it to the first that has some. The zero value has no members.
type members struct {
	byName map[string]*member
	last   time.Time // of the latest update
}

// member is the remembered state of a scope.
type member struct {
	name          string
	waiting, used float64   // its heat: the largest, halved each minute
	until         time.Time // keeps its place until then; zero if it was never hot
}

// update returns the scopes to show from now on, the hottest first. The names in all are unique, and a scope without a
// name is never shown. A time before that of an earlier update counts as that time.
func (m *members) update(now time.Time, limit int, all []*retry.ScopeSnapshot) []*retry.ScopeSnapshot {
	left := 1.0 // of the heat that is remembered
	if passed := now.Sub(m.last); passed > 0 {
		left = math.Exp2(-passed.Seconds() / halving.Seconds())
		m.last = now
	}
	top := hottest(limit, all)
	shown := make([]*retry.ScopeSnapshot, 0, limit)
	var leaving []*retry.ScopeSnapshot // members that are not in top
	for _, s := range all {
		known := m.byName[s.Scope]
		if known == nil {
			continue
		}
		known.waiting = max(known.waiting*left, float64(s.Waiting))
		known.used = max(known.used*left, float64(used(s)))
		if _, hot := slices.BinarySearchFunc(top, s, hotter); hot {
			if until := m.keep(s); until.After(known.until) {
				known.until = until
			}
			shown = append(shown, s)
		} else {
			leaving = append(leaving, s)
		}
	}
	// First those that no longer keep their place, within each group the coldest first.
	slices.SortFunc(leaving, func(a, b *retry.ScopeSnapshot) int {
		x, y := m.byName[a.Scope], m.byName[b.Scope]
		if stays := y.until.After(m.last); stays != x.until.After(m.last) {
			return map[bool]int{true: -1, false: 1}[stays]
		}
		return cmp.Or(cmp.Compare(x.waiting, y.waiting), cmp.Compare(x.used, y.used), hotter(b, a))
	})
	for _, s := range top {
		if m.byName[s.Scope] != nil {
			continue
		}
		if len(shown)+len(leaving) >= limit {
			if !m.replaces(s, leaving[0]) {
				break
			}
			leaving = leaving[1:]
		}
		shown = append(shown, s)
	}
	shown = append(shown, leaving...)
	slices.SortFunc(shown, hotter)
	m.remember(shown)
	return shown
}

// replaces reports whether a scope replaces a member.
func (m *members) replaces(s, old *retry.ScopeSnapshot) bool {
	known := m.byName[old.Scope]
	if !known.until.After(m.last) {
		return s.Waiting > old.Waiting || s.Waiting == old.Waiting && used(s) > used(old)
	}
	waiting := float64(s.Waiting)
	return waiting > 2*known.waiting+clearlyWaiting ||
		waiting >= math.Floor(known.waiting) && float64(used(s)) > 2*known.used+clearlyUsed*float64(s.QuotaCapacity)
}

// remember makes the scopes the members.
func (m *members) remember(shown []*retry.ScopeSnapshot) {
	was := m.byName
	m.byName = make(map[string]*member, len(shown))
	for _, s := range shown {
		known := was[s.Scope]
		if known == nil {
			// A clone, because the name may be part of a much longer string.
			known = &member{strings.Clone(s.Scope), float64(s.Waiting), float64(used(s)), m.keep(s)}
		}
		m.byName[known.name] = known
	}
}

// keep returns until when a scope among the hottest keeps its place.
func (m *members) keep(s *retry.ScopeSnapshot) time.Time {
	if s.Waiting == 0 && used(s) == 0 {
		return time.Time{}
	}
	return m.last.Add(stay)
}

// hottest returns the n hottest scopes that have a name, the hottest first.
func hottest(n int, all []*retry.ScopeSnapshot) (top []*retry.ScopeSnapshot) {
	for _, s := range all {
		if s.Scope == "" || n == 0 {
			continue
		}
		if len(top) == n {
			if hotter(top[n-1], s) < 0 {
				continue
			}
			top = top[:n-1]
		}
		place, _ := slices.BinarySearchFunc(top, s, hotter)
		top = slices.Insert(top, place, s)
	}
	return top
}

func used(s *retry.ScopeSnapshot) int { return s.QuotaCapacity - s.Quota }
