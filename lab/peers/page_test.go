//go:build long

package peers

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/awsretry/awsretry/lab/conformance"
)

// intro is the page above the tables.
const intro = `# Peers

See which retry rules of the AWS SDKs this module, aws-sdk-go-v2, wrappers around it, and other libraries keep. The module
[conformance](README.md) tests any retryer that can be called as a function. To write this page again:

` + "```sh\nmake conformance\n```" + `

The [rules](rules.md#rules-of-standard-mode) are those of v2.1, the default of the AWS SDKs. A library with other aims
need not keep them.

| sign | meaning |
|---|---|
| yes | The retryer keeps the rule in every case. |
| **no** | At least one case differs. [What differs](#what-differs) says what a user notices. |
| see S06 | It differs only because rule S06 is not kept. |
| - | Not seen: the retryer lacks a setting that the cases need, or another broken rule or a wait hides this one. |
| n/a | Not meant: the retryer has another aim. |

This module's strategies keep the rules of v2.0 with ` + "`WithBehavior(retry.V20)`" + `.
`

// short has a short wording of each rule. The wording of the rule is in lab/conformance/rules.md.
func short() map[string]string {
	return map[string]string{
		"S01": "quota never above its capacity",
		"S02": "ordinary retry costs 14",
		"S03": "retry after a timeout costs 14",
		"S04": "retry after a throttle costs 5",
		"S05": "first-attempt success adds 1",
		"S06": "success after retries refunds the last cost",
		"S07": "failure refunds nothing",
		"S08": "attempt limit before quota",
		"S09": "empty quota: error at once",
		"S11": "backoff of 50 ms, 1 s after throttles, doubling",
		"S12": "last failure decides the base",
		"S13": "jitter over the whole backoff",
		"S14": "hint adds up to 5 s",
		"S15": "long poll without tokens sleeps first",
		"S16": "and before no other end",
		"S17": "DynamoDB: 25 ms, four attempts",
		"S18": "one quota for a client",
		"S19": "final error refunds nothing",
		"S21": "wrong clock is retried",
		"S22": "one attempt: no retry",
		"A01": "free sends until a throttle",
		"A02": "new rate keeps the tokens",
		"A03": "rate measured in half seconds",
		"A04": "throttle cuts the measured rate",
		"A05": "the cut is to 0.7, then a cubic curve",
		"A06": "at most twice the measured rate",
		"A07": "all answers but throttles count",
		"A08": "every attempt moves the rate",
		"A09": "every attempt takes a token",
		"A10": "wait for missing tokens",
		"A11": "waits are served in order",
		"A14": "new rate moves waits",
		"A15": "quota of standard mode",
		"A16": "state at the start",
		"A18": "abandoned attempts leave the line",
		"C01": "throttling codes are throttles",
		"C02": "transient codes are retried",
		"C03": "of 5xx only 500, 502, 503, 504 are retried",
		"C04": "429 is a throttle, without a hard quota's code",
		"C05": "clock codes need a wrong clock",
		"C06": "all other errors are final",
		"C07": "timeouts and broken connections are retried",
		"C08": "at any status",
	}
}

// pageOf returns lab/conformance/peers.md.
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

// table writes the rules with this letter. Rules with the same results share a row.
func table(b *strings.Builder, title, letter string, columns []column) {
	fmt.Fprintf(b, "\n## %s\n\n| rules |", title)
	for _, c := range columns {
		b.WriteString(" " + c.column + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	var rows []string
	rules := map[string][]string{}
	for _, id := range ids(columns) {
		if !strings.HasPrefix(id, letter) {
			continue
		}
		signs := make([]string, len(columns))
		for i, c := range columns {
			signs[i] = c.sign(id)
		}
		row := " " + strings.Join(signs, " | ") + " |"
		if rules[row] == nil {
			rows = append(rows, row)
		}
		rules[row] = append(rules[row], id+" "+short()[id])
	}
	for _, row := range rows {
		b.WriteString("| " + strings.Join(rules[row], "; ") + " |" + row + "\n")
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
	var items, alike []string
	like := ""
	for _, id := range ids([]column{c}) {
		v, n := c.rules[id], c.notes[id]
		if v.result != conformance.Broken || len(n.from) > 0 {
			continue
		}
		if n.like != "" {
			alike, like = append(alike, id), n.like
			continue
		}
		item := fmt.Sprintf("%s%s: %s", id, c.in(v), n.effect)
		if n.issue != "" {
			item += fmt.Sprintf(" Known as [%s](%s).", issueText(n.issue), n.issue)
		}
		items = append(items, item)
	}
	if len(alike) > 0 {
		items = append(items, fmt.Sprintf("%s: as %s.", strings.Join(alike, ", "), like))
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
			text += fmt.Sprintf(" (%d through another)", follow)
		}
		said = append(said, text)
	}
	return "Rules: " + strings.Join(said, ", ") + "."
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
