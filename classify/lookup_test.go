package classify_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

// TestAnswersOfNameServersInGo126 asks the resolver of net, by itself and in a
// request of net/http, for a name that a server answers with each response code.
func TestAnswersOfNameServersInGo126(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		code byte
		want classify.Verdict
	}{
		{"FORMERR", 1, classify.RetryAs(classify.Transient)},
		{"SERVFAIL", 2, classify.RetryAs(classify.Transient)},
		{"NXDOMAIN", 3, classify.Verdict{}},
		{"NOTIMP", 4, classify.RetryAs(classify.Transient)},
		{"REFUSED", 5, classify.RetryAs(classify.Transient)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			resolver := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
				client, server := net.Pipe()
				go answerQueries(server, c.code)
				return client, nil
			}}

			_, err := resolver.LookupHost(t.Context(), "service.example.")
			lookup, ok := errors.AsType[*net.DNSError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, c.name == "SERVFAIL", lookup.IsTemporary)
			require.Equal(t, c.name == "NXDOMAIN", lookup.IsNotFound)
			require.Equal(t, c.want, verdictOf(err))

			transport := &http.Transport{DialContext: (&net.Dialer{Resolver: resolver}).DialContext}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://service.example./", http.NoBody)
			require.NoError(t, err)
			response, err := (&http.Client{Transport: transport}).Do(request)
			if err == nil {
				response.Body.Close()
			}
			require.ErrorAs(t, err, &lookup)
			require.Equal(t, c.want, verdictOf(err))
		})
	}
}

func TestLookupThatTheCallerEndsIsLeftAlone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	_, err := resolver.LookupHost(ctx, "service.example.")
	lookup, ok := errors.AsType[*net.DNSError](err)
	require.True(t, ok, "%v", err)
	require.False(t, lookup.IsNotFound || lookup.IsTemporary || lookup.IsTimeout)
	require.Equal(t, classify.Verdict{}, verdictOf(err))
}

// answerQueries answers each query of a connection with the query itself, made a
// response with the code. The messages are as in TCP: their length comes first.
func answerQueries(conn net.Conn, code byte) {
	defer func() { _ = conn.Close() }()
	for {
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		message := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(conn, message); err != nil {
			return
		}
		message[2] |= 0x80 // a response
		message[3] = message[3]&0xf0 | code
		if _, err := conn.Write(append(length[:], message...)); err != nil {
			return
		}
	}
}
