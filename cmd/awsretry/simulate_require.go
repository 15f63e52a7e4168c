package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/page"
	"github.com/awsretry/awsretry/internal/escape"
)

// requirement is a --require: a limit that a figure of each variant has to keep.
type requirement struct {
	text, name, sign string
	limit            float64
}

var requirementForm = regexp.MustCompile(`^([^<>=]+)(<=|>=|<|>)(.+)$`)

func (s *simulation) addRequirement(text string) error {
	parts := requirementForm.FindStringSubmatch(text)
	if parts == nil {
		return errors.New("must be a name, <, <=, > or >=, and a limit, such as failed<1%")
	}
	r := requirement{text: text, name: strings.TrimSpace(parts[1]), sign: parts[2]}
	value := strings.TrimSpace(parts[3])
	share, percent := strings.CutSuffix(value, "%")
	x, err := number(strings.TrimSpace(share))
	if d, invalid := time.ParseDuration(value); err != nil && invalid == nil {
		x, err = d.Seconds(), nil
	}
	if err != nil {
		return fmt.Errorf("%q: must be a number, a share such as 1%%, or a time such as 2s", value)
	}
	if r.limit = x; percent {
		r.limit /= 100
	}
	s.required = append(s.required, r)
	return nil
}

// figure returns the figure that a requirement is about.
func (r requirement) figure(within time.Duration) (page.Figure, error) {
	var names []string
	for _, f := range page.Figures(within) {
		if r.name == f.Key || r.name == f.Name || r.name == "within" && f.Key == "within_share" {
			return f, nil
		}
		names = append(names, f.Key)
	}
	return page.Figure{}, usageError(fmt.Sprintf("--require %s: %s is no figure: %s", r.text, strconv.Quote(r.name), strings.Join(names, ", ")))
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

// judge says which requirements a variant does not keep. The median of the runs counts.
func (res *result) judge(c *call) error {
	broken := false
	for _, v := range res.variants {
		for _, r := range res.required {
			f, err := r.figure(res.within)
			if err != nil {
				return err
			}
			if s := v.of(f.Value); !r.keeps(s.Median) {
				broken = true
				fmt.Fprintf(c.errs, "awsretry simulate: %s: %s does not hold: it is %s\n", escape.Escaped(v.Name), escape.Escaped(r.text), f.Text(s))
			}
		}
	}
	if broken {
		return errBad
	}
	return nil
}
