//go:build servers

package anyfunction

import (
	"context"
	"database/sql"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/retry"
)

// postgres is a server in a folder of its own.
type postgres struct {
	bin, data, port string
	running         *exec.Cmd
}

// command runs a program of PostgreSQL, which refuses to run as root.
func (p *postgres) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), filepath.Join(p.bin, name), args...)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return cmd
}

func newPostgres(t *testing.T) *postgres {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	require.NotEmpty(t, found, "Debian's package postgresql is missing")
	dir, err := os.MkdirTemp("", "postgres") //nolint:usetesting // whose folders no other user may enter
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777)) //nolint:gosec // for the user that the server runs as
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &postgres{bin: filepath.Dir(found[0]), data: filepath.Join(dir, "data")}
	p.port = strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	require.NoError(t, listener.Close())
	out, err := p.command("initdb", "-D", p.data, "-U", "test", "-A", "trust", "--no-sync").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return p
}

func (p *postgres) start(t *testing.T) {
	t.Helper()
	p.running = p.command("postgres", "-D", p.data, "-p", p.port, "-h", "127.0.0.1", "-k", p.data, "-F")
	require.NoError(t, p.running.Start())
}

// stop ends the server with all that is under way.
func (p *postgres) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, p.running.Process.Signal(syscall.SIGINT)) // fast shutdown
	_ = p.running.Wait()
}

// Transactions of eight goroutines go on while the server is restarted. None is carried out twice, and those that fail are those of
// which nothing says whether they were carried out.
func TestNoTransferIsMadeTwiceWhenPostgreSQLIsRestarted(t *testing.T) {
	p := newPostgres(t)
	p.start(t)
	defer func() { p.stop(t) }()
	db, err := sql.Open("pgx", "postgres://test@127.0.0.1:"+p.port+"/postgres")
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	strategy, err := awsretry.Plain(20, 100*time.Millisecond, time.Second)
	require.NoError(t, err)
	ctx := t.Context()
	require.NoError(t, retry.DoErr(ctx, strategy, retry.Operation{}, func(ctx context.Context) error {
		_, err := db.ExecContext(ctx, "CREATE TABLE accounts (id int PRIMARY KEY, cents int); INSERT INTO accounts VALUES (1, 0)")
		return err
	}))
	const each = 40
	var all sync.WaitGroup
	var mu sync.Mutex
	made, unknown := 0, 0
	for range 8 {
		all.Go(func() {
			for range each {
				err := transfer(ctx, db, strategy, 1)
				mu.Lock()
				if err == nil {
					made++
				} else {
					unknown++
					t.Log(err)
				}
				mu.Unlock()
			}
		})
	}
	require.NoError(t, clock.System{}.Sleep(ctx, 200*time.Millisecond))
	p.stop(t)
	p.start(t)
	all.Wait()
	var cents int
	require.NoError(t, retry.DoErr(ctx, strategy, retry.Operation{}, func(ctx context.Context) error {
		return db.QueryRowContext(ctx, "SELECT cents FROM accounts").Scan(&cents)
	}))
	t.Logf("%d made, %d of which nothing is known, %d in the account", made, unknown, cents)
	require.GreaterOrEqual(t, cents, made, "none is lost")
	require.LessOrEqual(t, cents, made+unknown, "none is made twice")
	require.LessOrEqual(t, unknown, 8, "one for each goroutine, whose answer was lost")
}
