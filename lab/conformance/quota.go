package conformance

import (
	"context"
	"fmt"
	"slices"
	"strconv"
)

// readable tests whether the suite can tell how many tokens a quota has, and reports it if not.
func (r *run) readable() {
	if r.limit < 2 {
		r.unreadable = "throttles are not retried, so that the suite cannot read the quota"
		return
	}
	full := r.readFull(throttle(), final())
	const retries = defaultCapacity / throttleCost
	j := judgment{about: Finding{
		Case: "full-quota", Title: "many operations, each with a throttle and a final error, and then successes",
		Answers: throttle().String() + ", " + final().String() + " | and so on",
	}}
	want := fmt.Sprintf("%d retries out of the full quota of %d tokens", retries, defaultCapacity)
	rule := ""
	switch {
	case full.endless:
		r.boundless = true
		rule = r.endless()
		j.differs(quota, want, fmt.Sprintf("more than %d", full.retries-1))
	case full.retries != retries:
		rule = "S04"
		j.differs(quota, want, strconv.Itoa(full.retries))
	case full.earned != throttleCost:
		rule = "S05"
		j.differs(quota, fmt.Sprintf("one more retry after %d successes", throttleCost), earnedText(full.earned))
	default:
		// The reading itself is a case of both.
		r.verdicts["S04"].Kept++
		r.verdicts["S05"].Kept++
		return
	}
	r.unreadable = map[string]string{
		"S04": "the suite reads the quota by throttles, see S04",
		"S05": "the suite reads the quota by successes, see S05",
		"S09": "the retryer has no retry quota, see S09",
		"S18": "each operation has a quota of its own, see S18",
		"S19": "a final error fills the quota, see S19",
	}[rule]
	r.judge([]string{rule}, j)
}

func earnedText(n int) string {
	if n == 0 {
		return fmt.Sprintf("none after %d", throttleCost)
	}
	return "after " + number(n, "success")
}

// readFull empties a full quota with operations that get these answers.
func (r *run) readFull(answers ...answer) (found reading) {
	s := r.settings()
	r.bubble("full-quota", func(ctx context.Context) {
		found = r.build(&s).readQuota(ctx, defaultCapacity, answers...)
	})
	return found
}

// endless returns the rule that a retryer breaks if its quota does not run out.
func (r *run) endless() string {
	gone := final()
	gone.last = true
	if !r.readFull(throttle(), gone).endless {
		return "S19"
	}
	if r.fixed&attemptsSetting != 0 {
		return "S09"
	}
	s := r.settings()
	s.maxAttempts = 3 * manyAttempts
	attempts := 0
	r.bubble("full-quota", func(ctx context.Context) {
		attempts = r.build(&s).play(ctx, slices.Repeat([]answer{throttle()}, 2*manyAttempts)...)
	})
	if attempts == defaultCapacity/throttleCost+1 {
		return "S18"
	}
	return "S09"
}
