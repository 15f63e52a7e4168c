// Package pipenet is a network inside the process, for tests: connections are
// pipes, so that a synctest bubble holds all of it, and they can be refused, reset
// and counted.
package pipenet

import (
	"context"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// Network connects a client to a server. It is the listener of the server; what
// is dialed gets there, whatever the address. Use New. It is safe for concurrent
// use.
type Network struct {
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once

	refusals, dials, open atomic.Int64
}

var _ net.Listener = (*Network)(nil)

// New returns a network without connections.
func New() *Network {
	return &Network{dialed: make(chan net.Conn), closed: make(chan struct{})}
}

// Transport returns a round tripper that dials this network only.
func (n *Network) Transport() *http.Transport { return &http.Transport{DialContext: n.Dial} }

// Dial connects to the listener. The error of a connection that is refused is
// that of a TCP dialer.
func (n *Network) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if n.refusals.Add(-1) >= 0 {
		return nil, failed("dial", "connect", syscall.ECONNREFUSED)
	}
	n.refusals.Add(1)
	near, far := net.Pipe()
	reset := new(atomic.Bool)
	select {
	case n.dialed <- &Conn{Conn: far, reset: reset}:
		n.dials.Add(1)
		n.open.Add(1)
		return &client{Conn: near, reset: reset, network: n}, nil
	case <-n.closed:
		return nil, failed("dial", "connect", syscall.ECONNREFUSED)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Refuse refuses one more of the connections to come.
func (n *Network) Refuse() { n.refusals.Add(1) }

// Dials returns how many connections there have been.
func (n *Network) Dials() int64 { return n.dials.Load() }

// Open returns how many connections the client has not closed.
func (n *Network) Open() int64 { return n.open.Load() }

// Accept returns the next connection that was dialed; its type is *Conn.
func (n *Network) Accept() (net.Conn, error) {
	select {
	case conn := <-n.dialed:
		return conn, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses further connections.
func (n *Network) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

// Addr returns an address with a name only.
func (*Network) Addr() net.Addr { return &net.UnixAddr{Name: "service", Net: "pipe"} }

// Conn is the server's end of a connection.
type Conn struct {
	net.Conn
	reset *atomic.Bool // of both ends
}

// Reset closes the connection as one that is reset: the client gets ECONNRESET
// instead of an end.
func (c *Conn) Reset() error {
	c.reset.Store(true)
	return c.Close()
}

// client is the client's end of a connection.
type client struct {
	net.Conn
	reset   *atomic.Bool
	closed  atomic.Bool
	network *Network
}

func (c *client) Read(p []byte) (int, error) {
	count, err := c.Conn.Read(p)
	return count, c.explain("read", err)
}

func (c *client) Write(p []byte) (int, error) {
	count, err := c.Conn.Write(p)
	return count, c.explain("write", err)
}

// explain returns the error that a TCP connection has in place of err.
func (c *client) explain(call string, err error) error {
	switch {
	case err != nil && c.closed.Load():
		return &net.OpError{Op: call, Net: "pipe", Err: net.ErrClosed}
	case err != nil && c.reset.Load():
		return failed(call, call, syscall.ECONNRESET)
	default:
		return err
	}
}

func (c *client) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.network.open.Add(-1)
	}
	return c.Conn.Close()
}

func failed(op, call string, cause syscall.Errno) error {
	return &net.OpError{Op: op, Net: "pipe", Err: os.NewSyscallError(call, cause)}
}
