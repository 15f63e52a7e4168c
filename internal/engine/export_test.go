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
	return r.scope.Quota
}
