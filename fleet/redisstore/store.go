// Package redisstore is a [fleet.Store] on Valkey or Redis, version 5 or newer, including cluster
// mode and Sentinel. [New] uses go-redis. [FromScript] is for other clients.
//
// The state of a scope is one string of about 130 bytes under one key. A script changes it in
// 30 to 40 microseconds of server time. The server needs neither persistence nor replicas: the members
// restore a state that it has lost. An ACL must allow the user EVALSHA, EVAL, GET, SET, DEL and
// TIME on the keys with the prefix.
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

// Config configures a [Store].
type Config struct {
	// Options say where the server is and how to log in; required. New copies them and overrides
	// the options for pools, retries, reads from replicas and calls without an end. DialTimeout and
	// ReadTimeout limit what continues after [Store.Call] has returned. In cluster mode with a
	// single address, set IsClusterMode. go-redis logs failed connections with one logger for all
	// clients: redis.SetLogger changes it.
	Options *redis.UniversalOptions
	// Prefix comes before each key; empty means "awsretry:". All members of a fleet must use the
	// same one.
	Prefix string
}

const (
	// rebuildAfter is how long every call must fail before the client is replaced. Cluster clients
	// keep the address of a master that has gone for more than a minute.
	rebuildAfter = 5 * time.Second
	// turnWait is how long a command waits for a free connection, even if its caller has gone. With
	// a longer wait, the connections of a process with too many calls would serve callers that have
	// gone.
	turnWait = 100 * time.Millisecond
)

// Store is a [fleet.Store] on go-redis, with a small client of its own. It is safe for concurrent
// use.
type Store struct {
	script  fleet.Store
	options redis.UniversalOptions
	prefix  string

	mu      sync.Mutex
	current *client
	failing time.Time // since when every call fails; zero if the last command succeeded
	closed  bool
}

// client is closed when the store no longer uses it and its last call has returned. That ends the
// commands still in progress.
type client struct {
	redis.UniversalClient

	calls int
	left  bool
}

// New returns a store. It does not connect. An error names the wrong field.
func New(c Config) (*Store, error) {
	if c.Options == nil {
		return nil, errors.New("redisstore: Config.Options: missing")
	}
	for _, address := range c.Options.Addrs {
		if strings.Contains(address, "@") || strings.Contains(address, "://") {
			// The error omits even the address, which may contain a password.
			return nil, errors.New("redisstore: Config.Options.Addrs: has a URL and not a host and port")
		}
	}
	s := &Store{options: own(*c.Options), prefix: c.Prefix}
	if s.prefix == "" {
		s.prefix = "awsretry:"
	}
	s.script = FromScript(s.run)
	s.current = connect(s.options)
	return s, nil
}

// own returns options for a client with few small calls, each made at most once.
func own(o redis.UniversalOptions) redis.UniversalOptions {
	o.Addrs = slices.Clone(o.Addrs)
	o.MaxRetries = -1
	o.DialerRetries = 1
	// With a negative timeout a command without an answer would keep its connection.
	o.ReadTimeout, o.WriteTimeout = max(o.ReadTimeout, 0), max(o.WriteTimeout, 0)
	// Calls open connections when they need them: one is enough for a store at 1 ms, even with
	// hundreds of scopes. Eight serve 160 calls per second if each takes 50 ms; with two, the calls
	// of five busy scopes would wait until they fail.
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
		// Otherwise it asks for a description of each command, and waits for it longer than ctx
		// allows.
		cluster.DisableRoutingPolicies = true
		return &client{UniversalClient: redis.NewClusterClient(cluster)}
	}
	return &client{UniversalClient: redis.NewUniversalClient(&o)}
}

// Call carries out one step, see [fleet.Store]. It returns an error when ctx is done. The command
// and the opening of its connection then continue in the background, so a later call finds the
// connection open, even if the server is far away. A permanent error wraps [fleet.ErrRejected].
func (s *Store) Call(ctx context.Context, key string, ask fleet.Ask) (fleet.Reply, error) {
	return s.script.Call(ctx, s.prefix+key, ask)
}

// Close closes the connections. Calls in progress and later calls fail. Closing again does nothing.
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

// answer is the outcome of a command.
type answer struct {
	result any
	err    error
}

// run runs the script on the current client. go-redis drops a connection when the context of a
// command ends, so the command gets a context that does not end.
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
		_ = old.Close() // a connection that has already failed has nothing new to say
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

// succeeded notes that a command of the client has succeeded, even if its caller has gone.
func (s *Store) succeeded(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c == s.current {
		s.failing = time.Time{}
	}
}

// give returns a client to the store, with the outcome of its call. It returns a client to close,
// if any.
func (s *Store) give(ctx context.Context, c *client, err error) *client {
	// Without this the client keeps a master that does not answer for a minute, even if another has
	// replaced it.
	var no redis.Error
	if cluster, ok := c.UniversalClient.(*redis.ClusterClient); ok && err != nil && !errors.As(err, &no) {
		cluster.ReloadState(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.calls--
	switch now := (clock.System{}).Now(); {
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

// run runs the script, and turns a panic into an error: for example, of the code in the options
// that returns a password.
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
