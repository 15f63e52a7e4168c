package redisstore

import (
	"context"
	"strings"

	"github.com/awsretry/awsretry/fleet"
)

// Check tests at the start of a program whether a fleet can use the store: whether the server
// answers, accepts the user, runs the script and allows the user all of its commands. The error
// says what to do, and wraps [fleet.ErrRejected] if every later call would fail too. A program may
// log it and go on, because its members use their own send rates meanwhile.
//
// Check makes three small calls on the key "check" under the prefix, and deletes it. An ACL must
// allow the user this key. Check does not see what other programs keep under the keys of the fleet,
// and in a cluster it checks only the node of one key. It does not compare clocks, because the
// fleet uses no time of day, neither of the server nor of the program.
//
// It returns soon after the deadline of ctx. Without a deadline, it waits for a server that does
// not answer until the DialTimeout or ReadTimeout of the options.
func (s *Store) Check(ctx context.Context) error {
	// No script has this digest, so the server needs the source, as after a restart.
	asNew := scripted{call: s.run, sha: strings.Repeat("0", 40)}
	key := s.prefix + "check"
	if _, err := asNew.Call(ctx, key, fleet.Ask{Bad: 1}); err != nil { // keeps a state
		return err
	}
	// This seed is newer, and its scope is open by now, so the script deletes the state.
	_, err := s.script.Call(ctx, key, fleet.Ask{Seed: "0 5 1 1 0 0 0 0 0 0 0 0 0 601"})
	return err
}
