package lint

import (
	"errors"
	"strings"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// given adds the findings about the values of a setting that are in no file.
func given[T any](r *report, key string, s config.Setting[T]) {
	r.value(key, config.Candidate{Raw: s.Raw, Origin: s.Origin})
	for _, c := range s.Overridden {
		r.value(key, c)
	}
}

// value adds the finding about a value that is in no file.
func (r *report) value(key string, c config.Candidate) {
	if c.Origin.File != "" {
		return
	}
	if d := r.judge(key, c, true); d.Code != "" {
		text := (&config.ValueError{Origin: c.Origin, Key: key, Raw: c.Raw, Err: errors.New(d.Message)}).Error()
		d.Message = strings.TrimPrefix(text, "config: ")
		r.first = append(r.first, d)
	}
}

// judge returns what is odd about a value, without its place. wins says whether it counts, or would if it were
// accepted, where all profiles are looked at.
func (r *report) judge(key string, c config.Candidate, wins bool) (d config.Diagnostic) {
	how, counts := r.counts[spotOf(key, c.Origin)]
	counts = counts || r.counts == nil && wins
	switch err := refused(key, c.Raw); {
	case err != nil && counts:
		d = config.Diagnostic{Severity: config.SeverityError, Code: codeInvalidValue, Message: err.Error() + how}
	case err != nil:
		d = config.Diagnostic{Code: codeInvalidValue, Message: err.Error() + "; another value wins, so it is ignored"}
	case counts && key == sharedfile.RetryMode && mapped(c.Raw) != "":
		d = config.Diagnostic{Code: "mapped-mode", Message: "a mode of other tools, read as " + mapped(c.Raw)}
	}
	return d
}

// spotOf returns where a value of a setting is.
func spotOf(key string, o config.Origin) config.Origin {
	return config.Origin{Key: key, Kind: o.Kind, Name: o.Name, Line: o.Line}
}

// values adds the findings about the values that the lines of a profile have.
func (e *section) values(s *sharedfile.Section) {
	header := "[" + e.Name + "]"
	if e.Kind == sharedfile.Config && sharedfile.HeaderName(s.Lines[0].Text) != sharedfile.DefaultProfile {
		header = "[profile " + e.Name + "]"
	}
	for _, v := range s.Settings() {
		e.line = int32(v.Line)
		_, beaten := e.above[v.Key]
		strongest := !beaten && e.line == e.keys[v.Key].line // Of the values in both files.
		by := variable(v.Key)
		if value, _ := e.pair.Lookup(by); strongest && !sharedfile.IsBlank(value) && refused(v.Key, v.Text) != nil {
			_, err := inSDK(v.Key, v.Text, true)
			e.noteIf(err != nil, toolGo, "the value is refused, although "+by+" overrides it")
		}
		origin := config.Origin{Kind: "shared-" + e.Kind, Line: v.Line}
		if d := e.judge(v.Key, config.Candidate{Raw: v.Text, Origin: origin}, strongest); d.Code != "" {
			d.Message = sharedfile.Shorten(header) + " " + v.Key + ": " + sharedfile.Quote(v.Text) + ": " + d.Message
			e.add(d)
		}
	}
}
