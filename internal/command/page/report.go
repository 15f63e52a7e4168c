// Package page writes the report of a simulation as one HTML page, which opens offline: it has no
// script, and asks the network for nothing.
package page

import "github.com/awsretry/awsretry/internal/command/sim"

// Report is what a page shows.
type Report struct {
	// Command is the command line, without the file that the report is written to.
	Command string
	// Version is the version of the command that made the report, or empty.
	Version string
	// Answer are the sentences at the top.
	Answer []string
	// Played says what was played, such as the limit of the service.
	Played []Fact
	// Limit is what the service allows, in requests a second; NaN if that is not known.
	Limit float64
	// Outage is when the service fails all requests; empty if it never does.
	Outage sim.Window
	// Variants are the ways to retry. The first one is that of the settings.
	Variants []Variant
}

// Fact is a name with a value.
type Fact struct{ Name, Value string }

// Variant is a way to retry, and what came of it.
type Variant struct {
	Name     string
	Settings []Setting
	Result   *sim.Result
	// Curve is what calls come to at several shares of failing attempts, in the order of these.
	// All variants have the same shares.
	Curve []sim.Point
	// Drain are the drain points: the shares of failing attempts above which the retry quota
	// empties.
	Drain []Drain
}

// Setting is a setting with the place that it came from.
type Setting struct{ Name, Value, Origin string }

// Drain is the drain point of a kind of failure: "transient", "timeout" or "throttling".
type Drain struct {
	Kind string
	// Share is from 0 to 1; NaN if no share empties the quota.
	Share float64
}
