package retry

import (
	"cmp"
	"slices"
	"strings"
)

// wholeName stands for the scope of a strategy as a whole where a scope needs a name.
const wholeName = "(all)"

// Hottest returns at most n scopes of the snapshots, the hottest first, and the rest as one scope.
// It is for metrics, which cannot show each of ten thousand scopes. It changes no snapshot.
//
// A scope is hotter than another one if more attempts wait in it, or if as many wait and more of
// its quota is used. Scopes that are equally hot are sorted by name. name returns the text that
// stands for a scope; where it is empty, the scope belongs to the rest. It is called for each scope,
// and nil means the text of the [ScopeKey], or "(all)" for the scope of a strategy as a whole. With
// an n of zero or less all scopes belong to the rest.
//
// Scopes with the same text count as one, also those of different strategies: quotas, rates,
// tokens and waiting attempts add up, Limited is true if one of them is limited, and LastThrottle
// is the latest. SendRateSource is that of the first one in adaptive mode. Fields of Key in which
// they differ are empty. It is the same with the rest. Its Scope is empty, and it is zero if there is
// none.
func Hottest(n int, name func(ScopeKey) string, snapshots ...Snapshot) (hot []ScopeSnapshot, rest ScopeSnapshot) {
	n = max(n, 0)
	colder := false
	toRest := func(s *ScopeSnapshot) {
		if colder {
			rest.add(s)
			return
		}
		rest, colder = *s, true
	}
	var hottest []*ScopeSnapshot
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

// named returns one scope for each text, sorted by the texts. Where a scope of a snapshot has another
// text, or is one of several, what it returns is a copy.
func named(name func(ScopeKey) string, snapshots []Snapshot) []*ScopeSnapshot {
	type scope struct {
		*ScopeSnapshot
		text string
	}
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
	// The scopes of a snapshot are sorted already, so that this takes no time for one snapshot.
	slices.SortStableFunc(all, func(a, b scope) int { return strings.Compare(a.text, b.text) })
	distinct := make([]*ScopeSnapshot, 0, len(all))
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
			sum.add(s.ScopeSnapshot)
		}
		distinct, all = append(distinct, sum), all[same:]
	}
	return distinct
}

// hotter orders scopes, the hottest first.
func hotter(a, b *ScopeSnapshot) int {
	return cmp.Or(
		cmp.Compare(b.Waiting, a.Waiting),
		cmp.Compare(b.QuotaCapacity-b.Quota, a.QuotaCapacity-a.Quota),
		strings.Compare(a.Scope, b.Scope),
	)
}

// add makes s a scope that stands for another one besides.
func (s *ScopeSnapshot) add(other *ScopeSnapshot) {
	for _, part := range [...]struct {
		mine   *string
		theirs string
	}{
		{&s.Key.Scope, other.Key.Scope},
		{&s.Key.Account, other.Key.Account},
		{&s.Key.Service, other.Key.Service},
		{&s.Key.Region, other.Key.Region},
		{&s.Key.Name, other.Key.Name},
		{&s.Key.Resource, other.Key.Resource},
	} {
		if *part.mine != part.theirs {
			*part.mine = ""
		}
	}
	s.Key.overflow = s.Key.overflow && other.Key.overflow
	s.SendRateSource = cmp.Or(s.SendRateSource, other.SendRateSource)
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
}
