package redisstore

import (
	"context"
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry/fleet"
)

// source does what [fleet.Step] does, and keeps the state.
//
//go:embed script.lua
var source string

// FromScript returns a [fleet.Store] on a client for Valkey or Redis other than go-redis. call must
// run EVALSHA with the SHA-1 digest sha, the one key and the arguments, and if the server answers
// NOSCRIPT, run EVAL with the source exactly once instead. It must not repeat a call otherwise,
// must return soon after ctx is done, and must return the strings of the result. call must be safe
// for concurrent use.
//
// The member gets an error that wraps [fleet.ErrRejected] if the error of call has the text of a
// server that forbids the script, does not accept the user, does not know a command, has something
// else under the key, or is a cluster node without the key.
func FromScript(
	call func(ctx context.Context, sha, source, key string, args []string) ([]string, error),
) fleet.Store {
	digest := sha1.Sum([]byte(source))
	return scripted{call: call, sha: hex.EncodeToString(digest[:])}
}

// scripted is a store that runs the script.
type scripted struct {
	call func(ctx context.Context, sha, source, key string, args []string) ([]string, error)
	sha  string
}

// Call runs the script.
func (s scripted) Call(ctx context.Context, key string, ask fleet.Ask) (fleet.Reply, error) {
	fields, err := s.call(ctx, s.sha, source, key, arguments(ask))
	if err != nil {
		return fleet.Reply{}, explain(err)
	}
	return parseReply(fields, ask.Want)
}

// arguments returns the arguments of the script, which cleans them itself.
func arguments(ask fleet.Ask) []string {
	return []string{
		ask.Seed, strconv.FormatUint(ask.Epoch, 10),
		number(ask.OK), number(ask.Bad), number(ask.Want), number(ask.Starting), number(ask.Ceiling),
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'e', 16, 64) }

// causes are parts of errors, and what an operator can do about them. final means that every later
// call fails too: the server forbids the script or the key, does not know the user or a command,
// keeps something else under the key, or is a cluster when the client expects none, or the reverse.
// Servers before 7 put the error of a command within a script into a longer text, and each version
// words it differently.
var causes = []struct { //nolint:gochecknoglobals // constant
	advice string
	final  bool
	parts  []string
}{
	{
		"the server wants a log-in: set user name and password", true,
		[]string{"NOAUTH", "unauthenticated"}, // the second one is for a call with more than ten words
	},
	{"user name or password is wrong", true, []string{"WRONGPASS", "invalid password"}}, // the second one before 6
	{"the server has no password: leave it out", true, []string{"no password is set"}},  // before 6
	{
		"allow the user GET, SET, DEL, TIME, EVALSHA and EVAL on the keys with the prefix", true,
		[]string{"NOPERM", "user executing the script", "ACL failure in script"}, // within a script, from 6 and from 7.2 on
	},
	{"MasterName is for the addresses of Sentinels", true, []string{"unknown command 'sentinel'", "unknown command `sentinel`"}},
	{
		"the server must know GET, SET, DEL, TIME, EVALSHA and EVAL", true,
		[]string{"unknown command", "command called from", "not allowed from script"}, // the last two within a script
	},
	{"another program has a key with this name: delete it, or choose another prefix", true, []string{"WRONGTYPE"}},
	{"the server is a cluster: set IsClusterMode", true, []string{"MOVED"}},
	{"the server is no cluster: leave IsClusterMode out, and give one address", true, []string{"cluster support disabled"}},
	{"this is a replica: give the address of the master", false, []string{"READONLY"}},
	{"the memory of the server is full: give it more, or a maxmemory-policy that evicts keys", false, []string{"OOM "}},
	{"the server has no such database: leave DB out", false, []string{"DB index"}},
	{"TLSConfig must know the authority of the server's certificate, and its name", false, []string{"x509"}},
	{"it does not speak the protocol: look at the port and at TLSConfig", false, []string{"can't parse", "invalid reply", "tls: "}},
	{
		"look at the address, at the network, and whether the server runs and wants TLS", false,
		[]string{"dial ", "EOF", "i/o timeout", "deadline exceeded", "connection reset"},
	},
}

// explain says whose error it is, whether a later call can succeed, and what an operator can do.
func explain(err error) error {
	text, _, has := strings.Cut(err.Error(), ", with args beginning with")
	if has { // of an unknown command; those of AUTH are the user and the password
		err = errors.New(text)
	}
	for _, c := range causes {
		switch {
		case !slices.ContainsFunc(c.parts, func(part string) bool { return strings.Contains(text, part) }):
		case c.final:
			return fmt.Errorf("redisstore: %w: %w; %s", fleet.ErrRejected, err, c.advice)
		default:
			return fmt.Errorf("redisstore: %w; %s", err, c.advice)
		}
	}
	return fmt.Errorf("redisstore: %w", err)
}

// The bounds of a reply. No duration of the script is longer than 20.5 s.
const (
	mostEpoch   = 1 << 52
	mostRate    = 1e9
	mostSeconds = 60
	mostSlots   = 1e9
	mostState   = 1000 // bytes
)

var errReply = errors.New("the reply is not one of the script")

// parseReply reads the result of the script for a member that wants this many slots.
func parseReply(fields []string, want float64) (fleet.Reply, error) {
	if len(fields) == 0 {
		return fleet.Reply{}, nil
	}
	refuse := func(what string) (fleet.Reply, error) {
		return fleet.Reply{}, fmt.Errorf("redisstore: %w: %w: %s", fleet.ErrRejected, errReply, what)
	}
	if len(fields) != 7 {
		return refuse(fmt.Sprintf("%d fields", len(fields)))
	}
	names := [...]string{"epoch", "rate", "again", "slots", "start", "gap"}
	most := [...]float64{mostEpoch, mostRate, mostSeconds, mostSlots, mostSeconds, mostSeconds}
	var values [len(names)]float64
	for i, name := range names {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil || !(value >= 0 && value <= most[i]) {
			return refuse(name)
		}
		values[i] = value
	}
	epoch, slots, state := values[0], values[3], fields[6]
	switch {
	case epoch < 1 || epoch != math.Floor(epoch):
		return refuse("epoch")
	case slots != math.Floor(slots) || slots > 0 && !(slots <= want):
		return refuse("slots")
	case state == "" || len(state) > mostState:
		return refuse("state")
	}
	return fleet.Reply{
		Epoch: uint64(epoch),
		Rate:  values[1],
		Again: seconds(values[2]),
		Slots: int(slots),
		Start: seconds(values[4]),
		Gap:   seconds(values[5]),
		State: state,
	}, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
