//go:build !race

package conformance_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/lab/conformance"
	"github.com/awsretry/awsretry/retry"
)

// found is a loop with one fault, and what the suite says of it.
type found struct {
	fault fault
	// rules are those that the fault breaks, and also others that the suite names because it cannot
	// tell them apart: each of their cases depends on several rules. What a fault breaks and the
	// suite lays to another rule is in a comment. The fewer there are of both, the better.
	rules, also string
}

// broken returns the faulty loops of one generation and mode.
func broken(b retry.Behavior, adaptive bool) []found {
	switch {
	case adaptive:
		return []found{
			{"first success adds nothing", "S05", ""},
			{"send token before the backoff", "A09", "A15 S07"},
			{"no send token for retries", "A09", ""},
			{"the last comes first", "A11", ""},
			{"a caller that left keeps its place", "A18", ""},
			{"a caller that left takes a token", "A18", ""},
			{"throttles of last attempts are not heard", "A08", "A03 A04 A10 A14 A18"},
			{"failures are not measured", "A08", "A09"},
			{"windows of a second", "A03", "A04 A08 A09"},
			{"cut to one half", "", "A03 A04 A08 A09 A14 A16"},         // breaks A05
			{"every failure is a throttle", "", "S11 C02 C03 C05 C07"}, // breaks A07
			{"one cut only", "A04", "A09"},
			{"no limit of twice the measured rate", "", "A09"}, // breaks A06
			{"sleeping on at the old rate", "A14", ""},
		}
	case b == retry.V20:
		return []found{
			{"timeouts cost as other failures", "S03", ""},
			{"failures refund", "", "S08"}, // breaks S07
			{"long poll sleeps", "S20", ""},
			{"DynamoDB is special", "S17b", ""},
			{"no refund", "S06", ""},
			{"hint ignored", "S14b", ""},
			{"index from 1", "S10", ""},
			{"equal jitter", "S13", ""},
			{"no quota", "S09", ""},
		}
	default:
		return []found{
			{"no refund", "S06", ""},
			{"refund and one token", "S06", ""},
			{"refund twice", "S06", ""},
			{"refund of all retries", "S06", ""},
			{"first success adds 2", "S05", ""},
			{"first success adds nothing", "S05", ""},
			{"charge before the limit", "S08", ""},
			{"throttles cost as other failures", "S04", ""},
			{"timeouts cost ten", "S03", ""},
			{"retries cost five", "S02", "S03 S21"},
			{"skew is free", "S21", "S15"},
			{"no quota", "S09", ""},
			{"a refusal empties the quota", "", "S02 S05"}, // breaks S09
			{"refund above the capacity", "S01", "S07"},
			{"retries after the caller's end", "C07", "S07"},
			{"one base for all", "", "S11 S14"}, // breaks S12
			{"index from 1", "S11", "S14"},
			{"no maximum", "S11", ""},
			{"jitter before the cap", "S13", ""},
			{"equal jitter", "S13", "S14"},
			{"base of the first failure", "S12", "S14 S17"},
			{"hint ignored", "S14", ""},
			{"hint shortens", "S14", "S15"},
			{"hint without a limit", "S14", ""},
			{"long poll does not sleep", "S15", ""},
			{"long poll sleeps before any end", "S16", ""},
			{"sleeps before a refusal", "S09", ""},
			{"DynamoDB is nothing special", "S17", "S14 S15"},
			{"DynamoDB overrules the user", "S17", ""}, // breaks S22
			{"404 is retried", "C06", "S07 S19 C08"},
			{"501 is retried", "C03", "S07"},
			{"504 is final", "C03", "S21"},
			{"429 is ordinary", "", "S04 S11"},                   // breaks C04
			{"throttling codes are ordinary", "", "S04 S11 S14"}, // breaks C01 C08
			{"skew codes are always retried", "C05", "S08 C06"},
			{"skew is not retried", "C05 S21", ""},
			{"connections are not retried", "C07", ""},
			{"every deadline is the caller's", "C07", ""},
		}
	}
}

func TestEachFaultIsFound(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct {
		behavior retry.Behavior
		adaptive bool
	}{{retry.V20, false}, {retry.V21, false}, {retry.V21, true}} {
		for _, f := range broken(kind.behavior, kind.adaptive) {
			name := "standard/"
			if kind.adaptive {
				name = "adaptive/"
			}
			t.Run(name+string(kind.behavior)+"/"+string(f.fault), func(t *testing.T) {
				t.Parallel()
				report := conformance.Check(t, subjectOf(f.fault, kind.behavior, kind.adaptive))
				require.ElementsMatch(t, strings.Fields(f.rules+" "+f.also), blamed(report))
			})
		}
	}
}

func TestLoopWithoutFaultKeepsTheRules(t *testing.T) {
	t.Parallel()
	for _, b := range []retry.Behavior{retry.V20, retry.V21} {
		for _, adaptive := range []bool{false, true} {
			report := conformance.Check(t, subjectOf("", b, adaptive))
			require.Zero(t, report.Count(conformance.Broken), report)
			require.GreaterOrEqual(t, report.Count(conformance.Kept), len(report.Rules)-5, report)
		}
	}
}

// blamed returns the rules that the suite says are broken.
func blamed(r conformance.Report) (ids []string) {
	for _, rule := range r.Rules {
		if rule.Result == conformance.Broken {
			ids = append(ids, rule.ID)
		}
	}
	return ids
}

// subjectOf returns a loop with a fault as a subject.
func subjectOf(f fault, b retry.Behavior, adaptive bool) conformance.Subject {
	return conformance.Subject{Name: "a loop with fault: " + string(f), Behavior: b, Adaptive: adaptive, New: newLoop(f, adaptive)}
}
