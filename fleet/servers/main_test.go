//go:build race || servers

package servers

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"github.com/awsretry/awsretry/clock"
)

const (
	prefix   = "awsretry:"
	password = "hush-hush"
)

// TestMain requires that the fleets, which all are closed by then, leave no goroutine behind.
func TestMain(m *testing.M) {
	logging.Disable() // go-redis reports each connection that fails
	code := m.Run()
	left := goroutines()
	for range 50 {
		if len(left) == 0 {
			break
		}
		_ = clock.System{}.Sleep(context.Background(), 100*time.Millisecond)
		left = goroutines()
	}
	if len(left) > 0 {
		fmt.Fprintf(os.Stderr, "%d goroutines are left:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
		code = 1
	}
	os.Exit(code)
}

// goroutines returns the stacks of the goroutines of fleets and of go-redis.
func goroutines() (stacks []string) {
	text := make([]byte, 1<<20)
	text = text[:runtime.Stack(text, true)]
	for stack := range strings.SplitSeq(string(text), "\n\n") {
		if strings.Contains(stack, "awsretry/fleet.") || strings.Contains(stack, "go-redis") || strings.Contains(stack, "redisstore") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
