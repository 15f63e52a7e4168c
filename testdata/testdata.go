// Package testdata holds the cases of the rules that this module keeps. Each case lists the rules
// that it shows.
package testdata

import "embed"

// Cases are the files about retries.
//
//go:embed standard.json adaptive.json classification.json
var Cases embed.FS
