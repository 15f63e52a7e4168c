package tools

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// ownFile is how awsretry reads a file.
type ownFile struct {
	starts []int32 // Where the lines start.
	steps  []step
}

// line returns the number of the line that a place is in.
func (f *ownFile) line(offset int32) int {
	i, found := slices.BinarySearch(f.starts, offset)
	if found {
		i++
	}
	return i
}

// readOwn reads both files as awsretry does.
func readOwn(pair *sharedfile.Pair, files *[2]ownFile) *reading {
	looks := pair.Look
	for i := range files {
		f := &files[i]
		lines := 1 + strings.Count(pair.Files[i].Raw, "\n")
		f.starts, f.steps = make([]int32, 1, lines+1), make([]step, 0, lines)
		for line := range strings.Lines(pair.Files[i].Raw) {
			f.starts = append(f.starts, f.starts[len(f.starts)-1]+int32(len(line)))
		}
		above, profile := int32(0), ""
		look := looks[i]
		pair.Look[i] = func(at *sharedfile.Pass) {
			s := step{offset: f.starts[at.Number-1], kind: skipped}
			switch {
			case at.Text[0] == '[' && (at.Kind == sharedfile.Header || at.Kind == sharedfile.Malformed):
				s.kind, profile = header, ownProfile(i, at)
			case at.Kind == sharedfile.PropertyLine:
				s.kind, above = property, s.offset
				s.setting = int8(settingOf(sharedfile.RetryKey(at.Property.Key)) + 1)
			case at.Kind == sharedfile.Continuation, at.Kind == sharedfile.SubProperty:
				s.kind, s.of = part, above
			}
			s.profile = profile
			f.steps = append(f.steps, s)
			if look != nil {
				look(at)
			}
		}
	}
	pair.Read("", true)
	pair.Look = looks
	r := &reading{profiles: map[string]*profile{}}
	for i := range files { // The credentials file, which wins, comes last.
		for at, section := range pair.Files[i].Sections {
			if !at.Profile {
				continue
			}
			p := r.profiles[at.Name]
			if p == nil {
				p = &profile{head: Place{int8(i), files[i].starts[section.Lines[0].Number-1]}}
				r.profiles[at.Name] = p
			}
			for _, s := range section.Settings() {
				p.values[settingOf(s.Key)] = value{Place: Place{int8(i), files[i].starts[s.Line-1]}, set: true, text: s.Text}
			}
		}
	}
	return r
}

func ownProfile(file int, at *sharedfile.Pass) string {
	if at.Kind == sharedfile.Header && (at.Place.Profile || file == 0 && at.Header == sharedfile.DefaultProfile) {
		return at.Place.Name
	}
	return ""
}

// ownText returns what a value sets. A blank variable is unset.
func ownText(i int, v value) (string, bool) {
	if v.File == nowhere && sharedfile.IsBlank(v.text) {
		return "", true
	}
	text, err := Accept(keyOf(i), v.text)
	return text, err == nil
}

// Accept returns the text of a setting as awsretry reads it, or why it refuses the text.
func Accept(key, text string) (string, error) {
	if err := (config.Candidate{Raw: text, Origin: config.Origin{Key: key}}).Check(); err != nil {
		return "", errors.Unwrap(err)
	}
	text = sharedfile.ASCIILower(sharedfile.Trim(text))
	switch {
	case key == sharedfile.MaxAttempts:
		n, _ := strconv.Atoi(text)
		return strconv.Itoa(n), nil
	case text == "legacy":
		return "standard", nil
	}
	return strings.TrimSuffix(text, "_v2"), nil
}
