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
// them reads the reasons of a throttle, which are in the errors of clients, not of retryers. Their rule for
// Retry-After is another one.
const (
	ofScopes  = "S23"
	ofReasons = "A19"
	ofHTTP    = "S14c"
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
		if b.wording[rule] == "" && rule != ofScopes && rule != ofReasons && rule != ofHTTP {
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

// matters says for each rule what users notice when it is broken.
func matters() map[string]string {
	return map[string]string{
		"S01":  "after a quiet time the quota is larger than it should be, so that the next outage gets more retries than the service can bear",
		"S02":  "in an outage the client sends more retries than the service can bear, or gives up earlier than other SDKs",
		"S03":  "slow answers use up the quota faster or slower than the SDKs do, so that the number of retries in an outage differs",
		"S04":  "throttles use up the quota faster or slower than the SDKs do, so that the number of retries differs while a service throttles",
		"S05":  "after an outage retries stay off although the service works again",
		"S06":  "the quota recovers too fast or too slowly while some operations succeed after retries",
		"S07":  "failed operations give tokens back, so that the quota does not stop the retries of an outage, or canceled ones use it up",
		"S08":  "operations that end at their limit use up quota that other operations need",
		"S09":  "in an outage the retries go on, or callers wait for an error that is known already",
		"S10":  "retries come sooner than the service expects, or callers wait longer than they have to",
		"S11":  "retries come sooner than the service expects, or callers wait longer than they have to",
		"S12":  "after a throttle the retry comes as soon as after other failures, or the other way round",
		"S13":  "clients that failed together come back together, and load the service in waves",
		"S14":  "the service says when to come back and the client comes earlier, or much later",
		"S14b": "the service says when to come back and the client comes earlier, or much later",
		"S15":  "a consumer that polls in a loop calls a failing service without a pause once the quota is empty",
		"S16":  "consumers that poll get answers and errors late",
		"S17":  "calls of DynamoDB have other delays and fewer attempts than in other SDKs",
		"S17b": "calls of DynamoDB have other delays or attempts than in other SDKs",
		"S18":  "each caller spends a quota of its own, so that many callers together overload the service",
		"S19":  "final errors give tokens back, so that the quota does not stop the retries of an outage",
		"S20":  "consumers that poll get errors later than they used to",
		"S21":  "a client with a wrong clock fails although the next attempt would be signed with the right time",
		"S22":  "an operation that must not be repeated is repeated",
		"A01":  "clients wait although the service has never throttled, or the first throttle finds nothing measured and stops them",
		"A02":  "after a change of the rate sends come in a burst, or not at all",
		"A03":  "the measured rate is wrong, so that a throttle cuts too much or too little",
		"A04":  "a throttle does not slow the client down, or slows it down too far",
		"A05":  "the rate recovers too slowly, or runs into the next throttle",
		"A06":  "after a quiet time a burst goes out at a rate that the service has never allowed",
		"A07":  "failures that are no throttles slow the client down",
		"A08":  "throttles of retries and last attempts are not heard, so that the client goes on too fast",
		"A09":  "retries pass the send rate, so that a throttled client sends more than its rate",
		"A10":  "attempts go out earlier or later than the send rate says",
		"A11":  "some callers wait for ever while others overtake them",
		"A14":  "callers sleep on at an old rate although the rate has changed",
		"A15":  "in adaptive mode the client sends more retries in an outage, or gives up earlier, than in standard mode",
		"A16":  "the first seconds of a client are measured wrong, so that the first throttle cuts too much or too little",
		"A18":  "calls that were given up hold back the calls behind them",
		"C01":  "throttles fail at once, or are retried as soon as other failures",
		"C02":  "failures that pass fail at once",
		"C03":  "failures of the server fail at once, or requests that can never work are repeated",
		"C04":  "a throttle that says 429 fails at once, or is retried as soon as other failures",
		"C05":  "requests with a wrong signature are repeated in vain, or a client with a wrong clock fails for good",
		"C06":  "requests that can never work are repeated, and use up the quota",
		"C07":  "broken connections and timeouts fail at once, or an end that the caller asked for is retried",
		"C08":  "throttles with another status are retried as soon as other failures",
	}
}
