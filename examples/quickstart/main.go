// Command quickstart resolves the retry settings of whoever runs it, builds the
// strategy that they ask for, and sends requests with it to a service inside the
// process that fails, throttles and recovers.
//
// It reads the environment and the shared files as any AWS tool does:
//
//	AWS_PROFILE=x AWS_RETRY_MODE=adaptive go run ./examples/quickstart
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/awsretry/awsretry"
)

func main() {
	os.Exit(run(context.Background(), os.Stdout, os.Stderr))
}

// run is the whole program; it returns the exit status.
func run(ctx context.Context, out, errs io.Writer, opts ...awsretry.Option) int {
	settings, err := awsretry.Resolve(ctx, opts...)
	if err != nil {
		fmt.Fprintf(errs, "quickstart: %v\n", err)
		return 1
	}
	printSettings(out, settings)

	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintf(errs, "quickstart: %v\n", err)
		return 1
	}
	client := &http.Client{Transport: &http.Transport{}}
	if err := visit(ctx, out, settings, listener, client, opts...); err != nil {
		fmt.Fprintf(errs, "quickstart: %v\n", err)
		return 1
	}
	return 0
}
