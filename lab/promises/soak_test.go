package promises

import (
	"flag"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/awsretry/awsretry/retry"
)

var soak = flag.Duration("soak", time.Second, "how long TestPromisesHoldWithTwoFeatures plays")

// TestPromisesHoldWithTwoFeatures plays promises with two features at once, chosen at random, for as long as -soak says.
func TestPromisesHoldWithTwoFeatures(t *testing.T) {
	rows, columns := rows(), columns()
	for end := time.Now().Add(*soak); time.Now().Before(end) && !t.Failed(); {
		row, a, b := rows[rand.IntN(len(rows))], columns[rand.IntN(len(columns))], columns[rand.IntN(len(columns))]
		if row.not[a.name] != "" || row.not[b.name] != "" || share(a.name, b.name) || share(b.name, a.name) {
			continue
		}
		t.Run(row.promise+"/"+a.name+" and "+b.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				use := func(p *play) { a.use(p); b.use(p) }
				row.play(&play{T: t, use: use, through: throughDo, op: retry.Operation{Scope: "orders"}})
			})
		})
	}
}

// share reports whether the callers and others share the overflow, and its tokens.
func share(a, b string) bool { return a == "overflow" && (b == "pool" || b == "eviction") }
