// Package hottest reads strategies for metrics, which cannot show ten thousand scopes.
package hottest

import (
	"cmp"
	"maps"
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
	limit int
	name  func(retry.ScopeKey) string

	mu    sync.Mutex
	shown map[string]bool // at the last reading; guarded by mu
}

// New returns Scopes that show n scopes: those with the most waiting attempts, then the most quota used. name is called
// without a lock; an empty text is the rest. Nil means the text of the key, "(all)" for the strategy as a whole.
func New(n int, name func(retry.ScopeKey) string) *Scopes {
	return &Scopes{limit: max(n, 0), name: name}
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
	byName := map[string]*retry.ScopeSnapshot{}
	for _, strategy := range strategies {
		one, plan := strategy.Snapshot(), strategy.Plan(retry.Operation{})
		r.Pool, r.PoolCapacity = r.Pool+one.Pool, r.PoolCapacity+one.PoolCapacity
		r.AllScopes, r.Overflowed, r.Evicted = r.AllScopes+len(one.Scopes), r.Overflowed+one.Overflowed, r.Evicted+one.Evicted
		r.Kinds = append(r.Kinds, [3]string{Label(one.Mode), strconv.Itoa(plan.MaxAttempts), Label(string(one.Behavior))})
		empty, calls, failures := false, uint64(0), uint64(0) // each scope may have a call in progress, which already counts
		scopes := slices.Clone(one.Scopes)
		for i := range scopes {
			scope := &scopes[i]
			empty = empty || scope.Key != retry.ScopeKey{} && max(scope.Quota, one.Pool) < plan.RetryCost
			failures, calls = failures+scope.StoreFailures, calls+scope.StoreCalls-min(scope.StoreCalls, 1)
			if scope.Scope = cmp.Or(scope.Scope, "(all)"); s.name != nil {
				scope.Scope = cmp.Or(s.name(scope.Key), Rest)
			}
			if scope.Scope = Label(scope.Scope); byName[scope.Scope] == nil {
				byName[scope.Scope] = scope
			} else {
				add(byName[scope.Scope], scope)
			}
		}
		if empty {
			r.PoolsEmpty++
		}
		if failures > 0 && calls <= failures {
			r.StoresUnreached++
		}
	}
	slices.SortFunc(r.Kinds, func(a, b [3]string) int { return slices.Compare(a[:], b[:]) })
	r.Kinds, r.Scopes = slices.Compact(r.Kinds), s.choose(byName)
	return r
}

// choose returns the hottest scopes, then the rest. One that was shown gives way only to one that is clearly hotter, since
// small numbers double by chance: under a uniform load others are the hottest at each scrape, and each would be a series.
func (s *Scopes) choose(byName map[string]*retry.ScopeSnapshot) (chosen []retry.ScopeSnapshot) {
	rest := byName[Rest]
	delete(byName, Rest)
	all := slices.SortedFunc(maps.Values(byName), hotter)
	n := min(s.limit, len(all))
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, j := n-1, n; i >= 0; i-- {
		if s.shown[all[i].Scope] {
			continue
		}
		for j < len(all) && (!s.shown[all[j].Scope] || all[j].Waiting+used(all[j]) == 0) {
			j++
		}
		if j == len(all) || clearlyHotter(all[i], all[j]) {
			break
		}
		all[i], all[j] = all[j], all[i]
	}
	slices.SortFunc(all[:n], hotter)
	s.shown = make(map[string]bool, n)
	for _, scope := range all[:n] {
		s.shown[strings.Clone(scope.Scope)] = true // it may be a part of a longer text
		chosen = append(chosen, *scope)
	}
	others := all[n:]
	if rest != nil {
		others = append(others, rest)
	}
	for _, scope := range others[min(1, len(others)):] {
		add(others[0], scope)
	}
	if len(others) > 0 {
		others[0].Scope = Rest
		chosen = append(chosen, *others[0])
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
	return a.Waiting > 2*b.Waiting+5 || a.Waiting >= b.Waiting && used(a) > 2*used(b)+a.QuotaCapacity/4
}

// add adds another scope to s.
func add(s, other *retry.ScopeSnapshot) {
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
}
