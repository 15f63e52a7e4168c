package config

import "slices"

// index is what one pass over a file finds out about the wanted profiles: the
// line and, for retry settings, the value of each of their properties. About
// all other sections it keeps counts only, so it costs the same for ten
// profiles in a file as for ten thousand.
type index struct {
	scope    scope
	kind     FileKind
	file     string
	props    []property    // Of wanted profiles, in the order of the file.
	sections []sectionLine // Of wanted profiles, in the order of the file.
	diags    []Diagnostic  // What a single line gives away.

	unused  tally // Other profiles that have retry settings.
	ignored tally // Sections that are no profiles and have retry settings.
}

// scope says what an index is for.
type scope struct {
	name   string // The wanted profile,
	all    bool   // or every profile.
	values bool   // Keep the values of all keys, whole, not only of retry settings.
}

// property is one property of a wanted profile.
type property struct {
	profile, key string
	value        []byte // Kept as the scope says.
	group        bool   // The value is empty and sub-properties follow.
	line         int
	bare         bool // In a [default] of the config file.
}

// sectionLine is one header of a wanted profile.
type sectionLine struct {
	profile string
	line    int
	bare    bool
}

// tally counts sections of a kind and remembers the first.
type tally struct {
	sections int
	line     int    // Of the first retry setting in one.
	name     string // Of the section that has it.
}

// more stands for the lines of a value that are not kept.
const more = "\n..."

// buildIndex makes the pass.
func buildIndex(file sharedFile, want scope) (*index, error) {
	x := &index{scope: want, kind: file.status.Kind, file: file.status.Path}
	s, err := newScanner(file)
	if err != nil {
		return nil, err
	}
	at, line := cursor{}, item{}
	for {
		if err := s.scan(&line); err != nil {
			return nil, err
		}
		switch line.kind {
		case lineEnd:
			x.hideBareDefault()
			return x, nil
		case lineHeader:
			at = x.header(line.key, s.line)
		case lineProperty:
			x.property(&line, s.line, &at)
		case lineContinuation, lineSubProperty:
			x.indented(&line, s.line, &at)
		}
	}
}

// cursor is where the pass is: the section, and the property that an indented
// line would belong to.
type cursor struct {
	section
	header  []byte
	wanted  string // The name of the profile if it is wanted, else "".
	counted bool   // The section is in a tally already.
	prop    int    // The index of the property plus one; 0 if there is none.
}

func (x *index) header(name []byte, number int) cursor {
	at := cursor{section: classify(x.kind, name), header: name}
	switch {
	case at.profile == nil:
	case x.scope.all:
		at.wanted = string(at.profile)
	case string(at.profile) == x.scope.name:
		at.wanted = x.scope.name
	}
	if at.wanted != "" {
		x.sections = append(x.sections, sectionLine{at.wanted, number, at.bare})
	}
	return at
}

func (x *index) property(l *item, number int, at *cursor) {
	at.prop = 0
	if at.wanted == "" {
		if retryKey(l.key) != "" && !at.counted {
			at.counted = true
			x.tallyFor(at).add(number, at.header)
		}
		return
	}
	if meant := lookalike(l.key); meant != "" {
		x.warn(CodeMisspeltKey, number, quote(string(l.key))+" is not a retry setting and has no effect; "+meant+" is")
	}
	if !isName(l.key) {
		return
	}
	p := property{profile: at.wanted, line: number, bare: at.bare}
	if p.key = retryKey(l.key); p.key == "" {
		p.key = asciiLower(string(l.key))
	}
	if x.scope.values || retryKey(l.key) != "" {
		p.value = append([]byte{}, l.value...)
	}
	x.props = append(x.props, p)
	at.prop = len(x.props)
}

func (x *index) indented(l *item, number int, at *cursor) {
	if at.prop == 0 {
		return
	}
	p := &x.props[at.prop-1]
	x.warnIndented(*l, number)
	switch {
	case l.kind == lineSubProperty:
		p.group = true
	case x.scope.values:
		p.value = append(p.value, '\n')
		p.value = append(p.value, l.value...)
	case p.value != nil && string(p.value[max(0, len(p.value)-len(more)):]) != more:
		p.value = append(p.value, more...)
	}
}

// warnIndented tells of a retry setting that belongs to the key above it only
// because its line is indented.
func (x *index) warnIndented(l item, number int) {
	key := l.key
	if l.kind == lineContinuation {
		key = keyOf(l.value)
	}
	if setting := retryKey(key); setting != "" {
		x.warn(CodeIndentedKey, number, setting+" has no effect here: the line is indented, so it belongs to the key above")
	}
}

// keyOf is what would be the key of a line if it were a property.
func keyOf(line []byte) []byte {
	key, _, ok := splitProperty(line)
	if !ok {
		return nil
	}
	return key
}

func (x *index) tallyFor(at *cursor) *tally {
	if at.profile != nil {
		return &x.unused
	}
	return &x.ignored
}

func (t *tally) add(line int, header []byte) {
	t.sections++
	if t.sections == 1 {
		t.line, t.name = line, string(header)
	}
}

func (x *index) warn(code string, line int, message string) {
	x.diags = append(x.diags, Diagnostic{
		Severity: SeverityWarning, Code: code, Message: message, File: x.file, Line: line,
	})
}

// hideBareDefault drops every [default] of the config file if there is a
// [profile default].
func (x *index) hideBareDefault() {
	isBare := func(s sectionLine) bool { return s.bare }
	isPrefixed := func(s sectionLine) bool { return s.profile == DefaultProfile && !s.bare }
	bare := slices.IndexFunc(x.sections, isBare)
	if bare < 0 || !slices.ContainsFunc(x.sections, isPrefixed) || x.kind != KindConfig {
		return
	}
	x.warn(CodeDefaultTwice, x.sections[bare].line,
		"[default] does not count, as there is a [profile default]; its settings have no effect")
	x.sections = slices.DeleteFunc(x.sections, isBare)
	x.props = slices.DeleteFunc(x.props, func(p property) bool { return p.bare })
}
