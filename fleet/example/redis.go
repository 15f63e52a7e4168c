package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// redisServer is a process that the program has started.
type redisServer struct {
	address string
	cancel  context.CancelFunc
	folder  string
	ended   chan struct{}
	err     error        // when it has ended
	said    bytes.Buffer // and what it has printed
}

// startRedis starts a server that keeps nothing on disk, on a free port of loopback, in a
// temporary folder.
func startRedis(ctx context.Context, path string) (*redisServer, error) {
	host, port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "awsretry-example-")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &redisServer{
		address: net.JoinHostPort(host, port), cancel: cancel, folder: folder, ended: make(chan struct{}),
	}
	command := exec.CommandContext(ctx, path,
		"--bind", host, "--port", port, "--dir", folder, "--save", "", "--appendonly", "no", "--loglevel", "warning")
	command.Stdout, command.Stderr = &s.said, &s.said
	if err := command.Start(); err != nil {
		cancel()
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	go func() {
		s.err = command.Wait()
		close(s.ended)
	}()
	if err := s.ready(ctx); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// freePort returns a port of loopback that was free a moment ago.
func freePort(ctx context.Context) (host, port string, err error) {
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return "", "", err
	}
	return net.SplitHostPort(address)
}

// ready returns when the server answers, within 5 s.
func (s *redisServer) ready(ctx context.Context) error {
	ctx, cancel := clock.WithTimeout(ctx, clock.System{}, 5*time.Second)
	defer cancel()
	for {
		select {
		case <-s.ended:
			return fmt.Errorf("redis-server has ended: %w: %s", s.err, &s.said)
		default:
		}
		err := s.ping(ctx)
		if err == nil {
			return nil
		}
		if waited := (clock.System{}).Sleep(ctx, 20*time.Millisecond); waited != nil {
			return fmt.Errorf("redis-server does not answer: %w", err)
		}
	}
}

func (s *redisServer) ping(ctx context.Context) error {
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "tcp", s.address)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	if err := connection.SetDeadline(clock.System{}.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := io.WriteString(connection, "PING\r\n"); err != nil {
		return err
	}
	answer := make([]byte, len("+PONG"))
	if _, err := io.ReadFull(connection, answer); err != nil {
		return err
	}
	if string(answer) != "+PONG" {
		return fmt.Errorf("%q is no answer of a redis-server", answer)
	}
	return nil
}

// end kills the server by its process id, waits for its end and removes its folder.
func (s *redisServer) end() {
	s.cancel()
	<-s.ended
	_ = os.RemoveAll(s.folder) // a temporary folder that stays does no harm
}
