package engine

import (
	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// QuotaOf returns the quota of the scope that an operation began with. No two scopes
// have the same one.
func QuotaOf(t retry.Token) *ratelimit.QuotaLine {
	r, ok := token.Token(t).Owner().(*record)
	if !ok {
		return nil
	}
	return r.scope.quota
}
