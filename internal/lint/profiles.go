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

// Profiles returns every profile that AWS tools see in the two files, sorted by name in byte order, and the keys and
// values of each, sorted by key. It does not validate values. A property with sub-properties has an empty value.
//
// A value is "***" unless showValues is true. The value of a secret is always "***": a value whose key, in lower case,
// contains secret, token or access_key, and a value with a continuation line that has such a key.
//
// The diagnostics are those about the paths of the files and about malformed lines. If strict is true, the first
// malformed line is a [*config.ParseError]. The other error is that of Files.
func Profiles(src config.Sources, showValues, strict bool) (iter.Seq2[string, iter.Seq2[string, string]], []config.Diagnostic, error) {
	var r report
	if err := r.open(src); err != nil {
		return nil, nil, err
	}
	r.pair.Read("", true)
	_, err := config.Query{Sources: src, Strict: strict}.Decide(r.pair, nil)
	if malformed, ok := errors.AsType[*config.ParseError](err); ok {
		return nil, nil, malformed
	}
	r.opened(config.SeverityWarning)
	others := func(code string, _ kept) bool { return code != codeMalformedLine }
	maps.DeleteFunc(r.files[0].found, others)
	maps.DeleteFunc(r.files[1].found, others)
	return func(yield func(string, iter.Seq2[string, string]) bool) {
		for _, p := range r.pair.Places() {
			if p.Profile && !yield(strings.Clone(p.Name), shown(r.pair, p, showValues)) {
				return
			}
		}
	}, r.list(), nil
}

// shown returns the keys and values that the sections of both files together have.
func shown(pair *sharedfile.Pair, p sharedfile.Place, showValues bool) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		all := map[string]*sharedfile.Value{}
		for _, r := range pair.Readings { // The credentials file, which wins, comes last.
			maps.Copy(all, r.Sections[p].Values())
		}
		for _, key := range slices.Sorted(maps.Keys(all)) {
			v, text := all[key], hidden
			if v.Group {
				text = ""
			} else if showValues && !v.Secret && !sharedfile.IsSecret(key) {
				text = string(v.Text)
			}
			if !yield(strings.Clone(key), text) {
				return
			}
		}
	}
}
