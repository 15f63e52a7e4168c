//go:build servers

package servers

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/fleet/internal/redistest"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

var clusterArgs = []string{
	"--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--cluster-require-full-coverage", "no",
}

// startCluster starts a cluster of three masters, each with a third of the slots.
func startCluster(t *testing.T) (nodes [3]*redistest.Server) {
	t.Helper()
	for i := range nodes {
		nodes[i] = redistest.Start(t, clusterArgs...)
		do(t, nodes[i], fmt.Sprintf("CLUSTER ADDSLOTSRANGE %d %d", i*5461, i*5461+5460))
		do(t, nodes[i], fmt.Sprintf("CLUSTER SET-CONFIG-EPOCH %d", i+1))
	}
	do(t, nodes[2], fmt.Sprintf("CLUSTER ADDSLOTS %d", 16383))
	for _, node := range nodes[1:] {
		do(t, nodes[0], "CLUSTER MEET "+hostPort(t, node.Addr))
	}
	require.Eventually(t, func() bool {
		for _, node := range nodes {
			info := node.Client.ClusterInfo(t.Context()).Val()
			if !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, "cluster_slots_assigned:16384") {
				return false
			}
		}
		return true
	}, 20*time.Second, 50*time.Millisecond)
	return nodes
}

// onEach returns a scope for each third of the slots.
func onEach(t *testing.T, node *redistest.Server) []string {
	t.Helper()
	scopes := make([]string, 3)
	for i, found := 0, 0; found < len(scopes); i++ {
		name := fmt.Sprintf("s%d", i)
		slot := node.Client.ClusterKeySlot(t.Context(), prefix+keyOf(t, retry.ScopeKey{Service: name})).Val()
		if third := min(slot/5461, 2); scopes[third] == "" {
			scopes[third] = name
			found++
		}
	}
	return scopes
}

func TestFleetFollowsAClusterToAPromotedReplica(t *testing.T) {
	t.Parallel()
	nodes := startCluster(t)
	replica := redistest.Start(t, clusterArgs...)
	do(t, nodes[0], "CLUSTER MEET "+hostPort(t, replica.Addr))
	id := nodes[1].Client.ClusterMyID(t.Context()).Val()
	require.Eventually(t, func() bool {
		return replica.Client.ClusterReplicate(t.Context(), id).Err() == nil // once it has heard of the master
	}, 20*time.Second, 50*time.Millisecond)
	require.Eventually(t, func() bool {
		return strings.Contains(replica.Client.Info(t.Context(), "replication").Val(), "master_link_status:up")
	}, 20*time.Second, 50*time.Millisecond)
	scopes := onEach(t, nodes[0])
	w := begin(t, redis.UniversalOptions{Addrs: []string{nodes[0].Addr, nodes[2].Addr}}, false, scopes...)
	w.warm(t)
	w.sane(t, "before", 2*time.Second)
	for i, node := range nodes {
		require.EqualValues(t, 1, node.Client.DBSize(t.Context()).Val(), "state of %s", scopes[i])
	}
	epoch := w.epoch(1)

	nodes[1].Signal(t, syscall.SIGSTOP) // and it stays so
	w.settled(t, 1, fleet.Alone)
	w.settled(t, 1, fleet.Slots) // within 15 s
	w.sane(t, "after", 3*time.Second)

	w.requireEvents(t, 0)
	w.requireEvents(t, 1, fleet.Lost, fleet.Back)
	w.requireEvents(t, 2)
	require.GreaterOrEqual(t, w.epoch(1), epoch)
	require.EqualValues(t, 1, replica.Client.DBSize(t.Context()).Val())
}

// keyOf returns the key of a scope.
func keyOf(t *testing.T, scope retry.ScopeKey) string {
	t.Helper()
	seen := make(keys, 1)
	f, err := fleet.New(fleet.Config{Store: seen, Namespace: "test"})
	require.NoError(t, err)
	defer f.Close()
	f.NewLimiter(scope, nil).Report(ratelimit.Response{})
	return <-seen
}

// keys is a store that gives the test the key of its first call.
type keys chan string

func (k keys) Call(_ context.Context, key string, _ fleet.Ask) (fleet.Reply, error) {
	select {
	case k <- key:
	default:
	}
	return fleet.Reply{}, nil
}
