package lint

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// hidden stands for a value that is not shown.
const hidden = "***"

// Profiles returns every profile that AWS tools see in the two files, sorted by name in byte
// order, and the keys and values of each, sorted by key. It does not validate values. You
// may range over both sequences several times.
//
// A value is "***" unless showValues is true. The value of a secret is always "***": a value
// whose key, in lower case, contains secret, token or access_key, and a value with a
// continuation line that has such a key. A property with sub-properties has an empty value,
// and its sub-properties are not returned.
//
// The diagnostics are those about the paths of the files and about malformed lines. If
// strict is true, the first malformed line is a [*config.ParseError]. The other error is an
// [*config.UnreadableError] for an unreadable file that code named, and for any file above 4 MiB.
func Profiles(src config.Sources, showValues, strict bool) (iter.Seq2[string, iter.Seq2[string, string]], []config.Diagnostic, error) {
	r, err := open(src)
	if err != nil {
		return nil, nil, err
	}
	r.pair.Read("", true)
	_, err = config.Query{Sources: src, Strict: strict}.Decide(r.pair)
	if malformed, ok := errors.AsType[*config.ParseError](err); ok {
		return nil, nil, malformed
	}
	r.opened(config.SeverityWarning)
	about := r.first
	for i := range r.files {
		other := func(d config.Diagnostic) bool { return d.Code != codeMalformedLine }
		about = append(about, slices.DeleteFunc(r.files[i].list(), other)...)
	}
	return func(yield func(string, iter.Seq2[string, string]) bool) {
		for _, p := range r.pair.Places() {
			if p.Profile && !yield(strings.Clone(p.Name), shown(r.pair, p, showValues)) {
				return
			}
		}
	}, about, nil
}

// shown returns the keys and values that the sections of both files together have.
func shown(pair *sharedfile.Pair, p sharedfile.Place, showValues bool) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		from := [2]map[string]*sharedfile.Value{}
		var all []string
		for i, x := range pair.Readings {
			from[i] = x.Sections[p].Values()
			all = slices.AppendSeq(all, maps.Keys(from[i]))
		}
		slices.Sort(all)
		for keys := range slices.Chunk(slices.Compact(all), sharedfile.MaxMerged) {
			profile := sharedfile.Merge()
			for _, values := range from {
				for _, key := range keys {
					if v := values[key]; v != nil {
						_, _ = profile.NewKey(key, shownValue(v, key, showValues)) // It refuses the empty key only (R09).
					}
				}
			}
			for _, key := range keys {
				if !yield(strings.Clone(key), strings.Clone(profile.Key(key).Value())) {
					return
				}
			}
		}
	}
}

// shownValue returns a value as it may be shown.
func shownValue(v *sharedfile.Value, key string, show bool) string {
	switch {
	case v.Group:
		return ""
	case !show || v.Secret || sharedfile.IsSecret(key):
		return hidden
	}
	return string(v.Text)
}
