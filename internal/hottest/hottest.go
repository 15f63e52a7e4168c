// Package hottest picks the scopes of strategies for metrics, which cannot show ten thousand of
// them.
package hottest

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/awsretry/awsretry/retry"
)

const (
	// wholeName stands for the scope of a strategy as a whole where a scope needs a name.
	wholeName = "(all)"
	// Rest is the name of the scope that sums all scopes that are not shown.
	Rest = "other"
	// maxLabel is the maximum length of a label in bytes.
	maxLabel = 200
)

// Scopes picks the scopes that have metrics of their own. It is safe for concurrent use.
type Scopes struct {
	limit int
	name  func(retry.ScopeKey) string

	mu      sync.Mutex
	members members // guarded by mu
}

// New returns Scopes that show at most n scopes. If n is zero or less, all scopes belong to the rest.
//
// name returns the text for a scope; a scope with an empty text belongs to the rest. It is called for each scope,
// without a lock. Nil means the text of the [retry.ScopeKey], or "(all)" for the scope of a strategy as a whole.
func New(n int, name func(retry.ScopeKey) string) *Scopes {
	return &Scopes{limit: max(n, 0), name: name}
}

// Pick returns the scopes of the snapshots to show now, the hottest first, then the sum of all others as one scope
// named [Rest], if there are any. It changes no snapshot.
//
// A scope is hotter than another if more attempts wait in it, or if as many wait and more of its quota is used. Equally
// hot scopes are sorted by name. A scope that is shown keeps its place for a while, see members.
//
// Scopes with the same text count as one, even in different strategies: quotas, rates, tokens and waiting attempts add
// up, Limited is true if one of them is limited, and LastThrottle is the latest. Fields of Key in which they differ are
// empty. SendRateSource is "fleet-lost" if one of them has lost the store of its fleet, else "fleet" if one of them is
// in a fleet, else that of the first one in adaptive mode. The rest is summed the same way. A scope whose text is
// "other" belongs to the rest. Texts are cut after 200 bytes, and invalid UTF-8 is replaced.
//
// FleetRate counts once for each Key: strategies with the same scope report the rate of the same fleet, and the largest
// value counts. The rates of different Keys add up. StoreCalls and StoreFailures always add up, because each limiter
// makes its own calls. The sums can fall from one call to the next, when a scope is dropped or joins or leaves the
// rest.
func (s *Scopes) Pick(now time.Time, snapshots ...retry.Snapshot) []retry.ScopeSnapshot {
	all := named(s.name, snapshots)
	s.mu.Lock()
	shown := s.members.update(now, s.limit, all)
	s.mu.Unlock()
	picked := make([]retry.ScopeSnapshot, 0, len(shown)+1)
	for _, scope := range shown {
		picked = append(picked, *scope)
	}
	var rest *retry.ScopeSnapshot
	for _, scope := range all {
		_, is := slices.BinarySearchFunc(shown, scope, hotter)
		switch {
		case is:
		case rest == nil:
			rest = new(*scope)
		default:
			add(rest, scope)
		}
	}
	if rest != nil {
		rest.Scope = Rest
		picked = append(picked, *rest)
	}
	return picked
}

// Label turns a text into a label: cut to the maximum length, and valid UTF-8.
func Label(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxLabel)], "\uFFFD")
}

// scope is a scope with its text.
type scope struct {
	*retry.ScopeSnapshot
	text string
}

// named returns one scope for each text, sorted by the texts. It copies a scope of a snapshot that
// has another text or is one of several. The scope of the rest has no text.
func named(name func(retry.ScopeKey) string, snapshots []retry.Snapshot) []*retry.ScopeSnapshot {
	var all []scope
	for _, snapshot := range snapshots {
		all = slices.Grow(all, len(snapshot.Scopes))
		for i := range snapshot.Scopes {
			s := scope{&snapshot.Scopes[i], cmp.Or(snapshot.Scopes[i].Scope, wholeName)}
			if name != nil {
				s.text = name(s.Key)
			}
			if s.text = Label(s.text); s.text == Rest {
				s.text = ""
			}
			all = append(all, s)
		}
	}
	// The scopes of a snapshot are already sorted, so this is fast for one snapshot. Those with the same
	// key must be neighbours for fleetRate.
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

// add adds another scope to s.
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
	s.StrainedCalls += other.StrainedCalls
	s.RefusedCalls += other.RefusedCalls
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

// worse returns the source of a send rate that an operator must see first.
func worse(a, b string) string {
	for _, word := range [...]string{"fleet-lost", "fleet"} {
		if a == word || b == word {
			return word
		}
	}
	return cmp.Or(a, b)
}
