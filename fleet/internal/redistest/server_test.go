//go:build race || servers

package redistest_test

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet/internal/redistest"
)

var crash = flag.Bool("crash", false, "end the program without the end of a test, for a test that starts it")

func TestServerEndsWithAProgramThatCrashes(t *testing.T) {
	t.Parallel()
	if *crash {
		fmt.Println(redistest.Start(t).Addr)
		os.Exit(3) // as after a panic, no Cleanup runs
	}
	out, err := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-crash").Output()
	require.ErrorContains(t, err, "exit status 3")
	var addr string
	_, err = fmt.Sscanln(string(out), &addr)
	require.NoError(t, err, "%s", out)

	require.Eventually(t, func() bool {
		connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
		if err == nil {
			_ = connection.Close()
		}
		return err != nil
	}, 5*time.Second, 10*time.Millisecond, "redis-server goes on at %s", addr)
}
