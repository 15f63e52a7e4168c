package config

import (
	"cmp"
	"errors"
	"math"
	"strconv"
)

// Examine is Resolve for a person who wants to know what happens: a bad value of a variable or file does not end
// it. The settings are then those of a client of package awssdk, which goes on where the SDK has read a number
// of attempts: with 0 as if the value were not there, and without a limit for a negative number or one above
// 2^31-1. The value is among those that were overridden, and a finding of severity "error" says that Resolve
// refuses it. If the SDK refuses it too, Examine returns both the settings, as if it were not there, and the
// [*ValueError].
//
// The findings include each line of the two files, wherever it stands, for which another tool refuses the
// whole file. All other errors are those of Resolve, without settings.
func (q Query) Examine() (*Settings, error) {
	r := &resolution{Query: &q}
	s, err := r.resolve()
	passed := map[Origin]string{}
	var mode, attempts error
	if _, bad := errors.AsType[*ValueError](err); bad {
		// What code sets beats all variables and files, and its place is taken again below.
		held := q
		if q.Override.Mode == nil {
			held.Override.Mode = new(modeStandard)
		}
		if q.Override.MaxAttempts == nil {
			held.Override.MaxAttempts = new(1)
		}
		r = &resolution{Query: &held}
		if s, err = r.resolve(); err == nil && q.Override.Mode == nil {
			s.RetryMode, mode = goOn(keyRetryMode, s.RetryMode.Overridden, modeStandard, q.Default.Mode, readMode, noMode, passed)
		}
		if err == nil && q.Override.MaxAttempts == nil {
			builtIn := s.Behavior.Value.Defaults(q.Service).MaxAttempts
			s.MaxAttempts, attempts = goOn(keyMaxAttempts, s.MaxAttempts.Overridden, builtIn, q.Config.MaxAttempts, readMaxAttempts, attemptsInSDK, passed)
		}
	}
	if err != nil {
		return nil, err
	}
	r.aboutValues(s, passed)
	r.refusals()
	s.Diagnostics = r.found.list()
	return s, cmp.Or(mode, attempts)
}

// goOn decides a setting of variables and files as a client of package awssdk does. given has the candidates, the
// strongest first, and code is the value of the weakest if code has set it. sdk says how the SDK reads a value
// that is not accepted: no value counts as if it were not there, and an error is returned with the setting.
func goOn[T any](
	key string, given []Candidate, builtIn T, code *T, read func(string) (T, error), sdk func(Candidate) (*T, error), passed map[Origin]string,
) (chosen Setting[T], refused error) {
	chosen = Setting[T]{Value: builtIn, Raw: textOf(builtIn), Origin: Origin{Kind: originDefault}, Overridden: []Candidate{}}
	won, inFiles := false, true
	choose := func(c Candidate, value T) {
		won, chosen.Value, chosen.Raw, chosen.Origin = true, value, c.Raw, c.Origin
	}
	for _, c := range given {
		switch {
		case won || c.Origin.File != "" && !inFiles:
			chosen.Overridden = append(chosen.Overridden, c)
		case c.Valid && c.Origin.Kind == originDefault:
			choose(c, *code)
		case c.Valid:
			value, _ := read(c.Raw)
			choose(c, value)
		default:
			value, err := sdk(c)
			switch {
			case err != nil:
				refused = cmp.Or(refused, error(&ValueError{Origin: c.Origin, Key: key, Raw: c.Raw, Err: c.why(key)}))
				passed[c.Origin] = "; Resolve and Load refuse it, and so does " + toolGo
			case value == nil:
				passed[c.Origin] = "; Resolve and Load refuse it, and a client of awssdk goes on as if it were not there"
			default:
				passed[c.Origin] = "; Resolve and Load refuse it, and a client of awssdk goes on without a limit"
				choose(c, *value)
				continue
			}
			chosen.Overridden = append(chosen.Overridden, c)
			inFiles = inFiles && c.Origin.File == "" // For the SDK the first value in a file hides the others.
		}
	}
	return chosen, refused
}

// noMode refuses a mode, as the SDK does.
func noMode(c Candidate) (*Mode, error) { return nil, c.why(keyRetryMode) }

// attemptsInSDK returns the number that the SDK reads in a variable or file: without a limit if it is not accepted
// here, and none for 0.
func attemptsInSDK(c Candidate) (*int, error) {
	n, err := c.inGo()
	switch c.Origin.Kind {
	case originEnvironment:
		n, err = strconv.ParseInt(c.Raw, 10, 64)
	case originOption, originDefault:
		err = errMaxAttempts
	}
	if err != nil || n == 0 {
		return nil, err
	}
	return new(math.MaxInt32), nil
}

// why returns why a setting does not accept a value.
func (c Candidate) why(key string) error {
	if key == keyBehavior {
		return errBehavior
	}
	c.Origin.Key = key
	invalid, _ := errors.AsType[*ValueError](c.Check())
	return invalid.Err
}

// refusals adds the findings about lines for which another tool refuses a whole file.
func (r *resolution) refusals() {
	all := &findings{}
	for i := range all.files {
		all.files[i].refusals = true
	}
	both := readings(r.files, "", true, all)
	for _, p := range places(both) {
		both[0].examine(p, nil, false)
		both[1].examine(p, nil, false)
	}
	for i := range all.files {
		for _, d := range all.files[i].list() {
			r.found.files[i].add(d)
		}
	}
}
