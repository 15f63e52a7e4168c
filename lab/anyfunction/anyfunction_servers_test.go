//go:build servers

package anyfunction

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/retry"
)

// database is a server in a folder of its own, which is ended by a signal with all that is under way.
type database struct {
	dir, port string
	begin     func(ctx context.Context) *exec.Cmd
	ending    syscall.Signal
	stop      func()
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	dir, err := os.MkdirTemp("", "database") //nolint:usetesting // whose folders no other user may enter
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777)) //nolint:gosec // for the user that the server runs as
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	require.NoError(t, listener.Close())
	return &database{dir: dir, port: port}
}

// serverProgram returns a program of a server, which refuses to run as root.
func serverProgram(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return cmd
}

func newPostgres(t *testing.T) *database {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	require.NotEmpty(t, found, "Debian's package postgresql is missing")
	d := newDatabase(t)
	data := filepath.Join(d.dir, "data")
	out, err := serverProgram(t.Context(), filepath.Join(filepath.Dir(found[0]), "initdb"), "-D", data, "-U", "test", "-A", "trust", "--no-sync").CombinedOutput()
	require.NoError(t, err, "%s", out)
	d.ending = syscall.SIGINT // fast shutdown
	d.begin = func(ctx context.Context) *exec.Cmd {
		return serverProgram(ctx, found[0], "-D", data, "-p", d.port, "-h", "127.0.0.1", "-k", data, "-F")
	}
	return d
}

func newMariaDB(t *testing.T) *database {
	t.Helper()
	server, err := exec.LookPath("mariadbd")
	if err != nil {
		server = "/usr/sbin/mariadbd" // which is not on every PATH
	}
	require.FileExists(t, server, "Debian's package mariadb-server is missing")
	d := newDatabase(t)
	data := filepath.Join(d.dir, "data")
	out, err := serverProgram(t.Context(), "mariadb-install-db", "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal").CombinedOutput()
	require.NoError(t, err, "%s", out)
	d.ending = syscall.SIGTERM
	d.begin = func(ctx context.Context) *exec.Cmd {
		return serverProgram(ctx, server, "--no-defaults", "--datadir="+data, "--port="+d.port, "--bind-address=127.0.0.1", "--skip-grant-tables",
			"--skip-networking=0", "--socket="+filepath.Join(d.dir, "socket"), "--pid-file="+filepath.Join(d.dir, "pid"))
	}
	return d
}

func (d *database) start(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	running := d.begin(ctx)
	running.Cancel = func() error { return running.Process.Signal(d.ending) }
	running.WaitDelay = 20 * time.Second // and then it is killed: a server that begins may not hear the signal
	d.stop = func() { cancel(); _ = running.Wait() }
	require.NoError(t, running.Start())
}

// Transactions and reads of eight goroutines go on while the server is restarted. No transaction is carried out twice, and those
// that fail are those of which nothing says whether they were carried out. No read fails, with one attempt some do.
func TestNoTransferIsMadeTwiceWhenADatabaseIsRestarted(t *testing.T) {
	for driver, of := range map[string]struct {
		begin  func(t *testing.T) *database
		source string
	}{
		"pgx":   {newPostgres, "postgres://test@127.0.0.1:%s/postgres"},
		"mysql": {newMariaDB, "root@tcp(127.0.0.1:%s)/"},
	} {
		t.Run(driver, func(t *testing.T) {
			server := of.begin(t)
			server.start(t)
			defer func() { server.stop() }()
			db, err := sql.Open(driver, fmt.Sprintf(of.source, server.port))
			require.NoError(t, err)
			defer func() { _ = db.Close() }()
			strategy, err := awsretry.Plain(40, time.Second, 5*time.Second) // the quota outlasts a restart of seconds
			require.NoError(t, err)
			once, err := awsretry.Plain(1, 0, 0)
			require.NoError(t, err)
			ctx := t.Context()
			for _, statement := range []string{
				"CREATE SCHEMA bank", "CREATE TABLE bank.accounts (id int PRIMARY KEY, cents int)", "INSERT INTO bank.accounts VALUES (1, 0)",
			} {
				require.NoError(t, retry.DoErr(ctx, strategy, retry.Operation{}, func(ctx context.Context) error {
					_, err := db.ExecContext(ctx, statement)
					return err
				}))
			}
			cents := func(strategy retry.Strategy) (n int, err error) {
				return retry.Do(ctx, strategy, retry.Operation{Name: "balance"}, func(ctx context.Context) (n int, err error) {
					err = db.QueryRowContext(ctx, "SELECT cents FROM bank.accounts").Scan(&n)
					return n, err
				})
			}
			var all sync.WaitGroup
			var made, unknown, unread, failOnce atomic.Int64
			var restarted atomic.Bool
			all.Go(func() {
				for !restarted.Load() {
					if _, err := cents(once); err != nil {
						failOnce.Add(1)
					}
					_ = clock.System{}.Sleep(ctx, time.Millisecond)
				}
			})
			for range 8 {
				all.Go(func() {
					for i := 0; i < 40 || !restarted.Load(); i++ {
						if err := transfer(ctx, db, strategy); err == nil {
							made.Add(1)
						} else {
							unknown.Add(1)
							t.Log(err)
						}
						if _, err := cents(strategy); err != nil {
							unread.Add(1)
							t.Log(err)
						}
					}
				})
			}
			require.NoError(t, clock.System{}.Sleep(ctx, 100*time.Millisecond))
			server.stop()
			server.start(t)
			restarted.Store(true)
			all.Wait()
			balance, err := cents(strategy)
			require.NoError(t, err)
			t.Logf("%d made, %d of which nothing is known, %d cents in the account; reads that fail: %d, %d with one attempt",
				made.Load(), unknown.Load(), balance, unread.Load(), failOnce.Load())
			require.GreaterOrEqual(t, balance, 100*int(made.Load()), "none is lost")
			require.LessOrEqual(t, balance, 100*int(made.Load()+unknown.Load()), "none is made twice")
			require.LessOrEqual(t, unknown.Load(), int64(8), "one for each goroutine, whose answer was lost")
			require.Zero(t, unread.Load())
			require.NotZero(t, failOnce.Load(), "the server was restarted in the midst of them")
		})
	}
}
