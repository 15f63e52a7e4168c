package conformance_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/conformance"
	"github.com/awsretry/awsretry/retry"
)

// found is a loop with one fault, and what the suite says of it.
type found struct {
	fault fault
	// rules are those that the fault breaks. also are other rules that the suite cannot tell from
	// them, because a case depends on several rules. The suite is better the fewer these are.
	rules, also string
}

// broken returns the faulty loops of one generation and mode.
func broken(b retry.Behavior, adaptive bool) []found {
	switch {
	case adaptive:
		return []found{
			{"first success adds nothing", "S05", ""},
			{"send token before the backoff", "A09", "A03 A06 A10 A15"},
			{"no send token for retries", "A09", "A03 A06 A10 A15"},
			{"the last comes first", "A11", "A10 A16"},
			{"a caller that left keeps its place", "A18", ""},
			{"a caller that left takes a token", "A18", "A11"},
			{"throttles of last attempts are not heard", "A08", "A03 A04 A06 A09 A10 A11 A14 A16 A18"},
			{"failures are not measured", "A08", "A09 A10 A15"},
			{"windows of a second", "A03", "A04 A05 A06 A09 A16"},
			{"cut to one half", "A05", "A03 A04 A06 A08 A09 A10 A14 A15 A16"},
			{"every failure is a throttle", "A07", "S11 S12 S13 S14 S17 S21 A08 A09 A10 A15"},
			{"one cut only", "A04", "A03 A05 A06 A09 A10"},
			{"no limit of twice the measured rate", "A06", "A03 A09 A10 A15"},
			{"sleeping on at the old rate", "A14", ""},
		}
	case b == retry.V20:
		return []found{
			{"timeouts cost as other failures", "S03", "S04 S06 S07 S09 S18 S19 S21"},
			{"failures refund", "S07", "S08 S18 S19"},
			{"long poll sleeps", "S20", ""},
			{"DynamoDB is special", "S17b", ""},
			{"no refund", "S06", "S02 S04 S05 S09 S18 S21"},
			{"hint ignored", "S14b", ""},
			{"index from 1", "S10", "S12 S13 S14b S17b"},
			{"equal jitter", "S13", "S10 S14b S17b S21"},
			{"no quota", "S09", "S21"},
		}
	default:
		return []found{
			{"no refund", "S06", "S01 S02 S03 S04 S05 S09 S18 S21"},
			{"refund and one token", "S06", "S02 S03 S04 S05 S09 S18 S21"},
			{"refund twice", "S06", "S02 S03 S04 S05 S09 S18 S21"},
			{"refund of all retries", "S06", "S02 S03 S04 S18 S21"},
			{"first success adds 2", "S05", "S01 S02 S03 S04 S06 S07 S08 S18 S19 S21"},
			{"first success adds nothing", "S05", ""},
			{"charge before the limit", "S08", "S03 S05 S07 S21"},
			{"throttles cost as other failures", "S04", "S01 S02 S03 S05 S06 S07 S08 S15 S18 S19 S21"},
			{"timeouts cost ten", "S03", "S02 S04 S08 S09"},
			{"retries cost five", "S02", "S03 S04 S06 S08 S09 S15 S17 S18 S19 S21"},
			{"skew is free", "S21", "S03 S09 S15"},
			{"no quota", "S09", "S17 S21"},
			{"a refusal empties the quota", "S09", "S01 S02 S04 S05 S06 S15 S18"},
			{"refund above the capacity", "S01", "S07 S08"},
			{"retries after the caller's end", "C07", ""},
			{"one base for all", "S12", "S09 S11 S14 S15 S17 C01 C04 C05 C08"},
			{"index from 1", "S11", "S12 S13 S14 S15 S17 S21"},
			{"no maximum", "S11", "S12 S13 S14 S17"},
			{"jitter before the cap", "S13", "S11"},
			{"equal jitter", "S13", "S12 S14 S15 S21"},
			{"base of the first failure", "S12", "S14 S17"},
			{"hint ignored", "S14", "S15"},
			{"hint shortens", "S14", "S15"},
			{"hint without a limit", "S14", "S15"},
			{"long poll does not sleep", "S15", ""},
			{"long poll sleeps before any end", "S16", ""},
			{"sleeps before a refusal", "S09", ""},
			{"DynamoDB is nothing special", "S17", "S03 S11 S14 S15 S21"},
			{"DynamoDB overrules the user", "S17 S22", ""},
			{"404 is retried", "C06", "S07 S19 C08"},
			{"501 is retried", "C03", "S07"},
			{"504 is final", "C03", "S02 S03 S04 S21"},
			{"429 is ordinary", "C04", "S04 S11 C05"},
			{"throttling codes are ordinary", "C01 C08", "S01 S02 S03 S04 S05 S06 S07 S08 S09 S11 S12 S14 S15 S17 S18 S19 S21"},
			{"skew codes are always retried", "C05", "S08 C06"},
			{"skew is not retried", "C05 S21", "S03 S09 S15"},
			{"connections are not retried", "C07", "S03 S09 S15 S19"},
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
			require.Equal(t, len(report.Rules), report.Count(conformance.Kept), report)
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
