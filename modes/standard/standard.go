package standard

import (
	"github.com/awsretry/awsretry/internal/engine"
	"github.com/awsretry/awsretry/retry"
)

// New returns a standard-mode strategy, or the error of [Config.Validate]. It is safe for
// concurrent use and meant to be shared by all operations of a client.
//
//   - The first attempt is free. A retry takes its cost from the quota of the scope, or from the
//     pool if that quota has too few tokens.
//   - A success on the first attempt gives one token to the quota. A success after retries returns
//     the cost of the last retry to the quota or pool that paid it.
//   - A failure gives nothing back, except the cost of a retry that was granted but not made.
func New(config Config) (retry.Strategy, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	return engine.New(config.Engine())
}
