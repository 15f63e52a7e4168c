// Package tools reads the two shared files as four AWS tools do, and says where what they find is not what awsretry
// finds.
//
// Each of golang.go, python.go and javascript.go is a reader of a tool, own.go one of awsretry. A reader keeps only what
// decides the retry settings, and says of each line what the tool makes of it. compare.go holds a tool's reading beside
// that of awsretry, and environment.go says what each tool makes of variables.
//
// The tools were measured in November 2026: aws-sdk-go-v2 config 1.33.16, botocore 1.43.11, AWS CLI 2.9.19, and
// @smithy/shared-ini-file-loader 4.7.2 of the JavaScript SDK.
package tools

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/awsretry/awsretry/internal/sharedfile"
)

// The names of the tools.
const (
	Go         = "aws-sdk-go-v2"
	Botocore   = "botocore"
	CLI        = "aws-cli"
	JavaScript = "js"
)

// Place is the start of a line.
type Place struct {
	File   int8 // 0 for the config file, 1 for the credentials file, or nowhere.
	Offset int32
}

// nowhere is the file of a place in no file.
const nowhere = -1

// stepKind is what a reader takes a line for.
type stepKind uint8

const (
	nothing  stepKind = iota // A blank line or a comment, which has no step.
	skipped                  // A line without effect.
	header                   // The header of a section. The malformed ones that end the section above are among them.
	property                 // A line with a key.
	part                     // A part of the value of an earlier property.
)

// step is what a reader makes of a line.
type step struct {
	offset  int32
	kind    stepKind
	setting int8   // Of a property: which retry setting it is, from 1.
	of      int32  // Of a part: where the property is.
	profile string // That of the section, or empty.
}

// Which retry setting.
const (
	mode = iota
	attempts
)

// settingOf returns which retry setting a key is, or a negative number.
func settingOf(key string) int {
	return slices.Index([]string{mode: sharedfile.RetryMode, attempts: sharedfile.MaxAttempts}, key)
}

// keyOf, variableOf and cureOf return the key of a setting, its variable, and what to do about a bad value.
func keyOf(i int) string { return [...]string{sharedfile.RetryMode, sharedfile.MaxAttempts}[i] }

func variableOf(i int) string {
	return [...]string{sharedfile.EnvRetryMode, sharedfile.EnvMaxAttempts}[i]
}

func cureOf(i int) string {
	return [...]string{"write standard or adaptive, in lower case and without quotes", "write a whole number from 1 in plain digits"}[i]
}

// value is the value of a key.
type value struct {
	Place
	set    bool
	more   bool // It has further lines, which are not kept.
	shared bool // It stands in another section, whose keys count in all.
	text   string
}

// profile is what a reader keeps of a profile.
type profile struct {
	head   Place
	values [2]value
	refuse *refusal

	credentials map[string]value // The keys that can make aws-sdk-go-v2 refuse a profile. Other tools have none.
}

// fill adds what a weaker profile has. If that is shared, it counts in other profiles too.
func (p *profile) fill(weaker *profile, shared bool) {
	for i, v := range weaker.values {
		if !p.values[i].set {
			v.shared = v.shared || shared
			p.values[i] = v
		}
	}
	if weaker.credentials == nil {
		weaker.credentials = p.credentials
	}
	maps.Copy(weaker.credentials, p.credentials)
	p.credentials = weaker.credentials
}

// refusal is why a tool refuses a file or a profile, and what to do.
type refusal struct {
	Place
	why, cure string
}

// reading is what a reader makes of both files.
type reading struct {
	profiles map[string]*profile
	refuse   *refusal    // It refuses everything.
	dropped  [2]*refusal // Why a file counts as empty.
}

// tracer gets the steps of a file in the order of their places.
type tracer func(file int8, s *step)

// reader reads the two files of a tool.
type reader func(texts [2]string, trace tracer) *reading

// scan is a pass over the lines of a file.
type scan struct {
	file     int8
	trace    tracer
	step     step // Of the line at hand.
	sections map[string]*profile
	order    []string // The sections in the order in which section added them.
	refuse   *refusal // It ends the pass.

	name  string // The profile of the current section.
	above above
}

// above is the last property of the current section.
type above struct {
	there, empty bool
	group        bool // Indented lines belong to it, as it has no value.
	offset       int32
	kept         *value // If it is kept.
}

// lines calls read for each line of a text, until it sets refuse. A line ends at LF, and at end. It has a step if read
// returns true.
func (f *scan) lines(text string, end byte, read func(line string) bool) {
	for next := 0; next < len(text) && f.refuse == nil; {
		f.step = step{offset: int32(next), kind: skipped}
		line := text[next:]
		if length := either(line, '\n', end); length >= 0 {
			line = line[:length]
		}
		if next += len(line) + 1; read(line) {
			f.step.profile = f.name
			f.trace(f.file, &f.step)
		}
	}
}

// at is where the line at hand is.
func (f *scan) at() Place { return Place{f.file, f.step.offset} }

// note notes a fault in the line at hand, unless there is one.
func (f *scan) note(fault **refusal, why, cure string) {
	if *fault == nil {
		*fault = &refusal{f.at(), why, cure}
	}
}

// section adds a section, which has its header at a place.
func (f *scan) section(name string, head Place) *profile {
	p := &profile{head: head}
	f.sections[name] = p
	f.order = append(f.order, name)
	return p
}

// property takes the line at hand for a property, and keeps its value if it is a retry setting.
func (f *scan) property(p *profile, key, text string) {
	f.step.kind = property
	f.above = above{there: true, empty: text == "", offset: f.step.offset}
	if i := settingOf(key); i >= 0 {
		f.step.setting = int8(i + 1)
		p.values[i] = value{Place: f.at(), set: true, text: text}
		f.above.kept = &p.values[i]
	}
}

// continued takes the line at hand for a part of the property above.
func (f *scan) continued() {
	f.step.kind, f.step.of = part, f.above.offset
	if f.above.kept != nil {
		f.above.kept.more = true
	}
}

// The states of an outcome.
type state uint8

const (
	found state = iota
	missing
	refused
)

// outcome is what a tool makes of a profile and of the variables.
type outcome struct {
	state   state
	texts   [2]string // What counts for each setting; empty if it is not set.
	at      [2]Place  // Where that is.
	refusal *refusal  // Of the state refused.
}

// differs reports whether two outcomes are not the same for a client.
func (o outcome) differs(other outcome) bool {
	return o.state != other.state || o.state == found && o.texts != other.texts
}

const refusesValue = "the value is refused"

// refused returns the refusal of a value of a setting.
func (v value) refused(i int) *refusal {
	why, cure := refusesValue, cureOf(i)
	if v.more {
		why, cure = why+", as further lines belong to it", "start the lines below it in the first column"
	}
	return &refusal{v.Place, why, cure}
}

// pythonSpace and jsSpace report what Python and JavaScript take for whitespace.
func pythonSpace(c rune) bool { return unicode.IsSpace(c) || 0x1c <= c && c <= 0x1f }
func jsSpace(c rune) bool     { return c == '\uFEFF' || c != '\u0085' && unicode.IsSpace(c) }

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// trimmed drops whitespace at both ends. Most texts have none, and are then as they are.
func trimmed(text string, space func(rune) bool) string {
	if text == "" || isPlain(text[0]) && isPlain(text[len(text)-1]) {
		return text
	}
	return strings.TrimFunc(text, space)
}

// isPlain reports whether a byte is a character that no tool takes for whitespace.
func isPlain(c byte) bool { return ' ' < c && c < utf8.RuneSelf }

// either returns where the first of two bytes is, or a negative number.
func either(text string, a, b byte) int {
	for i := range len(text) {
		if text[i] == a || text[i] == b {
			return i
		}
	}
	return -1
}
