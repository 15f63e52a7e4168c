// Package testdata holds the cases of the rules that this module keeps. Each case lists the rules
// that it shows.
package testdata

import "embed"

// Cases are the files of this folder.
//
//go:embed *.json
var Cases embed.FS
