package lint

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/words"
)

// file looks at the lines of one file while it is read.
type file struct {
	*report
	*sharedfile.File
	found map[string]kept // The findings by code.
	line  int32           // The number of the line at hand, or 0 for the file as a whole.

	start   int32 // The line of the last header that is not malformed.
	named   bool  // It has a name.
	kept    bool  // Its section is looked at line by line.
	refused bool  // A line was reported that makes the file unreadable for botocore.
	unused  int   // How many other profiles have retry settings.
}

// opened adds the findings about files that were named but do not exist, or that exist but cannot be read, and about
// how they begin.
func (r *report) opened(severity Severity) {
	if r.pair.NoHome {
		const text = "no home directory: HOME is not set and the system knows none, so the shared files in it are not read"
		r.first = append(r.first, Diagnostic{Code: "no-home-directory", Message: text})
	}
	for i := range r.files {
		x := &r.files[i]
		x.noteIf(errors.Is(x.Err, sharedfile.ErrDirectory), toolGo, "a directory in the place of a file is refused")
		x.line = 1
		d := Diagnostic{Severity: severity, File: x.Path}
		switch missing := errors.Is(x.Err, fs.ErrNotExist); {
		case missing && (x.ByCode || x.Variable != ""):
			d.Code, d.Message = "missing-file", "the "+x.Kind+" file that "+cmp.Or(x.Variable, "an option")+" names does not exist"
			r.first = append(r.first, d)
		case x.Err != nil && !missing:
			d.Code, d.Message = "unreadable-file", "the "+x.Kind+" file counts as empty: it cannot be read: "+x.Err.Error()
			r.first = append(r.first, d)
		case x.UTF16:
			d.Code, d.Message = codeMalformedLine, sharedfile.UTF16.String()+"; the file counts as empty"
			x.add(d)
		}
		x.noteIf(x.UTF16 && !x.Valid, python, "UTF-16"+unreadable)
		x.noteIf(x.BOM, python, "the byte-order mark"+unreadable)
		first, _, _ := strings.Cut(x.Data, "\n")
		x.noteIf(x.BOM && strings.HasPrefix(sharedfile.Trim(first), "["), toolGo, "the section below the byte-order mark is lost")
	}
}

func (x *file) look(at *sharedfile.Pass) {
	x.line = at.Number
	x.noteIf((at.Kind == sharedfile.Header || at.Kind == sharedfile.Comment) && strings.Contains(at.Text, "\r"), python, endsAtCR)
	x.noteIf(at.Kind != sharedfile.Malformed && !x.Valid && !utf8.ValidString(at.Text), python, "a comment that is not UTF-8"+unreadable)
	switch at.Kind {
	case sharedfile.Header:
		x.header(at)
	case sharedfile.Malformed:
		x.malformed(&at.Line)
	case sharedfile.Comment:
	case sharedfile.PropertyLine, sharedfile.Continuation, sharedfile.SubProperty, sharedfile.Skipped:
		// Below a header without a name no section is kept.
		x.noteIf(at.Header == "" && x.pair.All && oneQuote(at.Split()), toolGo, crash)
		if at.Kind != sharedfile.PropertyLine || sharedfile.RetryKey(at.Property.Key) == "" {
			return
		}
		every := at.Header == forAll && x.Kind == sharedfile.Config
		x.noteIf(every, python, "a key of [DEFAULT] counts in every profile of the file")
		switch silent := at.Settings && !x.same(); {
		case silent && !at.Place.Profile:
			x.line = x.start
			x.warn(codeIgnoredSection, "%s", at.Header)
		case silent:
			if x.unused++; x.unused == 1 {
				x.warn(codeUnusedProfile, "retry settings of other profiles have no effect on profile %s: %s",
					sharedfile.Quote(x.pair.Profile), sharedfile.Shorten("["+at.Header+"]"))
			}
		}
		at.Settings = every // The others of the section add nothing.
	}
}

func (x *file) header(at *sharedfile.Pass) {
	// The lines of the section have no effect. If both files are the same file, they may have one in the other kind of file.
	at.Settings = !x.same() && (!at.Kept || !at.Place.Profile && at.Header != sharedfile.DefaultProfile)
	if at.Settings && !at.Place.Profile {
		if name := x.misnamed(at.Header); name != "" && (x.pair.Profile == "" || x.pair.Profile == name) {
			at.Settings = false
			x.warn(codeIgnoredSection, "%s", at.Header)
		}
	}
	at.Settings = at.Settings || at.Header == forAll && x.Kind == sharedfile.Config
	x.noteIf(at.Nested, python, headerInValue)
	comment := at.Text[len(sharedfile.BeforeAny(at.Text)):]
	x.noteIf((at.Kept || x.kept) && strings.IndexAny(comment, "#;") == 0, toolJS,
		"a header that a comment touches does not count, so its lines belong to the section above")
	x.noteIf(at.Header == "" && strings.HasPrefix(at.Text, "[]"), python, "an empty section header"+unreadable)
	x.start, x.named, x.kept = at.Number, at.Header != "", at.Kept
}

// misnamed returns the name of the profile that a section was probably meant for, or "" for a section of another kind.
func (x *file) misnamed(header string) string {
	switch like := sharedfile.LikeProfile(header); {
	case x.Kind == sharedfile.Credentials:
		return sharedfile.ProfileName(sharedfile.Config, header)
	case like != "":
		return like
	case sharedfile.ProfileName(sharedfile.Credentials, header) == "", sharedfile.ASCIILower(header) == sharedfile.DefaultProfile,
		header == "profile", header == "plugins", header == "preview":
		return ""
	}
	return header
}

// malformed reports a line that is skipped, and how other tools read it. Of the lines that make the file unreadable
// for botocore, headers aside, it says so of the first one only. None of the tools ends the section above a malformed
// header as rule R05 does: each finds another header in it, or no header.
func (x *file) malformed(l *sharedfile.Line) {
	if x.same() && x.Kind == sharedfile.Credentials {
		return
	}
	text := l.Fault.String() + skipped
	if shown := l.Shown(); shown != "" {
		text = sharedfile.Quote(shown) + ": " + text
	}
	x.warn(codeMalformedLine, "%s", text)
	text = beforeComment(l.Text)
	plain := trimJS(text)
	inJS, bom := strings.HasPrefix(plain, "[") && strings.HasSuffix(plain, "]"), plain != text
	p := (&sharedfile.Line{Text: l.Text, Kind: sharedfile.PropertyLine}).Split()
	x.noteIf(oneQuote(p), toolGo, crash)
	if l.Text[0] != '[' {
		x.noteIf(inJS, toolJS, bomIsBlank+", so the line is a header")
		noName := l.InGroup && l.Text[0] == '=' // A sub-property may have no name.
		inComment := l.Fault == sharedfile.NoSign && strings.ContainsAny(l.Text, "=:")
		x.noteIf(!x.refused && !noName && !inComment, python, "the line"+unreadable)
		x.refused = x.refused || !noName && !inComment
		return
	}
	how := "the line" + unreadable
	switch {
	case l.Nested:
		how = headerInValue
	case l.Fault == sharedfile.NotUTF8:
	case l.Fault == sharedfile.LoneCR:
		how = endsAtCR
	case strings.LastIndexByte(l.Text, ']') > 1:
		how = "the name goes on up to the last ']'"
	case x.named && strings.ContainsAny(l.Text, "=:"):
		how = aboveTakes
	}
	x.noteIf(true, python, how)
	inGo := strings.HasSuffix(sharedfile.BeforeAny(l.Text), "]")
	x.noteIf(x.named && !inGo && !inJS, toolGo+", "+toolJS, aboveTakes)
	x.noteIf(x.named && !inGo && inJS, toolGo, aboveTakes)
	x.noteIf(x.named && inGo && !inJS, toolJS, aboveTakes)
	x.noteIf(inJS && bom, toolJS, bomIsBlank+", so the header counts")
	x.noteIf(inJS && !bom && x.Kind == sharedfile.Credentials, toolJS,
		"a comment begins behind a blank only, so the whole header is the name of a profile")
}

// end looks at the sections of the file. Those that were kept are looked at line by line afterwards.
func (x *file) end() {
	ignored := x.found[codeIgnoredSection].list
	for i, d := range ignored {
		ignored[i].Message = x.noProfile(d.Message)
	}
	if x.unused > 1 {
		x.found[codeUnusedProfile].list[0].Message += " and " + strconv.Itoa(x.unused-1) + " more"
	}
	bare, prefixed := x.Sections[sharedfile.Place{Name: sharedfile.DefaultProfile}], x.Sections[sharedfile.Place{Profile: true, Name: sharedfile.DefaultProfile}]
	if bare == nil {
		return
	}
	x.line = bare.Lines[0].Number
	x.warn("default-twice", "[default] does not count, as there is a [profile default]; its settings have no effect")
	x.line = bare.Last
	x.noteIf(bare.Last > prefixed.Last, python, "of [default] and [profile default] the last one counts")
	x.line = prefixed.Lines[0].Number
	x.noteIf(!slices.ContainsFunc(prefixed.Lines, func(l sharedfile.Line) bool {
		p := l.Split()
		return p.Sign == '=' && p.Key != "" && p.Value != ""
	}), toolJS, "an empty section does not count, so [default] does")
}

// noProfile says that a section is no profile, and which one it was meant for, with those that its name resembles.
func (x *file) noProfile(header string) string {
	text, name := sharedfile.Shorten("["+header+"]"), x.misnamed(header)
	switch {
	case name == "":
		return text + " is no profile, so its retry settings have no effect"
	case x.Kind == sharedfile.Credentials:
		return text + " is no profile in the credentials file, so its lines have no effect; did you mean [" + sharedfile.Shorten(name) + "]"
	case name == header:
		text += " lacks the word profile, so its lines have no effect; did you mean "
	default:
		text += " is no profile, so its lines have no effect; did you mean "
	}
	names, there := words.Near(name), ""
	for _, r := range x.pair.Files {
		for p := range r.Sections {
			if p.Profile && p.Name == name {
				there = ", which is there too"
			} else if p.Profile {
				names.Add(p.Name)
			}
		}
	}
	meant := append([]string{name}, names.Best()...)
	for i, other := range meant {
		meant[i] = sharedfile.Shorten("[profile " + other + "]")
	}
	return text + strings.Join(meant, " or ") + there
}

func oneQuote(p sharedfile.Property) bool { return p.Value == "'" || p.Value == `"` }

// trimJS drops what the JavaScript tool takes for whitespace at both ends, and it alone takes a byte-order
// mark for it.
func trimJS(text string) string { return strings.TrimFunc(text, isBlankJS) }

func isBlankJS(c rune) bool { return c == '\uFEFF' || c != '\u0085' && unicode.IsSpace(c) }

// beforeComment returns a line up to the first # or ; that follows whitespace, without whitespace at its end.
func beforeComment(line string) string {
	for i, c := range line {
		if (c == '#' || c == ';') && len(trimJS(line[:i])) < i {
			return sharedfile.Trim(line[:i])
		}
	}
	return line
}

// twoWords reports whether the text between the brackets of a header is a word, one character of whitespace
// and a name. The JavaScript tool takes the word for a kind of section then, and drops a kind that it does
// not know. A word has letters and digits of ASCII, '_' and '-' only.
func twoWords(inner string) bool {
	words := strings.FieldsFunc(inner, isBlankJS)
	return len(words) == 2 && utf8.RuneCountInString(inner) == utf8.RuneCountInString(words[0])+1+utf8.RuneCountInString(words[1]) &&
		sharedfile.IsIdentifier(words[0]) && !strings.ContainsAny(words[0], "/.%@:+") && sharedfile.IsIdentifier(sharedfile.Unquoted(words[1]))
}
