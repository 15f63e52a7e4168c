//go:build long

package peers

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/awsretry/awsretry/conformance"
)

// intro is the page above the tables.
const intro = `# Conformance

The module [conformance](../conformance/README.md) holds a retryer against the retry rules of the AWS SDKs: what a retry
costs, how long it waits, when it is refused, what adaptive mode does to the send rate, and which failures are retried.
It stands where a service stands, so that it takes every retryer that can be called as a function. Its
[README](../conformance/README.md) shows a test with a retryer of ten lines and the report that the test prints.

This page is what the suite says of the strategies of this module, of aws-sdk-go-v2, of retryers around it as programs
write them, and of retry libraries with their defaults. ` + "`make conformance`" + ` writes the page, and a test
compares it. The [rules](architecture.md#rules-of-standard-mode) are those of the AWS SDKs; a library that has other
aims does not have to keep them.

- [How to read the tables](#how-to-read-the-tables)
- [Standard mode](#standard-mode)
- [Adaptive mode](#adaptive-mode)
- [Classification](#classification)
- [What differs](#what-differs)

## How to read the tables

| sign | meaning |
|---|---|
| yes | The retryer keeps the rule in every case that it was asked. |
| **no** | At least one case came out differently. [What differs](#what-differs) says what a user notices. |
| see S06 | The cases of this rule came out differently only because rule S06 is not kept. |
| - | Nothing was seen of the rule: the retryer does not take a setting that its cases need, another rule that it does not keep hides this one, or a wait for the send rate hides it. |
| n/a | The rule is not meant: the retryer has another aim. |

The rules are those of v2.1, the default of the AWS SDKs since 2026-11. A test holds the strategies of this module with
` + "`WithBehavior(retry.V20)`" + ` against the rules of v2.0, which they keep.
`

// short has a short wording of each rule. The wording of the rule is in docs/architecture.md.
func short() map[string]string {
	return map[string]string{
		"S01": "the quota never holds more than its capacity",
		"S02": "cost of an ordinary retry: 14 tokens",
		"S03": "cost of a retry after a timeout: 14 tokens",
		"S04": "cost of a retry after a throttle: 5 tokens",
		"S05": "a success at the first attempt adds 1 token",
		"S06": "a success after retries gives back the last cost",
		"S07": "a failed operation gives nothing back",
		"S08": "the limit of attempts comes before the quota",
		"S09": "too few tokens: the error comes at once",
		"S11": "backoff of 50 ms, after throttles 1 s, doubled by each retry",
		"S12": "the last failure decides the base of a backoff",
		"S13": "jitter applies to the whole backoff",
		"S14": "a hint of the server adds up to 5 s",
		"S15": "a long poll without tokens sleeps before its error",
		"S16": "a long poll sleeps before no other end",
		"S17": "DynamoDB has 25 ms and four attempts",
		"S18": "the operations of a client share one quota",
		"S19": "a final error after retries gives nothing back",
		"S21": "an error by a wrong clock is retried",
		"S22": "one attempt: no retry",
		"A01": "sends are free until the first throttle",
		"A02": "a new rate keeps what has gathered",
		"A03": "the send rate is measured in windows of half a second",
		"A04": "a throttle cuts from the measured rate",
		"A05": "the cut is to 0.7, and the rate grows along a cubic curve",
		"A06": "the rate is at most twice the measured one",
		"A07": "all answers but throttles count as served",
		"A08": "every attempt moves the rate",
		"A09": "every attempt takes a send token after its backoff",
		"A10": "an attempt waits for what is missing at the rate",
		"A11": "waiting attempts are served in their order",
		"A14": "a new rate moves the waits that are under way",
		"A15": "the quota is that of standard mode",
		"A16": "the state at the start",
		"A18": "an attempt that is given up leaves the line",
		"C01": "throttling codes are retried as throttles",
		"C02": "transient codes are retried",
		"C03": "of the statuses from 500 on only 500, 502, 503 and 504 are retried",
		"C04": "429 is a throttle, without the code of a hard quota",
		"C05": "codes of a wrong clock need a wrong clock",
		"C06": "other errors are final",
		"C07": "timeouts and broken connections are retried",
		"C08": "throttling codes count at any status",
	}
}

// pageOf returns docs/conformance.md.
func pageOf(columns []column) string {
	var b strings.Builder
	b.WriteString(intro)
	table(&b, "Standard mode", "S", columns)
	table(&b, "Adaptive mode", "A", slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return !c.adaptive }))
	table(&b, "Classification", "C", columns)
	b.WriteString("\n## What differs\n")
	for _, c := range columns {
		c.write(&b)
	}
	return b.String()
}

// table writes the rules with this letter.
func table(b *strings.Builder, title, letter string, columns []column) {
	fmt.Fprintf(b, "\n## %s\n\n| rule |", title)
	for _, c := range columns {
		b.WriteString(" " + c.column + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, id := range ids(columns) {
		if !strings.HasPrefix(id, letter) {
			continue
		}
		fmt.Fprintf(b, "| %s: %s |", id, short()[id])
		for _, c := range columns {
			b.WriteString(" " + c.sign(id) + " |")
		}
		b.WriteString("\n")
	}
}

// sign returns the cell of a rule.
func (c column) sign(id string) string {
	switch c.rules[id].result {
	case conformance.Kept:
		return "yes"
	case conformance.Broken:
		if from := c.notes[id].from; len(from) > 0 {
			return "see " + strings.Join(from, ", ")
		}
		return "**no**"
	case conformance.NotAsked:
		return "-"
	default:
		return "n/a"
	}
}

// write writes what a reader of the tables wants to know about the peer.
func (c column) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n", c.column, wrapped(c.about+" "+c.counts()))
	var items []string
	for _, id := range ids([]column{c}) {
		v, n := c.rules[id], c.notes[id]
		if v.result != conformance.Broken || len(n.from) > 0 {
			continue
		}
		item := fmt.Sprintf("%s, %s%s: %s", id, short()[id], c.in(v), n.effect)
		if n.issue != "" {
			item += fmt.Sprintf(" Known as [%s](%s).", issueText(n.issue), n.issue)
		}
		items = append(items, item)
	}
	for _, item := range append(items, c.reasons()...) {
		b.WriteString("\n" + wrapped("- "+item))
	}
	if len(items)+len(c.reasons()) > 0 {
		b.WriteString("\n")
	}
}

// counts says how many rules have each result.
func (c column) counts() string {
	n := map[conformance.Result]int{}
	follow := 0
	for id, v := range c.rules {
		n[v.result]++
		if len(c.notes[id].from) > 0 {
			follow++
		}
	}
	var said []string
	for _, r := range []conformance.Result{conformance.Kept, conformance.Broken, conformance.NotAsked, conformance.NotMeant} {
		if n[r] == 0 {
			continue
		}
		text := fmt.Sprintf("%d %s", n[r], r)
		if r == conformance.Broken && follow > 0 {
			text += fmt.Sprintf(" (%d of them only because another one is)", follow)
		}
		said = append(said, text)
	}
	return fmt.Sprintf("Of %d rules: %s.", len(c.rules), strings.Join(said, ", "))
}

// in names the ways that break a rule, if not all do.
func (c column) in(v verdict) string {
	if len(v.broken) == len(c.ways) {
		return ""
	}
	var ways []string
	for _, f := range v.broken {
		ways = append(ways, f.way)
	}
	return " (in " + strings.Join(ways, ", ") + ")"
}

// reasons returns the rules that are not meant, once for each reason.
func (c column) reasons() (said []string) {
	rules := map[string][]string{}
	var order []string
	for _, id := range ids([]column{c}) {
		if v := c.rules[id]; v.result == conformance.NotMeant {
			if rules[v.reason] == nil {
				order = append(order, v.reason)
			}
			rules[v.reason] = append(rules[v.reason], id)
		}
	}
	for _, reason := range order {
		said = append(said, "Not meant: "+strings.Join(rules[reason], ", ")+". "+reason)
	}
	return said
}

var issuePattern = regexp.MustCompile(`^https://github\.com/([^/]+/[^/]+)/(?:issues|pull)/(\d+)$`)

// issueText returns the short name of an issue.
func issueText(address string) string { return issuePattern.ReplaceAllString(address, "$1#$2") }

// width is that of the lines of a page.
const width = 120

// wrapped breaks a paragraph, or an item of a list, into lines.
func wrapped(text string) string {
	indent := "\n"
	if strings.HasPrefix(text, "- ") {
		indent = "\n  "
	}
	var b strings.Builder
	room := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case b.Len() == 0:
			room = width
		case len(word) < room:
			b.WriteString(" ")
			room--
		default:
			b.WriteString(indent)
			room = width - len(indent) + 1
		}
		b.WriteString(word)
		room -= len(word)
	}
	return b.String()
}
