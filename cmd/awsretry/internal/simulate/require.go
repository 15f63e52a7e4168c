package simulate

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/internal/words"
)

// requirement is a --require: a limit that a figure of each variant has to keep.
type requirement struct {
	text, sign string
	limit      float64
	figure     int // its place among the rows
}

var requirementForm = regexp.MustCompile(`^([^<>=]+)(<=|>=|<|>)(.+)$`)

func requirements(texts []string) (all []requirement, err error) {
	for _, text := range texts {
		r, err := parseRequirement(text)
		if err != nil {
			return nil, UsageError("--require " + text + ": " + err.Error())
		}
		all = append(all, r)
	}
	return all, nil
}

func parseRequirement(text string) (requirement, error) {
	parts := requirementForm.FindStringSubmatch(text)
	if parts == nil {
		return requirement{}, errors.New("must be a name, <, <=, > or >=, and a limit, such as failed<1%")
	}
	name, value := strings.TrimSpace(parts[1]), strings.TrimSpace(parts[3])
	rows := sim.Rows(nil)
	r := requirement{text: text, sign: parts[2]}
	r.figure = slices.IndexFunc(rows, func(row sim.Row) bool { return row.Key == name || row.Name == name })
	if r.figure < 0 {
		var names []string
		near := words.Near(name)
		for _, row := range rows {
			names = append(names, row.Key)
			near.Add(row.Key)
			near.Add(row.Name)
		}
		if best := near.Best(); len(best) > 0 {
			return r, fmt.Errorf("%q is no figure; did you mean %s?", name, best[0])
		}
		return r, fmt.Errorf("%q is no figure: %s", name, strings.Join(names, ", "))
	}
	limit, err := strconv.ParseFloat(value, 64)
	want := "must be a number such as 5"
	switch rows[r.figure].Unit {
	case "%":
		want = "must be a share in percent such as 1%, or from 0 to 1"
		if share, percent := strings.CutSuffix(value, "%"); percent {
			limit, err = strconv.ParseFloat(strings.TrimSpace(share), 64)
			limit /= 100
		} else if limit > 1 { // It was meant in percent. Few shares are ever above 1.
			err = errors.New(want)
		}
	case "s":
		want = "must be a time such as 2s, or a number of seconds"
		if took, invalid := time.ParseDuration(value); invalid == nil {
			limit, err = took.Seconds(), nil
		}
	}
	if err != nil || limit-limit != 0 { // neither NaN nor infinite
		return r, fmt.Errorf("%q: %s", value, want)
	}
	r.limit = limit
	return r, nil
}

// keeps reports whether a figure keeps the limit. One that does not apply keeps none.
func (r requirement) keeps(x float64) bool {
	switch r.sign {
	case "<":
		return x < r.limit
	case "<=":
		return x <= r.limit
	case ">":
		return x > r.limit
	default:
		return x >= r.limit
	}
}

// judge says which limits a variant does not keep. The median of the runs counts.
func judge(to io.Writer, variants []*variant, limits []requirement) (err error) {
	for _, v := range variants {
		rows := sim.Rows(v.runs)
		for _, r := range limits {
			if row := rows[r.figure]; !r.keeps(row.Median) {
				err = ErrLimit
				fmt.Fprintf(to, "awsretry simulate: %s: %s does not hold: it is %s\n", words.Escaped(v.Name), words.Escaped(r.text), figure(row))
			}
		}
	}
	return err
}
