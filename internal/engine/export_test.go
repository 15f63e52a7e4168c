package engine

import (
	"time"

	"github.com/awsretry/awsretry/internal/quota"
	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/retry"
)

// QuotaOf returns the quota of the scope in which an operation began. No two scopes have the same
// quota.
func QuotaOf(t retry.Token) *quota.Quota {
	r, ok := token.Token(t).Owner().(*record)
	if !ok {
		return nil
	}
	return r.scope.quota
}

// Together is the state machine that finds throttles of several scopes.
type Together = together

// Throttle is throttle, at an instant after some start.
func (t *together) Throttle(after time.Duration, service, scope retry.ScopeKey) []retry.ScopeKey {
	return t.throttle(time.Time{}.Add(after), service, scope)
}

// Watched returns how many services are watched.
func (t *together) Watched() int { return len(t.services) }

// Kept returns how many scopes an engine has but for that of the whole and the overflow, and how many
// places it counts as taken.
func Kept(e *Engine) (kept, taken int) {
	for i := range e.scopes.shards {
		kept += len(*e.scopes.shards[i].scopes.Load())
	}
	return kept, e.scopes.taken
}
