package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/fleet/redisstore"
)

// The server wants a password, and the program gives none.
func ExampleStore_Check() {
	server, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	defer server.Close()
	server.RequireAuth("secret")

	store, err := redisstore.New(redisstore.Config{Options: &redis.UniversalOptions{Addrs: []string{server.Addr()}}})
	if err != nil {
		panic(err)
	}
	defer func() { _ = store.Close() }()
	fmt.Println(store.Check(context.Background()))
	// Output:
	// redisstore: fleet: the store rejects the call: NOAUTH Authentication required.; the server wants a log-in: set user name and password
}

// evaler is what the example needs of a client such as valkey-go: a command with arguments, the
// strings of its result, and the error of the server.
type evaler interface {
	Strings(ctx context.Context, command ...string) ([]string, error)
}

// ExampleFromScript shows a store on another client.
func ExampleFromScript() {
	var client evaler = noServer{}
	store := redisstore.FromScript(func(ctx context.Context, sha, source, key string, args []string) ([]string, error) {
		rest := slices.Concat([]string{"1", "awsretry:" + key}, args)
		fields, err := client.Strings(ctx, slices.Concat([]string{"EVALSHA", sha}, rest)...)
		if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
			fields, err = client.Strings(ctx, slices.Concat([]string{"EVAL", source}, rest)...)
		}
		return fields, err
	})

	reply, err := store.Call(context.Background(), "f2-00000000:prod:orders", fleet.Ask{Want: 3})
	fmt.Println(reply.Epoch, err)
	// Output:
	// 0 redisstore: fleet: the store rejects the call: NOPERM this user has no permissions; allow the user GET, SET, DEL, TIME, EVALSHA and EVAL on the keys with the prefix
}

type noServer struct{}

func (noServer) Strings(context.Context, ...string) ([]string, error) {
	return nil, errors.New("NOPERM this user has no permissions")
}
