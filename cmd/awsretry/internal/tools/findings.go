package tools

import (
	"slices"
	"strconv"
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
				b.value(name, i, ours, its)
			}
		}
	}
}

// value reports why a tool has another value of a setting.
func (b *beside) value(name string, i int, ours, its outcome) {
	var mine, theirs value
	if p := b.own.profiles[name]; p != nil {
		mine = p.values[i]
	}
	if p := b.its.profiles[name]; p != nil {
		theirs = p.values[i]
	}
	switch {
	case theirs.set && mine.set && theirs.Place == mine.Place:
		if text, err := Accept(keys[i], mine.text); err != nil || text != its.texts[i] {
			b.tellAt(mine.Place, "the value is "+shown(i, its.texts[i]), reason{cure: cures[i]})
		}
	case theirs.set:
		why := theirs.how
		switch {
		case why != "":
		case mine.set && theirs.File < mine.File:
			why = "the config file wins over the credentials file"
		default:
			why = otherSection
		}
		b.tellAt(theirs.Place, keys[i]+" is taken from here", reason{why: why})
	case mine.set:
		b.tellAt(mine.Place, keys[i]+" is not taken from here", reason{why: otherSection})
	}
}

// refuse reports a refusal.
func (b *beside) refuse(r refusal, what string) {
	b.tellAt(r.Place, what+" is refused: "+r.why, reason{cure: r.cure})
}

// reason is why a tool reads a line differently, and what to do about it.
type reason struct{ why, cure string }

// tellAt reports what the tool makes of a line. If it and awsretry parted there or further up, that is the reason.
func (b *beside) tellAt(at Place, what string, because reason) {
	if at.File == nowhere {
		return
	}
	f := &b.files[at.File]
	line := f.line(at.Offset)
	i, inRun := slices.BinarySearchFunc(b.runs[at.File], at.Offset, func(r run, offset int32) int {
		switch {
		case r.end < offset:
			return -1
		case r.start > offset:
			return 1
		}
		return 0
	})
	if dropped := b.its.dropped[at.File]; dropped != nil {
		because = reason{"line " + strconv.Itoa(f.line(dropped.Offset)) + " empties the file: " + dropped.why, dropped.cure}
	} else if inRun {
		r := b.runs[at.File][i]
		because = r.reason(f)
		if root := f.line(r.start); root != line {
			because.why = "in line " + strconv.Itoa(root) + " " + because.why
		}
	}
	if because.why != "" {
		what += ", as " + because.why
	}
	if because.cure != "" {
		what += " (" + because.cure + ")"
	}
	b.report(Difference{File: int(at.File), Line: line, Tool: b.name, Text: what})
}

// reason says why a tool and awsretry part at a line.
func (r run) reason(f *ownFile) reason {
	const alone = "write [profile NAME] in the config file or [NAME] in the credentials file, and nothing else on the line"
	const assigns = "write key = value in the first column"
	own, its := r.own, r.its
	switch {
	case its.kind == part && own.kind == part:
		return reason{"the line belongs to another value", "start the lines above in one column"}
	case its.kind == part:
		return reason{"the line belongs to the value that begins in line " + strconv.Itoa(f.line(its.of)), "start it in the first column"}
	case its.kind == header && own.kind == header && its.profile == "":
		return reason{"the header is that of no profile", alone}
	case its.kind == header && own.kind == header && own.profile == "":
		return reason{"the header is that of a profile", alone}
	case its.kind == header && own.kind == header:
		return reason{"the header is that of another profile", alone}
	case its.kind == header:
		return reason{"a header begins", alone}
	case own.kind == header:
		return reason{"the header does not count, so the section above goes on", alone}
	case its.kind == property && own.kind == property && own.setting > 0:
		return reason{"the key is another one", "write " + keys[own.setting-1] + " in lower case, and nothing else before the '='"}
	case its.kind == property && own.kind == property:
		return reason{"the key is " + keys[max(its.setting, 1)-1], assigns}
	case own.kind == nothing:
		return reason{"a CR ends the line above", "write LF, or CR and LF"}
	case its.kind == property:
		return reason{"the line is a property of its own", assigns}
	case its.kind == nothing:
		return reason{"the line is a comment", assigns}
	}
	return reason{"the line is skipped", assigns}
}
