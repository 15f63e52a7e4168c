package tools

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// otherSection is the reason where a tool and awsretry read each line alike.
const otherSection = "of two sections for the profile only one counts"

// outcomes reports why a tool makes something else of a profile than awsretry.
func (b *beside) outcomes(name string, ours, its outcome) {
	switch {
	case its.state == refused && b.its.refuse != nil:
		b.refuse(its.refusal, "the file")
	case its.state == refused:
		b.refuse(its.refusal, "the profile")
	case its.state == missing && b.own.profiles[name] != nil:
		b.tellAt(b.own.profiles[name].head, "the profile is not found", reason{why: otherSection})
	case ours.state == missing && b.its.profiles[name] != nil:
		b.tellAt(b.its.profiles[name].head, "a profile is found that awsretry does not find", reason{})
	default:
		for i := range ours.texts {
			if ours.state == refused || ours.texts[i] != its.texts[i] {
				b.value(name, i, its)
			}
		}
	}
}

// value reports why a tool has another value of a setting.
func (b *beside) value(name string, i int, its outcome) {
	var mine, theirs value
	if p := b.own.profiles[name]; p != nil {
		mine = p.values[i]
	}
	if p := b.its.profiles[name]; p != nil {
		theirs = p.values[i]
	}
	switch {
	case theirs.set && mine.set && theirs.Place == mine.Place:
		if text, err := Accept(keyOf(i), mine.text); err != nil || text != its.texts[i] {
			b.tellAt(mine.Place, "the value is "+shown(i, its.texts[i]), reason{cure: cureOf(i)})
		}
	case theirs.set:
		why := otherSection
		switch {
		case theirs.shared:
			why = "a key of [DEFAULT] counts in every profile of the file"
		case mine.set && theirs.File < mine.File:
			why = "the config file wins over the credentials file"
		}
		b.tellAt(theirs.Place, keyOf(i)+" is taken from here", reason{why: why})
	case mine.set:
		b.tellAt(mine.Place, keyOf(i)+" is not taken from here", reason{why: otherSection})
	}
}

// refuse reports a refusal.
func (b *beside) refuse(r *refusal, what string) {
	what += " is refused: " + r.why
	if strings.HasPrefix(r.why, refusesValue) {
		what = r.why
	}
	b.tellAt(r.Place, what, reason{cure: r.cure, refuses: true})
}

// reason is why a tool reads a line differently, and what to do about it.
type reason struct {
	why, cure string
	refuses   bool // What is told says the reason already, unless it is further up.
}

// tellAt says what the tool makes of a line. If it and awsretry parted there or further up, that is the reason. Of all
// that has one reason, the first is reported.
func (b *beside) tellAt(at Place, what string, because reason) {
	if at.File == nowhere {
		return
	}
	f, root := &b.files[at.File], at
	line := f.line(at.Offset)
	runs := b.runs[at.File]
	i, _ := slices.BinarySearchFunc(runs, at.Offset, func(r run, offset int32) int { return cmp.Compare(r.end, offset) })
	if dropped := b.its.dropped[at.File]; dropped != nil {
		because = reason{why: "line " + strconv.Itoa(f.line(dropped.Offset)) + " empties the file: " + dropped.why, cure: dropped.cure}
	} else if i < len(runs) && runs[i].start <= at.Offset {
		r := runs[i]
		root.Offset = r.start
		if above := f.line(r.start); above != line && (b.its.refuse == nil || b.name != Go) { // It crashes anywhere.
			because = r.reason(f)
			because.why = "in line " + strconv.Itoa(above) + " " + because.why
		} else if !because.refuses {
			because = r.reason(f)
		}
	}
	if because.why != "" {
		what += ", as " + because.why
	}
	if because.cure != "" {
		what += " (" + because.cure + ")"
	}
	d := Difference{File: int(at.File), Line: line, Tool: b.name, Text: what, at: at.Offset, rank: b.rank}
	if first, there := b.found[root]; !there || d.compare(first) < 0 {
		b.found[root] = d
	}
}

// reason says why a tool and awsretry part at a line.
func (r run) reason(f *ownFile) reason {
	const alone = "write [profile NAME] in the config file or [NAME] in the credentials file, and nothing else on the line"
	const assigns = "write key = value in the first column"
	own, its := r.own, r.its
	switch {
	case its.kind == part && own.kind == part:
		return reason{why: "the line belongs to another value", cure: "start the lines above in one column"}
	case its.kind == part:
		return reason{why: "the line belongs to the value that begins in line " + strconv.Itoa(f.line(its.of)), cure: "start it in the first column"}
	case its.kind == header && own.kind == header && its.profile == "":
		return reason{why: "the header is that of no profile", cure: alone}
	case its.kind == header && own.kind == header && own.profile == "":
		return reason{why: "the header is that of a profile", cure: alone}
	case its.kind == header && own.kind == header:
		return reason{why: "the header is that of another profile", cure: alone}
	case its.kind == header:
		return reason{why: "a header begins", cure: alone}
	case own.kind == header:
		return reason{why: "the header does not count, so the section above goes on", cure: alone}
	case its.kind == property && own.kind == property && own.setting > 0:
		return reason{why: "the key is another one", cure: "write " + keyOf(int(own.setting)-1) + " in lower case, and nothing else before the '='"}
	case its.kind == property && own.kind == property:
		return reason{why: "the key is " + keyOf(max(int(its.setting), 1)-1), cure: assigns}
	case own.kind == nothing:
		return reason{why: "a CR ends the line above", cure: "write LF, or CR and LF"}
	case its.kind == property:
		return reason{why: "the line is a property of its own", cure: assigns}
	case its.kind == nothing:
		return reason{why: "the line is a comment", cure: assigns}
	}
	return reason{why: "the line is skipped", cure: assigns}
}
