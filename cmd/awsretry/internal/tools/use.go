package tools

import (
	"strconv"

	"github.com/awsretry/awsretry/internal/sharedfile"
)

// Use is what a tool reads here, for the profile that it uses.
type Use struct {
	Tool    string `json:"tool"`
	Profile string `json:"profile"`
	// Mode and Attempts are nil if the tool uses its default.
	Mode     *Read `json:"retry_mode,omitempty"`
	Attempts *Read `json:"max_attempts,omitempty"`
	// Refused is what the tool refuses, or nil. The value is the reason.
	Refused *Read `json:"refused,omitempty"`
}

// Read is a value and its place, which is a variable or a line.
type Read struct {
	Value    string `json:"value"`
	Variable string `json:"variable,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
}

// Uses returns what each tool reads for the profile in use.
func (c *Comparison) Uses() (uses []Use) {
	for _, t := range all() {
		b := &beside{Comparison: c, tool: t}
		b.read()
		o, s := t.of(b.its, c.env), t.selects(c.env)
		use := Use{Tool: t.name, Profile: s.name}
		switch o.state {
		case refused:
			use.Refused = b.readAt(o.refusal.why, "", o.refusal.Place)
		case missing:
			use.Refused = &Read{Value: "the profile is not found", Variable: s.variable}
		case found:
			for i, setting := range [...]**Read{mode: &use.Mode, attempts: &use.Attempts} {
				if o.texts[i] != "" {
					*setting = b.readAt(shown(i, o.texts[i]), variableOf(i), o.at[i])
				}
			}
		}
		uses = append(uses, use)
	}
	return uses
}

// readAt returns a value with its place, which is that of a variable if it is in no file.
func (b *beside) readAt(text, variable string, at Place) *Read {
	if at.File == nowhere {
		return &Read{Value: text, Variable: variable}
	}
	if b.elsewhere[at.File] { // The lines are those of another file.
		return &Read{Value: text, Variable: pathVariableOf(int(at.File))}
	}
	return &Read{Value: text, File: b.pair.Files[at.File].Path, Line: b.files[at.File].line(at.Offset)}
}

// String returns the value and its place as text for people.
func (r *Read) String() string {
	switch {
	case r == nil:
		return "default"
	case r.Variable != "":
		return r.Value + " (" + r.Variable + ")"
	case r.File != "":
		return r.Value + " (" + sharedfile.ShownPath(r.File) + ":" + strconv.Itoa(r.Line) + ")"
	}
	return r.Value
}
