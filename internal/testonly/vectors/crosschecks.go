package vectors

import (
	"encoding/json"
	"testing"
)

// CrossChecks is the file cross-checks.json, which restates public tests of AWS SDKs.
type CrossChecks struct {
	About

	Sources     map[string]PublicTests `json:"sources"`
	Decisions   map[string]string      `json:"decisions"`
	Differences []Difference           `json:"differences"`
	LongPolls   []LongPoll             `json:"long_polls"`

	// Each part has the form of the file with its name. Load adds it to the cases of that file.
	Standard       json.RawMessage `json:"standard"`
	Adaptive       json.RawMessage `json:"adaptive"`
	Classification json.RawMessage `json:"classification"`
}

// ReadCrossChecks reads cross-checks.json from the folder testdata of the repository.
func ReadCrossChecks(t *testing.T) CrossChecks {
	t.Helper()
	return read[CrossChecks](t, inTestdata(t, "cross-checks.json"))
}

// PublicTests is a file with tests in a public repository. No rule speaks of the tests in Beyond.
type PublicTests struct {
	Repository string `json:"repository"`
	Path       string `json:"path"`
	Version    string `json:"version"`
	Beyond     []struct {
		Why   string   `json:"why"`
		Tests []string `json:"tests"`
	} `json:"beyond"`
}

// Difference is a case of which the public test says something else. Public has the values of
// that test by their places in the case, such as steps.0.want.delay_s.
type Difference struct {
	ID       string             `json:"id"`
	Case     string             `json:"case"`
	Public   map[string]float64 `json:"public"`
	Theirs   string             `json:"theirs"`
	Ours     string             `json:"ours"`
	Notices  string             `json:"notices"`
	Decision string             `json:"decision"`
}

// LongPoll is an operation of a service, and whether it is a long poll.
type LongPoll struct {
	Case

	Service   string `json:"service"`
	Operation string `json:"operation"`
	LongPoll  bool   `json:"long_poll"`
}

// part returns the part with the form of the file of that name, or nil.
func (c CrossChecks) part(name string) json.RawMessage {
	switch name {
	case "standard.json":
		return c.Standard
	case "adaptive.json":
		return c.Adaptive
	case "classification.json":
		return c.Classification
	default:
		return nil
	}
}
