package lint

import (
	"slices"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// section looks at the lines that one file has for one place.
type section struct {
	*file
	sharedfile.Place

	first    *sharedfile.Line              // The first header.
	settings []sharedfile.Setting          // The retry settings that are left.
	above    map[string]sharedfile.Setting // What the stronger file has.

	continued bool // The line below may belong to the one at hand.
}

// section adds the findings about the lines that one of the files has for a place.
func (r *report) section(i int, p sharedfile.Place, s *sharedfile.Section) {
	e := &section{file: &r.files[i], Place: p, first: &s.Lines[0], settings: s.Settings()}
	if stronger := r.pair.Files[1].Sections[p]; i == 0 && stronger != nil {
		e.above = map[string]sharedfile.Setting{}
		for _, v := range stronger.Settings() {
			e.above[v.Key] = v
		}
	}
	for i := range s.Lines {
		e.continued = i+1 < len(s.Lines) && s.Lines[i+1].Kind != sharedfile.Header && s.Lines[i+1].Kind != sharedfile.PropertyLine
		e.look(&s.Lines[i])
	}
}

func (e *section) look(l *sharedfile.Line) {
	p := l.Split()
	key := sharedfile.RetryKey(p.Key)
	e.line = l.Number
	lost := "the property above, so it belongs to that"
	switch l.Kind {
	case sharedfile.PropertyLine:
		if e.Profile {
			e.property(p, key)
		}
		return
	case sharedfile.Skipped:
		lost = "one that is skipped, so it is skipped too"
	case sharedfile.Header, sharedfile.Malformed, sharedfile.Continuation, sharedfile.SubProperty:
	}
	if key != "" {
		e.warn("indented-key", "%s has no effect here: the line is indented deeper than %s", key, lost)
	}
}

// property looks at a property of a profile.
func (e *section) property(p sharedfile.Property, key string) {
	if by, beaten := e.above[key]; beaten && !e.same {
		e.warn("shadowed-key", "%s of profile %s has no effect: %s:%d overrides it", key, sharedfile.Quote(e.Name), e.pair.Files[1].Path, by.Line)
	}
	if key != "" {
		e.value()
	}
	e.cure(p)
	if meant := sharedfile.Lookalike(p.Key); meant != "" {
		e.warn(codeMisspeltKey, "%s is not a retry setting and has no effect; %s is", sharedfile.Quote(p.Key), meant)
	}
}

// value looks at the value of the next retry setting of a profile.
func (e *section) value() {
	given := e.settings[0]
	e.settings = e.settings[1:]
	v := config.ValueError{Key: given.Key, Raw: given.Text, Err: refused(given.Key, given.Text)}
	_, beaten := e.above[v.Key]
	counts := !beaten && !slices.ContainsFunc(e.settings, func(later sharedfile.Setting) bool { return later.Key == v.Key }) // In both files.
	bad := e.passed[v.Key]
	here := bad.File == e.Path && bad.Line == int(e.line)
	if d := e.judge(v, here || counts && !slices.Contains(e.outside, v.Key)); d.Code != "" {
		header := e.headerFor(e.Name, sharedfile.HeaderName(e.first.Text))
		d.Message = sharedfile.Shorten(header) + " " + v.Key + ": " + sharedfile.Quote(v.Raw) + ": " + d.Message
		e.add(d)
	}
}
