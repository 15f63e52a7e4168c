package lint

import (
	"errors"
	"strings"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// given adds the findings about the values of a setting that are in no file.
func given[T any](r *report, key string, s config.Setting[T]) {
	r.value(key, config.Candidate{Raw: s.Raw, Valid: true, Origin: s.Origin}, true)
	for _, c := range s.Overridden {
		r.value(key, c, false)
	}
}

// value adds the finding about a value that is in no file.
func (r *report) value(key string, c config.Candidate, wins bool) {
	if c.Origin.File != "" {
		return
	}
	if d := r.judge(key, c, wins); d.Code != "" {
		text := (&config.ValueError{Origin: c.Origin, Key: key, Raw: c.Raw, Err: errors.New(d.Message)}).Error()
		d.Message = strings.TrimPrefix(text, "config: ")
		r.first = append(r.first, d)
	}
}

// judge returns what is odd about a value, without its place. wins says whether it counts, or would if it were
// accepted.
func (r *report) judge(key string, c config.Candidate, wins bool) (d config.Diagnostic) {
	switch how, passed := r.passed[spotOf(key, c.Origin)]; {
	case passed, wins && !c.Valid:
		d = config.Diagnostic{Severity: config.SeverityError, Code: codeInvalidValue, Message: refused(key, c.Raw).Error() + how}
	case !c.Valid:
		d = config.Diagnostic{Code: codeInvalidValue, Message: refused(key, c.Raw).Error() + "; another value wins, so it is ignored"}
	case wins && key == sharedfile.RetryMode && mapped(c.Raw) != "":
		d = config.Diagnostic{Code: "mapped-mode", Message: "a mode of other tools, read as " + mapped(c.Raw)}
	}
	return d
}

// spotOf returns where a value of a setting is.
func spotOf(key string, o config.Origin) config.Origin {
	return config.Origin{Key: key, Name: o.Name, File: o.File, Line: o.Line}
}

// values adds the findings about the values that the lines of a profile have.
func (e *section) values(s *sharedfile.Section, keys map[string]int32) {
	header := "[" + e.Name + "]"
	if e.Kind == sharedfile.Config && sharedfile.HeaderName(s.Lines[0].Text) != sharedfile.DefaultProfile {
		header = "[profile " + e.Name + "]"
	}
	for _, v := range s.Settings() {
		e.line = int32(v.Line)
		_, beaten := e.above[v.Key]
		wins := !beaten && e.line == keys[v.Key] // In both files.
		c := config.Candidate{Raw: v.Text, Valid: refused(v.Key, v.Text) == nil, Origin: config.Origin{File: e.Path, Line: v.Line}}
		if wins && !c.Valid {
			by := variable(v.Key)
			over, _ := e.pair.Lookup(by)
			_, err := inSDK(v.Key, textInSDK(v), true)
			e.noteIf(err != nil && !sharedfile.IsBlank(over), toolGo, "the value is refused, although "+by+" overrides it")
		}
		if s := e.settings; s != nil {
			winner := s.RetryMode.Origin
			if v.Key == sharedfile.MaxAttempts {
				winner = s.MaxAttempts.Origin
			}
			wins = wins && winner.File != ""
		}
		if d := e.judge(v.Key, c, wins); d.Code != "" {
			d.Message = sharedfile.Shorten(header) + " " + v.Key + ": " + sharedfile.Quote(v.Text) + ": " + d.Message
			e.add(d)
		}
	}
}
