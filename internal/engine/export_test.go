package engine

import (
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

// Kept returns how many scopes an engine has but for that of the whole and the overflow, and how many
// places it counts as taken.
func Kept(e *Engine) (kept, taken int) {
	for i := range e.scopes.shards {
		kept += len(*e.scopes.shards[i].scopes.Load())
	}
	return kept, e.scopes.taken
}
