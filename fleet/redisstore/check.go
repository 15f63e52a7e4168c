package redisstore

import (
	"context"
	"strings"

	"github.com/awsretry/awsretry/fleet"
)

// Check tries out at the start of a program whether a fleet can use the store: that the server
// answers, accepts the user, runs the script and allows the user all of its commands. The error
// says what to do, and wraps [fleet.ErrRejected] if every later call would fail, too. A program
// may log it and go on, as its members have send rates of their own for as long.
//
// Check makes three small calls on the key "check" under the prefix, which is gone afterwards. A
// user of an ACL must be allowed this key. What other programs keep under the keys of the fleet
// is not known beforehand, and of a cluster the node of one key is checked. Clocks are not
// compared, because the fleet uses no time of day, neither of the server nor of the program.
//
// It returns soon after the deadline of ctx. Without one, a server that does not answer takes
// the DialTimeout or ReadTimeout of the options.
func (s *Store) Check(ctx context.Context) error {
	// No script has this digest, so that the server needs the source, as after a restart.
	asNew := scripted{call: s.run, sha: strings.Repeat("0", 40)}
	key := s.prefix + "check"
	if _, err := asNew.Call(ctx, key, fleet.Ask{Bad: 1}); err != nil { // keeps a state
		return err
	}
	// This seed is newer, and of a scope that is open by now, so that the state is deleted.
	_, err := s.script.Call(ctx, key, fleet.Ask{Seed: "0 5 1 1 0 0 0 0 0 0 0 0 0 601"})
	return err
}
