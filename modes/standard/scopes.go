package standard

import (
	"slices"
	"strings"
	"time"

	"github.com/awsretry/awsretry/internal/scope"
	"github.com/awsretry/awsretry/retry"
)

// Snapshot returns the state of the quotas.
func (s *Strategy) Snapshot() retry.Snapshot {
	if !s.made() {
		return retry.Snapshot{}
	}
	snapshot := retry.Snapshot{
		Mode:       "standard",
		SharedAs:   s.config.SharedAs,
		Overflowed: s.quotas.Overflowed(),
		Evicted:    s.quotas.Evicted(),
	}
	now, inFlight := s.config.Clock.Now(), s.tokens.InFlight()
	s.quotas.Each(func(a *account) {
		snapshot.Scopes = append(snapshot.Scopes, retry.ScopeSnapshot{
			Key: a.Key, Scope: a.Key.String(), InFlight: inFlight[a.Key],
			HasQuota: true, Quota: a.Value.Available(now), QuotaCapacity: a.Value.Capacity(),
		})
	})
	slices.SortFunc(snapshot.Scopes, func(a, b retry.ScopeSnapshot) int { return strings.Compare(a.Scope, b.Scope) })
	return snapshot
}

// enter finds the scope of an operation, which may be new.
func (s *Strategy) enter(t retry.Token, r *retry.Record[operation]) {
	key := r.Scope
	if s.config.QuotaScope != nil {
		key = s.config.QuotaScope(r.Operation)
	}
	for {
		found, news := s.quotas.Get(key)
		r.Hold(&found.Key)
		r.Scope, r.Data = found.Key, operation{scope: found}
		s.tellScopes(t, r, news)
		if !found.Leaving() {
			return
		}
	}
}

// keeps reports whether the user wants to keep a scope.
func (s *Strategy) keeps(a *account, _ time.Time) bool {
	return s.config.KeepScope != nil && s.config.KeepScope(a.Key)
}

// tellScopes tells of scopes that an operation has created and driven out.
func (s *Strategy) tellScopes(t retry.Token, r *retry.Record[operation], news *scope.News[retry.ScopeKey]) {
	if news == nil || s.config.Observer == nil {
		return
	}
	for _, key := range news.Evicted {
		s.tell(r, retry.Event{Kind: retry.ScopeEvicted, Scope: key, Part: retry.QuotaPart, Attempt: t.Attempt()})
	}
	if news.Created {
		s.tell(r, retry.Event{Kind: retry.ScopeCreated, Scope: r.Scope, Part: retry.QuotaPart, Attempt: t.Attempt()})
	}
}
