package conformance

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

// aspect is a set of things that a case shows.
type aspect uint8

const (
	outcome    aspect = 1 << iota // a retry or the end
	delay                         // the time before a retry
	hinted                        // the same, after a response with a hint
	spread                        // how the jitter spreads the time before a retry
	ending                        // the time before the end
	quota                         // the tokens that are left
	throttling                    // whether a failure is treated as a throttle
	sending                       // the times of attempts in adaptive mode
)

// aspects returns the aspects of a rule. A case in which they are as wanted does not accuse the
// rule.
func aspects(rule string) aspect {
	switch rule {
	case "S01", "S02", "S03", "S04", "S05", "S06", "S07", "S08", "S18", "S19", "S22":
		return quota | outcome
	case "S09":
		return quota | outcome | ending
	case "S10", "S11", "S12":
		return delay
	case "S13":
		return spread
	case "S14", "S14b":
		return hinted | ending | outcome
	case "S15":
		return outcome | ending
	case "S16", "S20":
		return ending
	case "S17", "S17b":
		return delay | outcome
	case "S21":
		return outcome | delay | quota
	}
	switch rule[0] {
	case 'C':
		return outcome | throttling
	case 'A':
		return sending | outcome | quota
	default:
		return 0
	}
}

// The rules that the suite leaves out. The AWS SDKs have no scopes, and the suite has one. None of
// them reads the reasons of a throttle, which are in the errors of clients, not of retryers.
const (
	ofScopes  = "S23"
	ofReasons = "A19"
)

// book is the rules with their cases.
type book struct {
	wording        map[string]string
	standard       vectors.Standard
	adaptive       vectors.Adaptive
	classification vectors.Classification
}

// read opens the cases of a folder.
func read(cases fs.ReadFileFS) (b book, err error) {
	b.wording = map[string]string{}
	for _, f := range []struct {
		name string
		file any
	}{{"standard.json", &b.standard}, {"adaptive.json", &b.adaptive}, {"classification.json", &b.classification}} {
		text, err := cases.ReadFile(f.name)
		if err == nil {
			err = b.add(text, f.file)
		}
		if err != nil {
			return b, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return b, nil
}

// add reads a file. A rule in several files has the wording of the first.
func (b book) add(text []byte, file any) error {
	var about struct {
		Rules map[string]string `json:"rules"`
	}
	if err := errors.Join(json.Unmarshal(text, file), json.Unmarshal(text, &about)); err != nil {
		return err
	}
	for rule, wording := range about.Rules {
		if b.wording[rule] == "" && rule != ofScopes && rule != ofReasons {
			b.wording[rule] = wording
		}
	}
	return nil
}

// ids returns the names of the rules: standard mode, adaptive mode, classification.
func (b book) ids() []string {
	return slices.SortedFunc(maps.Keys(b.wording), inOrder)
}

// inOrder compares names of rules.
func inOrder(x, y string) int { return cmp.Or(cmp.Compare(place(x), place(y)), cmp.Compare(x, y)) }

// place returns where the rules with the letter of id stand in the report.
func place(id string) int {
	switch id[0] {
	case 'S':
		return 0
	case 'A':
		return 1
	default:
		return 2
	}
}
