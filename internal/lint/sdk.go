package lint

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// Examine is Resolve for a person who wants to know what happens: a bad value of a variable or file does not end
// it. The settings are then those of a client of package awssdk, which goes on where the SDK has read a number
// of attempts: with 0 as if the value were not there, and without a limit for a negative number or one above
// 2^31-1. The value is among those that were overridden, and a finding of severity error says that Resolve
// refuses it. If the SDK refuses it too, Examine returns both the settings, as if it were not there, and the
// [*config.ValueError].
//
// The findings include each line of the two files, wherever it stands, for which another tool refuses the
// whole file. All other errors are those of Resolve, without settings.
func Examine(q config.Query) (*config.Settings, error) {
	r, err := open(q.Sources)
	if err != nil {
		return nil, err
	}
	s, err := q.Decide(r.pair)
	passed := map[config.Origin]string{}
	var mode, attempts error
	if _, bad := errors.AsType[*config.ValueError](err); bad {
		s, err = held(q).Decide(r.pair)
		if err == nil && q.Override.Mode == nil {
			s.RetryMode, mode = goOn(sharedfile.RetryMode, s.RetryMode.Overridden, "standard", q.Default.Mode, readMode, noMode, passed)
		}
		if err == nil && q.Override.MaxAttempts == nil {
			builtIn := s.Behavior.Value.Defaults(q.Service).MaxAttempts
			s.MaxAttempts, attempts = goOn(sharedfile.MaxAttempts, s.MaxAttempts.Overridden, builtIn, q.Config.MaxAttempts, readAttempts, attemptsInSDK, passed)
		}
	}
	if err != nil {
		return nil, err
	}
	r.settings(q, s, passed)
	r.refusals()
	s.Diagnostics = append(s.Diagnostics, r.list()...)
	return s, cmp.Or(mode, attempts)
}

// goOn decides a setting of variables and files as a client of package awssdk does. given has the candidates, the
// strongest first, and code is the value of the weakest if code has set it. sdk says how the SDK reads a value
// that is not accepted: no value counts as if it were not there, and an error is returned with the setting.
func goOn[T any](
	key string, given []config.Candidate, builtIn T, code *T, read func(string) T, sdk func(config.Candidate) (*T, error), passed map[config.Origin]string,
) (chosen config.Setting[T], err error) {
	chosen = config.Setting[T]{
		Value: builtIn, Raw: fmt.Sprint(builtIn), Origin: config.Origin{Kind: "default"}, Overridden: []config.Candidate{},
	}
	won, inFiles := false, true
	for _, c := range given {
		var value *T
		switch {
		case won || c.Origin.File != "" && !inFiles:
		case c.Valid && c.Origin.Kind == "default":
			value = code
		case c.Valid:
			value = new(read(c.Raw))
		default:
			var refusal error
			switch value, refusal = sdk(c); {
			case refusal != nil:
				err = cmp.Or(err, error(&config.ValueError{Origin: c.Origin, Key: key, Raw: c.Raw, Err: refused(key, c.Raw)}))
				passed[c.Origin] = "; Resolve and Load refuse it, and so does " + toolGo
			case value == nil:
				passed[c.Origin] = "; Resolve and Load refuse it, and a client of awssdk goes on as if it were not there"
			default:
				passed[c.Origin] = "; Resolve and Load refuse it, and a client of awssdk goes on without a limit"
			}
			inFiles = inFiles && c.Origin.File == "" // For the SDK the first value in a file hides the others.
		}
		if value == nil {
			chosen.Overridden = append(chosen.Overridden, c)
			continue
		}
		won, chosen.Value, chosen.Raw, chosen.Origin = true, *value, c.Raw, c.Origin
	}
	return chosen, err
}

// readMode and readAttempts return values that are accepted.
func readMode(text string) config.Mode {
	if strings.HasPrefix(sharedfile.ASCIILower(sharedfile.Trim(text)), "adaptive") {
		return "adaptive"
	}
	return "standard"
}

func readAttempts(text string) int {
	n, _ := strconv.Atoi(sharedfile.Trim(text))
	return n
}

// noMode refuses a mode, as the SDK does.
func noMode(c config.Candidate) (*config.Mode, error) {
	return nil, refused(sharedfile.RetryMode, c.Raw)
}

// attemptsInSDK returns the number that the SDK reads in a variable or file: without a limit if it is not accepted
// here, and none for 0.
func attemptsInSDK(c config.Candidate) (*int, error) {
	n, err := attemptsInFile(c.Raw)
	switch {
	case c.Origin.Kind == "environment":
		n, err = strconv.ParseInt(c.Raw, 10, 64)
	case c.Origin.File == "":
		err = refused(sharedfile.MaxAttempts, c.Raw)
	}
	if err != nil || n == 0 {
		return nil, err
	}
	return new(math.MaxInt32), nil
}

// refusals adds the findings about lines for which another tool refuses a whole file.
func (r *report) refusals() {
	all := &report{pair: &sharedfile.Pair{Files: r.pair.Files, Lookup: r.pair.Lookup}}
	all.look()
	for i := range all.files {
		all.files[i].refusals = true
	}
	all.all()
	for i := range all.files {
		for _, d := range all.files[i].list() {
			r.files[i].add(d)
		}
	}
}
