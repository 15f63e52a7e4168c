//go:build long

package sdktest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"math/big"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/testonly/pipenet"
)

// A row is played with the first number of seeds, and with the second if it looks worse after those: what comes of chance
// goes away with more of them, and what does not, shows.
const (
	usualSeeds   = 4
	doubtedSeeds = 24
	tolerated    = 2.0 // standard errors
)

// TestSimulatedNeverWorse plays the plain SDK and awsretry in the same cases. In no row more calls fail with awsretry than
// chance explains, and in some fewer. With -v it prints all rows. Figures are sums over the runs of a row. Calls that wait
// for longer than grace after the last one began have neither succeeded nor failed, and neither have those that the caller
// canceled. The second table of a trial has the row after that of the first.
func TestSimulatedNeverWorse(t *testing.T) {
	var lines []string
	for _, mode := range []aws.RetryMode{aws.RetryModeStandard, aws.RetryModeAdaptive} {
		lines = append(lines, "", string(mode), heads, rule)
		for _, c := range trials() {
			t.Run(strings.ReplaceAll(fmt.Sprintf("%s, %s, %v", mode, c.name, c.tables[0]), "/", " per "), func(t *testing.T) {
				rows := c.compare(t, mode)
				for _, r := range rows {
					lines = append(lines, r.String())
				}
				for _, r := range rows {
					require.LessOrEqual(t, r.worse(), tolerated, r.String())
				}
				if last := rows[len(rows)-1]; c.better {
					require.Less(t, last.worse(), -tolerated, last.String())
				}
			})
		}
	}
	t.Log(strings.Join(lines, "\n"))
}

// outcome is a row of the table: what became of the calls of a table with the plain SDK and with awsretry.
type outcome struct {
	trial  *trial
	table  int
	bySeed [2][]*tally
}

// compare plays a trial.
func (c *trial) compare(t *testing.T, mode aws.RetryMode) []*outcome {
	t.Helper()
	rows := make([]*outcome, len(c.tables))
	for i := range rows {
		rows[i] = &outcome{trial: c, table: i}
	}
	add := func(from, to uint64) {
		for seed := from; seed < to; seed++ {
			for i, s := range sides {
				for k, tally := range c.play(t, s, mode, seed) {
					rows[k].bySeed[i] = append(rows[k].bySeed[i], tally)
				}
			}
		}
	}
	add(0, usualSeeds)
	if slices.ContainsFunc(rows, func(r *outcome) bool { return r.worse() > tolerated }) {
		add(usualSeeds, doubtedSeeds)
	}
	return rows
}

// worse is by how many standard errors awsretry is worse. Where more calls may fail on purpose, it may be as good in those
// that succeed instead.
func (r *outcome) worse() float64 {
	failed := r.excess(func(c *tally) float64 { return float64(c.failed) / float64(c.calls) })
	if r.trial.goodput == "" {
		return failed
	}
	return min(failed, r.excess(func(c *tally) float64 { return -float64(c.inTime) }))
}

// excess is the mean of the differences of the seeds, over what the spread of these differences makes of its error. Calls
// of one seed depend on one another, so that their number says nothing about chance.
func (r *outcome) excess(loss func(c *tally) float64) float64 {
	var diffs []float64
	mean, squares := 0.0, 0.0
	for i, sdk := range r.bySeed[0] {
		diffs = append(diffs, loss(r.bySeed[1][i])-loss(sdk))
		mean += diffs[i]
	}
	n := float64(len(diffs))
	mean /= n
	for _, d := range diffs {
		squares += (d - mean) * (d - mean)
	}
	if math.Abs(mean) < 1e-9 {
		return 0
	}
	return mean / math.Sqrt(squares/(n-1)/n)
}

const (
	heads = "| case | load | SDK: succeeded | failed | awsretry: succeeded | failed | standard errors | |"
	rule  = "|---|---|---|---|---|---|---|---|"
)

func (r *outcome) String() string {
	name := r.trial.name
	if r.table == 1 {
		name = "the healthy table"
		if fails := r.trial.tables[1].fails; fails > 0 {
			name = fmt.Sprintf("the other table, %.0f %% fail", 100*fails)
		}
	}
	var sum [2]tally
	for i := range sum {
		for _, one := range r.bySeed[i] {
			sum[i].add(one)
		}
	}
	load := r.trial.tables[r.table].String()
	if r.trial.clients > 1 {
		load = fmt.Sprintf("%d x %s", r.trial.clients, load)
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %+.1f | %s |", name, load, &sum[0], &sum[1], r.worse(), r.trial.goodput)
}

func (c *tally) add(other *tally) {
	c.calls += other.calls
	c.failed += other.failed
	c.canceled += other.canceled
	c.waiting += other.waiting
	c.inTime += other.inTime
}

func (c *tally) String() string {
	text := fmt.Sprintf("%d | %d (%.1f %%)", c.inTime, c.failed, 100*float64(c.failed)/float64(c.calls))
	if c.waiting > 0 {
		text += fmt.Sprintf(", %d wait", c.waiting)
	}
	if c.canceled > 0 {
		text += fmt.Sprintf(", %d canceled", c.canceled)
	}
	return text
}

// side makes the config of one of the two sides of a trial.
type side func(t *testing.T, client aws.HTTPClient, mode aws.RetryMode) aws.Config

// sides are the plain SDK and awsretry.
var sides = [2]side{
	func(_ *testing.T, client aws.HTTPClient, mode aws.RetryMode) aws.Config {
		cfg := configFor(client)
		cfg.RetryMode = mode
		return cfg
	},
	func(t *testing.T, client aws.HTTPClient, mode aws.RetryMode) aws.Config {
		t.Helper()
		return installed(t, client, hermetic(awsretry.WithMode(config.Mode(mode)), awsretry.WithRandom(sdkJitter)))
	},
}

// sdkJitter draws from the source of the SDK, and as the SDK does: a side that does what the other does draws the same.
func sdkJitter() float64 {
	n, err := rand.Int(rand.Reader, big.NewInt(1<<53))
	if err != nil {
		panic(err)
	}
	return float64(n.Int64()) / (1 << 53)
}

// tally is what became of the calls of a table.
type tally struct {
	mu sync.Mutex // guards all below

	calls, failed, canceled int
	waiting                 int // neither failed nor succeeded when the run was over
	inTime                  int // succeeded before the last call began
}

// tableNames are the names of the first and the second table of a trial.
var tableNames = [2]string{"A", "B"}

// grace is how long the calls that have begun may take after the last one has begun.
const grace = 20 * time.Second

// play plays a trial with one side, and returns the tallies of its tables.
func (c *trial) play(t *testing.T, s side, mode aws.RetryMode, seed uint64) []*tally {
	t.Helper()
	cryptotest.SetGlobalRandom(t, seed)
	tallies := make([]*tally, len(c.tables))
	synctest.Test(t, func(t *testing.T) {
		server := &store{tables: map[string]*keptTable{}}
		client, hangUp := c.dial(t, server, seed)
		cfg := s(t, client, mode)
		cfg.Credentials = aws.AnonymousCredentials{} // a signature takes time and says nothing here
		cfg.RetryMaxAttempts = c.attempts
		ctx, stop := context.WithTimeout(t.Context(), c.lasts) // begins calls
		over, cut := context.WithCancel(t.Context())           // ends those that wait
		var world bubbleWorld
		start, clients := time.Now(), make([]*dynamodb.Client, max(c.clients, 1))
		for n := range clients {
			clients[n] = newClient(cfg)
		}
		for i, d := range c.tables {
			server.tables[tableNames[i]], tallies[i] = d.kept(seed+uint64(i)<<32), &tally{}
		}
		for i, d := range c.tables {
			name, table := tableNames[i], server.tables[tableNames[i]]
			for n, client := range clients {
				seed := seed + uint64(i)<<32 + uint64(n)<<16
				d.load(ctx, &world, &tester{
					trial: c, demand: d, tally: tallies[i], call: getItem(client, name),
					began: start.Add(time.Duration(i*len(clients)+n) * time.Microsecond), over: over,
					random: mathrand.New(mathrand.NewPCG(7, seed)),
				}, seed)
			}
			world.Go(func() { d.change(over, table) })
		}
		ended, end := context.WithCancel(t.Context())
		go func() { sleep(ended, c.lasts+grace); cut() }()
		world.Wait()
		end()
		stop()
		hangUp()
	})
	return tallies
}

// newClient makes a client whose adaptive mode, if it is the SDK's, can wait in a bubble.
func newClient(cfg aws.Config) *dynamodb.Client {
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		if adaptive, ok := o.Retryer.(*sdkretry.AdaptiveMode); ok {
			o.Retryer = exactAdaptive{adaptive}
		}
	})
}

// bubbleWorld is the world of package sim in a bubble.
type bubbleWorld struct {
	clock.System
	sync.WaitGroup
}

// tester makes the calls of a client on a table.
type tester struct {
	*trial
	demand demand
	tally  *tally
	began  time.Time
	over   context.Context //nolint:containedctx // of the run
	call   func(ctx context.Context) error

	mu     sync.Mutex // guards random
	random *mathrand.Rand
}

// Do makes one call, and in a closed load waits before the next one.
func (c *tester) Do(context.Context, string, func(context.Context) error) error {
	ctx, cancel := context.WithCancel(c.over)
	if c.deadline > 0 {
		ctx, cancel = context.WithTimeout(c.over, c.deadline)
	}
	defer cancel()
	if c.patience > 0 {
		timer := clock.System{}.AfterFunc(time.Duration(c.draw()*2*float64(c.patience)), cancel)
		defer timer.Stop()
	}
	err := c.call(ctx)
	c.tally.mu.Lock()
	c.tally.calls++
	switch {
	case err == nil:
		if time.Since(c.began) < c.lasts {
			c.tally.inTime++
		}
	case c.over.Err() != nil:
		c.tally.waiting++
	case c.patience > 0 && ctx.Err() != nil:
		c.tally.canceled++
	default:
		c.tally.failed++
	}
	c.tally.mu.Unlock()
	if c.demand.workers > 0 {
		sleep(c.over, time.Duration((0.5+c.draw())*float64(pauseOfWorkers)))
	}
	return err
}

func (c *tester) draw() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.Float64()
}

// store is as much of DynamoDB as has the limits and the failures of its tables.
type store struct{ tables map[string]*keptTable }

// keptTable is a service of package sim with a hint in the answers that fail.
type keptTable struct {
	*sim.Service
	usual sim.Conditions
	hint  time.Duration
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var input struct{ TableName string }
	if err := json.NewDecoder(r.Body).Decode(&input); err != nil {
		return // the client is gone
	}
	table := s.tables[input.TableName]
	latency, err := table.Take(time.Now())
	sleep(r.Context(), latency)
	failure, failed := err.(sim.ServiceError) //nolint:errorlint // as Take returns it
	if !failed {
		_, _ = io.WriteString(w, `{}`)
		return
	}
	if table.hint > 0 {
		w.Header().Set("X-Amz-Retry-After", strconv.FormatInt(table.hint.Milliseconds(), 10))
	}
	w.Header().Set("X-Amzn-Errortype", failure.Code)
	w.WriteHeader(failure.Status)
	_, _ = io.WriteString(w, `{"__type":"com.amazonaws.made.up#`+failure.Code+`","message":"made up"}`)
}

// dial returns a client of the server, and what ends it. Only faults of connections need connections.
func (c *trial) dial(t *testing.T, server http.Handler, seed uint64) (client aws.HTTPClient, hangUp func()) {
	t.Helper()
	if c.faults == nil {
		return answerFunc(func(r *http.Request) (*http.Response, error) {
			answer := httptest.NewRecorder()
			if server.ServeHTTP(answer, r); r.Context().Err() != nil {
				return nil, r.Context().Err()
			}
			return answer.Result(), nil
		}), func() {}
	}
	network, random, began := pipenet.New(), mathrand.New(mathrand.NewPCG(5, seed)), time.Now()
	faulty := &service{
		plan:  func(string, int) fault { return c.faults(time.Since(began), random.Float64()) },
		peers: &peers{}, next: server, requests: map[string]int{}, answered: map[string]bool{},
	}
	listening := &http.Server{Handler: faulty, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = listening.Serve(network) }()
	buildable := awshttp.NewBuildableClient().WithTransportOptions(func(tr *http.Transport) {
		tr.Proxy, tr.DialContext = nil, network.Dial
	})
	return c.connect(buildable), func() { require.NoError(t, listening.Close()) }
}
