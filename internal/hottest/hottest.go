// Package hottest picks scopes for metrics, which cannot show each of ten thousand.
package hottest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/awsretry/awsretry/retry"
)

// wholeName stands for the scope of a strategy as a whole where a scope needs a name.
const wholeName = "(all)"

// Scopes returns at most n scopes of the snapshots, the hottest first, and the rest as one scope.
// It changes no snapshot.
//
// A scope is hotter than another one if more attempts wait in it, or if as many wait and more of
// its quota is used. Scopes that are equally hot are sorted by name. name returns the text that
// stands for a scope; where it is empty, the scope belongs to the rest. It is called for each scope,
// and nil means the text of the [retry.ScopeKey], or "(all)" for the scope of a strategy as a whole. With
// an n of zero or less all scopes belong to the rest.
//
// Scopes with the same text count as one, also those of different strategies: quotas, rates,
// tokens and waiting attempts add up, Limited is true if one of them is limited, and LastThrottle
// is the latest. Fields of Key in which they differ are empty. SendRateSource is "fleet-lost" if one of
// them has lost the store of its fleet, else "fleet" if one of them is in a fleet, else that of the
// first one in adaptive mode. The rest is summed the same way; its Scope is empty, and it is the
// zero value when nothing is left over.
//
// FleetRate counts once for each Key: strategies with the same scope say the rate of the same fleet,
// and the largest of what they say counts. The rates of different Keys add up. StoreCalls and
// StoreFailures always add up, because each limiter makes calls of its own. The sums can get smaller
// from one call to the next, when a scope is dropped or joins or leaves the rest.
func Scopes(n int, name func(retry.ScopeKey) string, snapshots ...retry.Snapshot) (hot []retry.ScopeSnapshot, rest retry.ScopeSnapshot) {
	n = max(n, 0)
	colder := false
	toRest := func(s *retry.ScopeSnapshot) {
		if colder {
			add(&rest, s)
			return
		}
		rest, colder = *s, true
	}
	var hottest []*retry.ScopeSnapshot
	for _, s := range named(name, snapshots) {
		switch {
		case s.Scope == "" || n == 0:
			toRest(s)
			continue
		case len(hottest) < n:
		case hotter(hottest[n-1], s) < 0:
			toRest(s)
			continue
		default:
			toRest(hottest[n-1])
			hottest = hottest[:n-1]
		}
		place, _ := slices.BinarySearchFunc(hottest, s, hotter)
		hottest = slices.Insert(hottest, place, s)
	}
	for _, s := range hottest {
		hot = append(hot, *s)
	}
	rest.Scope = ""
	return hot, rest
}

// scope is a scope with the text that stands for it.
type scope struct {
	*retry.ScopeSnapshot
	text string
}

// named returns one scope for each text, sorted by the texts. Where a scope of a snapshot has another
// text, or is one of several, what it returns is a copy.
func named(name func(retry.ScopeKey) string, snapshots []retry.Snapshot) []*retry.ScopeSnapshot {
	var all []scope
	for _, snapshot := range snapshots {
		all = slices.Grow(all, len(snapshot.Scopes))
		for i := range snapshot.Scopes {
			s := scope{&snapshot.Scopes[i], cmp.Or(snapshot.Scopes[i].Scope, wholeName)}
			if name != nil {
				s.text = name(s.Key)
			}
			all = append(all, s)
		}
	}
	// The scopes of a snapshot are sorted already, so that this takes no time for one snapshot. Those with
	// the same key have to be neighbours for fleetRate.
	slices.SortStableFunc(all, func(a, b scope) int {
		if order := strings.Compare(a.text, b.text); order != 0 {
			return order
		}
		return strings.Compare(a.Scope, b.Scope)
	})
	distinct := make([]*retry.ScopeSnapshot, 0, len(all))
	for len(all) > 0 {
		first, same := all[0], 1
		for same < len(all) && all[same].text == first.text {
			same++
		}
		sum := first.ScopeSnapshot
		if same > 1 || sum.Scope != first.text {
			sum = new(*sum)
			sum.Scope = first.text
		}
		for _, s := range all[1:same] {
			add(sum, s.ScopeSnapshot)
		}
		if same > 1 {
			sum.FleetRate = fleetRate(all[:same])
		}
		distinct, all = append(distinct, sum), all[same:]
	}
	return distinct
}

// fleetRate returns the sum of the rates of fleets. Neighbours with the same key count once.
func fleetRate(scopes []scope) (sum float64) {
	var one float64
	for i, s := range scopes {
		if i > 0 && s.Key != scopes[i-1].Key {
			sum, one = sum+one, 0
		}
		one = max(one, s.FleetRate)
	}
	return sum + one
}

// hotter orders scopes, the hottest first.
func hotter(a, b *retry.ScopeSnapshot) int {
	return cmp.Or(
		cmp.Compare(b.Waiting, a.Waiting),
		cmp.Compare(b.QuotaCapacity-b.Quota, a.QuotaCapacity-a.Quota),
		strings.Compare(a.Scope, b.Scope),
	)
}

// add makes s a scope that stands for another one besides.
func add(s, other *retry.ScopeSnapshot) {
	if a, b := s.Key, other.Key; a != b {
		s.Key = retry.ScopeKey{
			Scope: common(a.Scope, b.Scope), Account: common(a.Account, b.Account), Service: common(a.Service, b.Service),
			Region: common(a.Region, b.Region), Name: common(a.Name, b.Name), Resource: common(a.Resource, b.Resource),
		}
	}
	s.SendRateSource = worse(s.SendRateSource, other.SendRateSource)
	s.Quota += other.Quota
	s.QuotaCapacity += other.QuotaCapacity
	s.Limited = s.Limited || other.Limited
	s.FillRate += other.FillRate
	s.MeasuredRate += other.MeasuredRate
	s.SendTokens += other.SendTokens
	s.SendCapacity += other.SendCapacity
	s.Waiting += other.Waiting
	if other.LastThrottle.After(s.LastThrottle) {
		s.LastThrottle = other.LastThrottle
	}
	s.FleetRate += other.FleetRate
	s.StoreCalls += other.StoreCalls
	s.StoreFailures += other.StoreFailures
}

// common returns the text that two scopes share.
func common(a, b string) string {
	if a != b {
		return ""
	}
	return a
}

// worse returns the source of a send rate that an operator has to see before the other one.
func worse(a, b string) string {
	for _, word := range [...]string{"fleet-lost", "fleet"} {
		if a == word || b == word {
			return word
		}
	}
	return cmp.Or(a, b)
}
