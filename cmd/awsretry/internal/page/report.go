// Package page writes the report of a simulation as one HTML page that works offline: uPlot, which draws its charts, is
// part of it, and it loads nothing from the network.
package page

import (
	"time"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

// Report is what a page shows.
type Report struct {
	// Command is the command line, without the file that the report is written to.
	Command string
	// Version is the version of the command that made the report, or empty.
	Version string
	// Answer has the sentences at the top.
	Answer []string
	// Question decides which picture comes first.
	Question Question
	// Played says what was played, such as the limit of the service.
	Played []Fact
	// Within is the time in which a call must succeed to be in time.
	Within time.Duration
	// Phases are the parts of a run in which something is unusual.
	Phases []Phase
	// Variants are the ways to retry. The first one has the settings.
	Variants []Variant
}

// Question is what a simulation must answer.
type Question uint8

const (
	// AtLimit asks what happens with a load and a limit.
	AtLimit Question = iota
	// InChange asks what happens in an outage or another change.
	InChange
	// OfFailures asks what happens if a share of the requests fails.
	OfFailures
)

// Phase is a part of a run with a short text.
type Phase struct {
	sim.Window

	Label string
}

// Fact is a name with a value.
type Fact struct{ Name, Value string }

// Variant is a way to retry and its results.
type Variant struct {
	Name     string
	Settings []Setting
	// Runs are the runs with all seeds, and Result is the one that the pictures show. Without Runs it is the only
	// one.
	Runs   []*sim.Result
	Result *sim.Result
	// Same is the name of a variant before this one with the same results; or empty.
	Same string
	// Curve has the results at several shares of failing attempts, in order of the shares. All
	// variants have the same shares.
	Curve []sim.Point
	// Drain are the drain points: the shares of failing attempts above which the retry quota
	// empties.
	Drain []Drain
}

// runs returns all runs.
func (v *Variant) runs() []*sim.Result {
	if len(v.Runs) == 0 {
		return []*sim.Result{v.Result}
	}
	return v.Runs
}

// Setting is a setting and where it came from.
type Setting struct{ Name, Value, Origin string }

// Drain is the drain point of a kind of failure: "transient", "timeout" or "throttling".
type Drain struct {
	Kind string
	// Share is from 0 to 1; NaN if no share empties the quota.
	Share float64
}
