// Package redisstore is a [fleet.Store] on Valkey or Redis, version 5 or newer, also in cluster
// mode and behind Sentinel. [New] uses go-redis. [FromScript] is for other clients.
//
// The state of a scope is one string of about 130 bytes under one key. A script changes it, in
// about 30 microseconds of server time. The server needs neither persistence nor replicas: the
// members restore a state that the server has lost. A user of an ACL must be allowed EVALSHA,
// EVAL, GET, SET, DEL and TIME on the keys with the prefix.
package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
)

// Config are the settings of a [Store].
type Config struct {
	// Options say where the server is and how to log in; required. New copies them and changes
	// in its copy what concerns pools, repetitions, reads from replicas and calls without an end.
	// DialTimeout and ReadTimeout limit what goes on after [Store.Call] has returned. In cluster
	// mode with a single address, IsClusterMode must be set. go-redis logs failed connections
	// with a logger that is common to all clients: redis.SetLogger changes it.
	Options *redis.UniversalOptions
	// Prefix comes before each key; empty means "awsretry:". All members of a fleet must have
	// the same one.
	Prefix string

	clock clock.Clock // nil: clock.System
}

const (
	// rebuildAfter is for how long every call must fail until the client is made anew. Clients of
	// a cluster keep the address of a master that has gone for longer than a minute.
	rebuildAfter = 5 * time.Second
	// turnWait is how long a command waits for a free connection, whether its caller still does
	// or not. With a longer wait, the connections of a process with too many calls would serve
	// those whose callers have gone.
	turnWait = 100 * time.Millisecond
)

// Store is a [fleet.Store] on go-redis, with a small client of its own. It is safe for concurrent
// use.
type Store struct {
	script  fleet.Store
	options redis.UniversalOptions
	prefix  string
	clock   clock.Clock

	mu      sync.Mutex
	current *client
	failing time.Time // since when every call fails; zero if the last command succeeded
	closed  bool
}

// client is closed when the store has left it and its last call has returned. That ends the
// commands that are still under way.
type client struct {
	redis.UniversalClient

	calls int
	left  bool
}

// New returns a store. It does not connect. An error names the field that is wrong.
func New(c Config) (*Store, error) {
	if c.Options == nil {
		return nil, errors.New("redisstore: Config.Options: missing")
	}
	for _, address := range c.Options.Addrs {
		if strings.Contains(address, "@") || strings.Contains(address, "://") {
			// Not even the address is part of the error, because a password may be in it.
			return nil, errors.New("redisstore: Config.Options.Addrs: has a URL and not a host and port")
		}
	}
	s := &Store{options: own(*c.Options), prefix: c.Prefix, clock: c.clock}
	if s.prefix == "" {
		s.prefix = "awsretry:"
	}
	if s.clock == nil {
		s.clock = clock.System{}
	}
	s.script = FromScript(s.run)
	s.current = connect(s.options)
	return s, nil
}

// own returns options for a client that makes a few small calls, each at most once.
func own(o redis.UniversalOptions) redis.UniversalOptions {
	o.Addrs = slices.Clone(o.Addrs)
	o.MaxRetries = -1
	o.DialerRetries = 1
	// With a negative one a command without an answer would keep its connection.
	o.ReadTimeout, o.WriteTimeout = max(o.ReadTimeout, 0), max(o.WriteTimeout, 0)
	// Connections are opened when calls need them: one is enough for a store at 1 ms, even with
	// hundreds of scopes. Eight serve 160 calls per second if each takes 50 ms, where two would
	// let the calls of five busy scopes wait until they fail.
	o.PoolSize, o.PipelinePoolSize, o.PoolTimeout = 8, -1, turnWait
	o.MinIdleConns, o.MaxIdleConns, o.MaxActiveConns, o.MaxConcurrentDials = 0, 0, 0, 0
	// Some servers reject these commands.
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	// The script writes.
	o.ReadOnly, o.RouteByLatency, o.RouteRandomly = false, false, false
	// With both, the client would look for replicas to read from.
	o.IsClusterMode = o.IsClusterMode && o.MasterName == ""
	o.ClientSideCacheConfig, o.ClientSideCache, o.AutoPipelineOptions = nil, nil, nil
	return o
}

func connect(o redis.UniversalOptions) *client {
	if o.MasterName == "" && (len(o.Addrs) > 1 || o.IsClusterMode) {
		cluster := o.Cluster()
		// It would ask for a description of each command, and wait for it longer than ctx allows.
		cluster.DisableRoutingPolicies = true
		return &client{UniversalClient: redis.NewClusterClient(cluster)}
	}
	return &client{UniversalClient: redis.NewUniversalClient(&o)}
}

// Call carries out one step, see [fleet.Store]. It returns an error when ctx is done. Then the
// command goes on in the background, and so does the connection that is being opened for it: a
// later call finds the connection open, however far away the server is. An error that no later
// call can cure wraps [fleet.ErrRejected].
func (s *Store) Call(ctx context.Context, key string, ask fleet.Ask) (fleet.Reply, error) {
	return s.script.Call(ctx, s.prefix+key, ask)
}

// Close closes the connections. Calls that are under way and later calls fail. Further calls of
// Close do nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	already, current := s.closed, s.current
	s.closed = true
	s.mu.Unlock()
	if already {
		return nil
	}
	if err := current.Close(); err != nil {
		return fmt.Errorf("redisstore: close: %w", err)
	}
	return nil
}

// answer is what a command came to.
type answer struct {
	result any
	err    error
}

// run runs the script on the current client. go-redis drops a connection when the context of a
// command ends, so that the command gets one that does not.
func (s *Store) run(ctx context.Context, sha, source, key string, args []string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := s.take()
	if err != nil {
		return nil, err
	}
	answered := make(chan answer, 1)
	go func() {
		a := c.run(context.WithoutCancel(ctx), sha, source, key, args)
		if a.err == nil {
			s.succeeded(c)
		}
		answered <- a
	}()
	var a answer
	select {
	case a = <-answered:
	case <-ctx.Done():
		a.err = ctx.Err()
	}
	if old := s.give(ctx, c, a.err); old != nil {
		_ = old.Close() // the error of a connection that has failed already says nothing new
	}
	if a.err != nil {
		return nil, a.err
	}
	return texts(a.result)
}

// take returns the current client, which the caller must give back.
func (s *Store) take() (*client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, redis.ErrClosed
	}
	s.current.calls++
	return s.current, nil
}

// succeeded notes that a command of the client has succeeded, though its caller may be gone.
func (s *Store) succeeded(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c == s.current {
		s.failing = time.Time{}
	}
}

// give takes back a client and what its call came to. It returns a client that must be closed,
// if any.
func (s *Store) give(ctx context.Context, c *client, err error) *client {
	// Without this the client keeps a master that does not answer for a minute, even if another
	// has taken its place.
	var no redis.Error
	if cluster, ok := c.UniversalClient.(*redis.ClusterClient); ok && err != nil && !errors.As(err, &no) {
		cluster.ReloadState(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.calls--
	switch now := s.clock.Now(); {
	case err == nil || c != s.current || s.closed:
	case s.failing.IsZero():
		s.failing = now
	case now.Sub(s.failing) >= rebuildAfter:
		s.failing = time.Time{}
		c.left = true
		s.current = connect(s.options)
	}
	if c.left && c.calls == 0 {
		return c
	}
	return nil
}

// once is a command that go-redis never repeats: the client of a cluster would repeat it
// in spite of MaxRetries.
type once struct{ *redis.Cmd }

func (once) NoRetry() bool { return true }

// run runs the script, and makes an error of a panic: that of the code in the options that
// returns a password, for example.
func (c *client) run(ctx context.Context, sha, source, key string, args []string) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a.err = fmt.Errorf("panic: %v", p)
		}
	}()
	a = c.process(ctx, "EVALSHA", sha, key, args)
	if a.err != nil && strings.HasPrefix(a.err.Error(), "NOSCRIPT") {
		a = c.process(ctx, "EVAL", source, key, args)
	}
	return a
}

func (c *client) process(ctx context.Context, command, code, key string, args []string) answer {
	words := []any{command, code, 1, key}
	for _, arg := range args {
		words = append(words, arg)
	}
	cmd := redis.NewCmd(ctx, words...)
	err := c.Process(ctx, once{cmd})
	return answer{cmd.Val(), err}
}

// texts returns the strings of a result.
func texts(result any) ([]string, error) {
	list, ok := result.([]any)
	if !ok {
		return nil, fmt.Errorf("%w: %w: no list", fleet.ErrRejected, errReply)
	}
	fields := make([]string, len(list))
	for i, field := range list {
		if fields[i], ok = field.(string); !ok {
			return nil, fmt.Errorf("%w: %w: no string", fleet.ErrRejected, errReply)
		}
	}
	return fields, nil
}
