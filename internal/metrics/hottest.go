// Package metrics is what the modules with metrics share: it reads strategies, since metrics cannot show ten thousand scopes,
// and knows the version.
package metrics

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/awsretry/awsretry/retry"
)

// Rest is the name of the scope that sums all scopes without metrics of their own.
const Rest = "other"

// Scopes reads strategies. It is safe for concurrent use.
type Scopes struct {
	Limit int                         // how many to show: those with the most waiting attempts, then the most quota used
	Name  func(retry.ScopeKey) string // called without a lock; "" is the rest; nil means the text of the key, or "(all)"

	mu    sync.Mutex
	shown map[string]bool // at the last reading, at most Limit; guarded by mu
}

// Reading is the state of strategies that metrics show.
type Reading struct {
	// Snapshot has sums, and the scopes to show, the rest last. Scopes with the same text count as one: numbers add up,
	// but FleetRate is the largest, because strategies with one scope report one fleet. A service or region of Key in
	// which they differ is empty. The worst SendRateSource counts.
	retry.Snapshot
	// AllScopes is how many scopes there are. PoolsEmpty counts the strategies in which neither the quota of some
	// scope nor the pool pays for a retry, StoresUnreached those that never got an answer of the store of their fleet.
	AllScopes, PoolsEmpty, StoresUnreached int
	Kinds                                  [][3]string // mode, attempts and behavior of the distinct strategies, sorted
}

// Read takes a snapshot of each strategy.
func (s *Scopes) Read(strategies []retry.Strategy) (r Reading) {
	var all []*retry.ScopeSnapshot
	for _, strategy := range strategies {
		one, plan := strategy.Snapshot(), strategy.Plan(retry.Operation{})
		r.Pool, r.PoolCapacity = r.Pool+one.Pool, r.PoolCapacity+one.PoolCapacity
		r.AllScopes, r.Overflowed, r.Evicted = r.AllScopes+len(one.Scopes), r.Overflowed+one.Overflowed, r.Evicted+one.Evicted
		r.Kinds = append(r.Kinds, [3]string{Label(one.Mode), strconv.Itoa(plan.MaxAttempts), Label(string(one.Behavior))})
		if one.EvictedStrainedCalls > 0 {
			all = append(all, &retry.ScopeSnapshot{Scope: Rest, StrainedCalls: one.EvictedStrainedCalls, RefusedCalls: one.EvictedRefusedCalls})
		}
		empty, calls, failures := false, uint64(0), uint64(0) // each scope may have a call in progress, which already counts
		all = slices.Grow(all, len(one.Scopes))
		for i := range one.Scopes {
			scope := &one.Scopes[i]
			empty = empty || scope.Key != retry.ScopeKey{} && max(scope.Quota, one.Pool) < plan.RetryCost
			failures, calls = failures+scope.StoreFailures, calls+scope.StoreCalls-min(scope.StoreCalls, 1)
			name := cmp.Or(scope.Scope, "(all)")
			if s.Name != nil {
				name = cmp.Or(s.Name(scope.Key), Rest)
			}
			if name = Label(name); name != scope.Scope { // the snapshot itself stays as it is
				scope = new(*scope)
				scope.Scope = name
			}
			all = append(all, scope)
		}
		if empty {
			r.PoolsEmpty++
		}
		if failures > 0 && calls <= failures {
			r.StoresUnreached++
		}
	}
	slices.SortFunc(r.Kinds, func(a, b [3]string) int { return slices.Compare(a[:], b[:]) })
	r.Kinds, r.Scopes = slices.Compact(r.Kinds), s.choose(all)
	return r
}

// choose returns the hottest scopes, then the rest. One that was shown gives way only to one that is clearly hotter, since
// small numbers double by chance: under a uniform load others are the hottest at each scrape, and each would be a series.
func (s *Scopes) choose(all []*retry.ScopeSnapshot) (chosen []retry.ScopeSnapshot) {
	slices.SortStableFunc(all, func(a, b *retry.ScopeSnapshot) int { return strings.Compare(a.Scope, b.Scope) })
	s.mu.Lock()
	defer s.mu.Unlock()
	var hot []*retry.ScopeSnapshot // the hottest first
	var rest *retry.ScopeSnapshot
	for len(all) > 0 {
		scope := all[0]
		for all = all[1:]; len(all) > 0 && all[0].Scope == scope.Scope; all = all[1:] {
			scope = add(new(*scope), all[0])
		}
		if scope.Scope == Rest {
			rest = add(rest, scope)
			continue
		}
		at, _ := slices.BinarySearchFunc(hot, scope, hotter)
		if hot = slices.Insert(hot, at, scope); len(hot) <= s.Limit {
			continue
		}
		out, coldest := len(hot)-1, hot[len(hot)-1] // at most Limit were shown, so there is a newcomer
		for s.shown[hot[out].Scope] {
			out--
		}
		if clearlyHotter(hot[out], coldest) {
			out = len(hot) - 1
		}
		rest, hot = add(rest, hot[out]), slices.Delete(hot, out, out+1)
	}
	s.shown = make(map[string]bool, len(hot))
	for _, scope := range hot {
		s.shown[strings.Clone(scope.Scope)] = true // it may be a part of a longer text
		chosen = append(chosen, *scope)
	}
	if rest != nil {
		rest.Scope = Rest
		chosen = append(chosen, *rest)
	}
	return chosen
}

// Label turns a text into a label: cut after 200 bytes, and valid UTF-8.
func Label(text string) string { return strings.ToValidUTF8(text[:min(len(text), 200)], "\uFFFD") }

func used(s *retry.ScopeSnapshot) int { return s.QuotaCapacity - s.Quota }

func hotter(a, b *retry.ScopeSnapshot) int {
	return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(used(b), used(a)), strings.Compare(a.Scope, b.Scope))
}

func clearlyHotter(a, b *retry.ScopeSnapshot) bool {
	return a.Waiting > 2*b.Waiting+5 || a.Waiting >= b.Waiting && used(a) > 2*used(b)+a.QuotaCapacity/4 ||
		b.Waiting+used(b) == 0 && a.Waiting+used(a) > 0
}

// add adds another scope to s, which nil begins, and returns s.
func add(s, other *retry.ScopeSnapshot) *retry.ScopeSnapshot {
	if s == nil {
		return new(*other)
	}
	if s.Key.Service != other.Key.Service {
		s.Key.Service = ""
	}
	if s.Key.Region != other.Key.Region {
		s.Key.Region = ""
	}
	if was := s.SendRateSource; was == "" || was != "fleet-lost" && strings.HasPrefix(other.SendRateSource, "fleet") {
		s.SendRateSource = other.SendRateSource
	}
	s.Quota, s.QuotaCapacity = s.Quota+other.Quota, s.QuotaCapacity+other.QuotaCapacity
	s.StrainedCalls, s.RefusedCalls = s.StrainedCalls+other.StrainedCalls, s.RefusedCalls+other.RefusedCalls
	s.Limited, s.FillRate, s.MeasuredRate = s.Limited || other.Limited, s.FillRate+other.FillRate, s.MeasuredRate+other.MeasuredRate
	s.SendTokens, s.Waiting, s.FleetRate = s.SendTokens+other.SendTokens, s.Waiting+other.Waiting, max(s.FleetRate, other.FleetRate)
	s.StoreCalls, s.StoreFailures = s.StoreCalls+other.StoreCalls, s.StoreFailures+other.StoreFailures
	return s
}
