package tools

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// Difference is what a tool reads differently than awsretry. Of the texts of files it contains accepted values only.
type Difference struct {
	File     int    // 0 for the config file, 1 for the credentials file.
	Line     int    // From 1.
	Variable string // If it is not empty, the difference is about this variable and not about a file.
	Tool     string
	Text     string // What the tool makes of the line or variable, why, and what to do.

	at   int32 // Where the line starts for the tool.
	rank int   // That of beside.
}

func (d Difference) compare(other Difference) int {
	return cmp.Or(cmp.Compare(d.File, other.File), cmp.Compare(d.at, other.at), cmp.Compare(d.rank, other.rank), cmp.Compare(d.Text, other.Text))
}

// Comparison holds the readings of the tools beside that of awsretry.
type Comparison struct {
	src   config.Sources
	env   environment
	pair  *sharedfile.Pair
	files [2]ownFile
	own   *reading

	python *view // What all tools in Python read.
}

// Open reads all of an open pair as awsretry does. The profile in use is that of src, or else of variables.
func Open(src config.Sources, pair *sharedfile.Pair) *Comparison {
	c := &Comparison{src: src, env: environment{pair.Lookup, src.Profile}, pair: pair}
	c.own = readOwn(pair, &c.files)
	return c
}

// Differences reports what the tools read differently for the profile in use, with the variables and without them, and
// with every, for all profiles. With refusals, it reports each file that a tool refuses, also if awsretry refuses each
// profile.
func (c *Comparison) Differences(every, refusals bool, report func(Difference)) {
	for _, t := range all() {
		b := &beside{Comparison: c, tool: t, report: report, refusals: refusals, found: map[Place]Difference{}}
		b.read()
		if every {
			b.profiles()
		} else {
			b.profile(own().selects(c.env).name)
		}
		b.rank++
		b.selection()
		found := slices.AppendSeq(make([]Difference, 0, len(b.found)), maps.Values(b.found))
		b.view, b.found = nil, nil // The findings of a hostile file need their room.
		slices.SortFunc(found, Difference.compare)
		for _, d := range found {
			report(d)
		}
	}
}

// OfSDK returns what aws-sdk-go-v2 reads for a setting of a profile in the files, or of a variable. The text is empty if
// it is as if the setting were not there. ok is false if the SDK refuses the value.
func (c *Comparison) OfSDK(key, profile, variable string) (text string, ok bool) {
	i := settingOf(key)
	if variable != "" {
		given, _ := c.env.lookup(variable)
		return goText(i, value{Place: Place{File: nowhere}, text: given})
	}
	b := &beside{Comparison: c, tool: all()[0]}
	b.read()
	if p := b.its.profiles[profile]; p != nil && p.values[i].set {
		return goText(i, p.values[i])
	}
	return "", b.its.refuse == nil
}

// beside compares one tool with awsretry.
type beside struct {
	*Comparison
	tool
	report   func(Difference)
	refusals bool
	rank     int                  // Of two findings with one reason in one line, the one of the smaller rank counts.
	found    map[Place]Difference // What is to be reported, by its reason.

	*view
	next [2]int // The next step of awsretry.
	open [2]bool
}

// view is what a tool reads, beside what awsretry reads.
type view struct {
	its       *reading
	elsewhere [2]bool // The tool reads another file.
	runs      [2][]run
}

// run is a part of a file in which all steps of the tool and of awsretry differ.
type run struct {
	start, end int32
	own, its   step // Those of the first line.
}

func (b *beside) read() {
	if b.view = b.python; b.view != nil && b.empty {
		return
	}
	b.view, b.python = &view{}, nil // No other tool needs the one before.
	if b.empty {
		b.python = b.view
	}
	texts := b.opens()
	b.its = b.tool.read(texts, b.trace)
	for file := range int8(2) {
		if b.its.refuse == nil && b.its.dropped[file] == nil {
			b.until(file, int32(len(texts[file])))
		}
		if b.name == Go && errors.Is(b.pair.Files[file].Err, sharedfile.ErrDirectory) {
			b.its.refuse = &refusal{Place{File: file}, "it is a directory", "name a file"}
		}
	}
}

// trace holds a step of the tool beside those of awsretry.
func (b *beside) trace(file int8, s *step) {
	own := b.files[file].steps
	if n := b.next[file]; n < len(own) && own[n].offset == s.offset && own[n] == *s {
		b.next[file], b.open[file] = n+1, false
		return
	}
	b.until(file, s.offset)
	n, mine := b.next[file], step{}
	if n < len(own) && own[n].offset == s.offset {
		b.next[file], mine = n+1, own[n]
	}
	b.part(file, s.offset, mine, *s)
}

// until goes over the steps of awsretry before a place. For the tool, nothing is there.
func (b *beside) until(file int8, offset int32) {
	for f := &b.files[file]; b.next[file] < len(f.steps) && f.steps[b.next[file]].offset < offset; b.next[file]++ {
		s := f.steps[b.next[file]]
		b.part(file, s.offset, s, step{})
	}
}

func (b *beside) part(file int8, offset int32, own, its step) {
	if !b.open[file] {
		b.open[file] = true
		b.runs[file] = append(b.runs[file], run{start: offset, own: own, its: its})
	}
	b.runs[file][len(b.runs[file])-1].end = offset
}

// selection compares the profile in use, with the variables.
func (b *beside) selection() {
	mine, ours := own(), own().of(b.own, b.env)
	its := b.of(b.its, b.env)
	if ours.state == missing && (b.lenient || its.state != found) || ours.state == refused && ours.refusal.File == nowhere {
		return // The error of awsretry is about a variable.
	}
	if !ours.differs(its) {
		if b.refusals && b.its.refuse != nil {
			b.refuse(b.its.refuse, "the file")
		}
		return
	}
	told := b.variables()
	told = b.paths() || told
	at, used := b.selects(b.env), mine.selects(b.env)
	switch {
	case at.name != used.name:
		b.named(at, used)
	case its.state == missing && b.own.profiles[at.name] == nil:
		b.tell(at.variable, "a profile that no file has is refused")
	case !told:
		b.outcomes(used.name, ours, its)
	}
}

// tell reports what the tool makes of a variable.
func (b *beside) tell(variable, text string) {
	b.report(Difference{Variable: variable, Tool: b.name, Text: text})
}

// variables compares what the variables set, and reports whether that differs.
func (b *beside) variables() (differ bool) {
	for i, v := range b.env.settings() {
		ours, accepted := ownText(i, v)
		its, ok := b.accept(i, v)
		if !v.set || ok == accepted && (!ok || its == ours) {
			continue
		}
		differ = true
		text := refusesValue
		if ok {
			text = "the value is " + shown(i, its)
		}
		b.tell(variableOf(i), text)
	}
	return differ
}

// shown returns a value as a finding shows it. A mode that no tool knows may be any text.
func shown(i int, text string) string {
	switch {
	case text == "":
		return "not set"
	case i == mode && text != "standard" && text != "adaptive" && text != "legacy":
		return "one that is not known"
	}
	return text
}

// paths reports which files the tool finds elsewhere.
func (b *beside) paths() (differ bool) {
	for i, elsewhere := range b.elsewhere {
		if !elsewhere {
			continue
		}
		text := "the path is taken as it is"
		switch path, _ := b.env.lookup(pathVariableOf(i)); {
		case path == "":
			text = "an empty path is that of no file"
		case b.empty && strings.Contains(path, "$"):
			text = "'$' stands for a variable in a path"
		case b.empty:
			text = "a name behind ~ stands for the home directory of that user"
		}
		b.tell(pathVariableOf(i), text)
		differ = true
	}
	return differ
}

func (b *beside) named(its, ours selected) {
	switch {
	case its.variable == "":
		b.tell(ours.variable, "the variable does not count")
	case its.name == "":
		b.tell(its.variable, "an empty name is that of a profile, which is not found")
	default:
		b.tell(its.variable, "the variable comes before "+cmp.Or(ours.variable, "others"))
	}
}

// profiles compares all profiles, without the variables.
func (b *beside) profiles() {
	if b.elsewhere == [2]bool{} && b.its.refuse != nil { // It refuses any profile.
		if b.refusals || b.ownUses() {
			b.refuse(b.its.refuse, "the file")
		}
		return
	}
	for name := range b.own.profiles {
		b.profile(name)
	}
	b.rank++
	for name, p := range b.its.profiles {
		if b.own.profiles[name] == nil && (p.head.File == 1 || !isOfKind(name)) {
			b.profile(name)
		}
	}
}

// ownUses reports whether awsretry accepts a profile of the files, or starts without one.
func (b *beside) ownUses() bool {
	for name := range b.own.profiles {
		if own().judge(b.own, name, [2]value{}).state != refused {
			return true
		}
	}
	return b.own.profiles[sharedfile.DefaultProfile] == nil
}

// isOfKind reports whether the name of a profile of the config file is that of a section of another kind.
func isOfKind(name string) bool {
	for _, kind := range [...]string{"profile", "sso-session", "services"} {
		if rest, ok := strings.CutPrefix(name, kind); ok && rest != "" && strings.IndexByte(" \t.", rest[0]) >= 0 {
			return true
		}
	}
	return false
}

func (b *beside) profile(name string) {
	ours, its := own().judge(b.own, name, [2]value{}), b.judge(b.its, name, [2]value{})
	if b.lenient {
		its.state = found
	}
	switch optional := b.lenient || name == sharedfile.DefaultProfile; {
	case !ours.differs(its):
	case optional && ours.state == missing && its.state == found && its.texts == [2]string{}:
		// It is as good as one without settings.
	case b.elsewhere != [2]bool{}:
		b.paths()
	default:
		b.outcomes(name, ours, its)
	}
}
