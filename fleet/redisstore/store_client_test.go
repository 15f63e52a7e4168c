package redisstore_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet"
)

func TestStoreSetsAConnectionUpInTheBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, store := startFar(t, far, func([]string) string { return run })

		began := time.Now()
		_, err := callFar(t, store, 2)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, callTimeout, time.Since(began), "the dial, HELLO and the command take 600 ms")
		sleep(t, 500*time.Millisecond)
		began = time.Now()
		reply, err := callFar(t, store, 2)

		require.NoError(t, err)
		require.Equal(t, 2, reply.Slots)
		require.Equal(t, far, time.Since(began))
		require.Equal(t, traffic{opened: 1, open: 1, evalsha: 2}, server.counts())
	})
}

func TestStoreKeepsAConnectionWhoseReplyIsLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, store := startFar(t, 2*far, func([]string) string { return run })

		for range 20 { // for longer than a client may fail
			_, err := callFar(t, store, 2)
			require.Error(t, err)
			sleep(t, time.Second)
		}

		require.Equal(t, traffic{opened: 1, open: 1, evalsha: 20}, server.counts())
	})
}

func TestStoreDoesNotKeepACommandForAConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		came, slow := make(chan struct{}, 9), make(chan struct{})
		release := sync.OnceFunc(func() { close(slow) })
		server, store := startFar(t, 0, func([]string) string {
			came <- struct{}{}
			<-slow
			return run
		})
		t.Cleanup(release)
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() { _, _ = store.Call(t.Context(), key, fleet.Ask{Want: 2}) })
			<-came
		}

		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := store.Call(ctx, key, fleet.Ask{Want: 2})

		require.ErrorIs(t, err, redis.ErrPoolTimeout)
		release()
		calls.Wait()
		require.Equal(t, traffic{opened: 8, open: 8, evalsha: 8}, server.counts())
	})
}

func TestStoreEndsWhatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, store := startFar(t, time.Millisecond, func([]string) string { return "*7\r\n" }) // the rest does not come
		for range 3 {
			_, err := callFar(t, store, 2)
			require.Error(t, err)
		}
		require.Equal(t, 3, server.counts().open, "the commands go on")

		sleep(t, 5*time.Second)
		_, err := callFar(t, store, 2)
		require.Error(t, err)
		synctest.Wait()
		require.Zero(t, server.counts().open, "the client was made anew")

		_, err = callFar(t, store, 2)
		require.Error(t, err)
		require.NoError(t, store.Close())
		synctest.Wait()
		require.Zero(t, server.counts().open)
	})
}

func TestStoreMakesItsClientAnewAfterFiveSecondsOfFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := "-LOADING Redis is loading the dataset in memory\r\n"
		server, store := startFar(t, 0, func([]string) string { return answer })
		call := func() int {
			t.Helper()
			_, _ = store.Call(t.Context(), key, fleet.Ask{Want: 2})
			return server.counts().opened
		}

		require.Equal(t, 1, call(), "the first failure")
		sleep(t, 4*time.Second)
		require.Equal(t, 1, call())
		good := answer
		answer = run
		require.Equal(t, 1, call(), "a success in between")
		answer = good
		sleep(t, 4*time.Second)
		require.Equal(t, 1, call(), "the first failure after the success")
		sleep(t, 5*time.Second)
		require.Equal(t, 1, call(), "the one after which the client is made anew")
		require.Equal(t, 2, call())
		sleep(t, 4*time.Second)
		require.Equal(t, 2, call())
		synctest.Wait()
		require.Equal(t, 1, server.counts().open, "the connection of the first client is closed")
	})
}

func TestStoreDoesNotCutACallOfTheOldClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := make(chan struct{})
		release := sync.OnceFunc(func() { close(slow) })
		came := make(chan struct{})
		server, store := startFar(t, 0, func(command []string) string {
			if command[3] == "awsretry:slow" {
				close(came)
				<-slow
				return run
			}
			return "-LOADING Redis is loading the dataset in memory\r\n"
		})
		t.Cleanup(release)
		ended := make(chan error, 1)
		go func() {
			_, err := store.Call(t.Context(), "slow", fleet.Ask{Want: 2})
			ended <- err
		}()
		<-came
		for range 3 {
			_, err := store.Call(t.Context(), key, fleet.Ask{Want: 2})
			require.Error(t, err)
			sleep(t, 5*time.Second)
		}
		require.Equal(t, 3, server.counts().opened, "one for each call at a time, and that of the new client")
		require.Equal(t, 3, server.counts().open, "the old client has a call")

		release()

		require.NoError(t, <-ended)
		synctest.Wait()
		require.Equal(t, 1, server.counts().open, "now the old client is closed")
	})
}

func TestStoreCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, store := startFar(t, 0, func([]string) string { return run })
		_, err := store.Call(t.Context(), key, fleet.Ask{Want: 2})
		require.NoError(t, err)

		require.NoError(t, store.Close())
		require.NoError(t, store.Close())

		for range 3 {
			_, err = store.Call(t.Context(), key, fleet.Ask{Want: 2})
			require.ErrorIs(t, err, redis.ErrClosed)
			require.EqualError(t, err, "redisstore: redis: client is closed")
			sleep(t, 5*time.Second)
		}
		synctest.Wait()
		require.Equal(t, 1, server.counts().opened)
		require.Zero(t, server.counts().open)
	})
}

func TestStoreConcurrentSafe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// One that is late ends before the next one of its worker does: no more than eight at a time.
		const workers, calls = 4, 100
		var executed atomic.Int64
		_, store := startFar(t, 0, func(command []string) string {
			executed.Add(1)
			want, err := strconv.ParseFloat(command[8], 64)
			if err != nil {
				return "-ERR no number\r\n"
			}
			sleep(t, callTimeout/2)
			if rand.IntN(2) == 0 { //nolint:gosec // no secret
				sleep(t, callTimeout)
			}
			return list("3", "100", "0", strconv.Itoa(int(want)), "0.25", "0.01", "state")
		})

		var good, late atomic.Int64
		var working sync.WaitGroup
		for worker := range workers {
			working.Go(func() {
				for i := range calls {
					want := 1 + worker*calls + i
					reply, err := callFar(t, store, want)
					if err != nil {
						late.Add(1)
					} else if good.Add(1); reply.Slots != want {
						t.Errorf("asked for %d, got the reply of %d", want, reply.Slots)
					}
				}
			})
		}
		working.Wait()

		require.EqualValues(t, workers*calls, executed.Load(), "each once")
		require.EqualValues(t, workers*calls, good.Load()+late.Load())
		require.Positive(t, good.Load())
		require.Positive(t, late.Load())
	})
}
