package main

import "fmt"

const (
	ours    = "awsretry"
	seconds = "sec/op"
	allocs  = "allocs/op"
)

// microTargets are those of time and allocations, as ratios within one run.
func microTargets() []target {
	targets := []target{
		ratio("success, standard, 1 goroutine", "Success/mode=standard/scopes=1", "1", 0.8),
		ratio("success, standard, 8 goroutines", "Success/mode=standard/scopes=1", "8", 0.5),
		none("success, standard: allocations", "Success/mode=standard/scopes=1", 0),
		scoped("success, standard, one scope to none", "Success/mode=standard/scopes=1", "Success/mode=standard/scopes=0", 1.25),
		scoped("success, standard, 1,000 scopes to none", "Success/mode=standard/scopes=1000", "Success/mode=standard/scopes=0", 1.5),
		ratio("success, adaptive, before a throttle", "Success/mode=adaptive/throttled=never/scopes=1", "1", 0.75),
		none("success, adaptive, before a throttle: allocations", "Success/mode=adaptive/throttled=never/scopes=1", 0),
		ratio("success, adaptive, after a throttle", "Success/mode=adaptive/throttled=once/scopes=1", "1", 0.6),
		none("success, adaptive, after a throttle: allocations", "Success/mode=adaptive/throttled=once/scopes=1", 0),
		ratio("one retry, verdict known", "OneRetry/mode=standard/failure=known/scopes=1", "1", 0.2),
		ratio("one retry, classified", "OneRetry/mode=standard/failure=classified/scopes=1", "1", 0.04),
		none("one retry: allocations", "OneRetry/mode=standard/failure=classified/scopes=1", 0),
	}
	for _, failure := range []string{"api", "http", "dial"} {
		table := "Classify/failure=" + failure
		targets = append(targets,
			ratio("classification, "+failure, table, "1", 0.02),
			none("classification, "+failure+": allocations", table, 0))
	}
	for _, peer := range []string{sdk, "failsafe-go", "cenkalti-backoff", "sethvargo-go-retry", "go-retryablehttp"} {
		t := ratio("Do around an instant success, to "+peer, "Do/failures=0/scopes=1", "1", 1)
		if t.to = peer; peer == sdk {
			t.goal.bound = 0.15
		}
		targets = append(targets, t)
	}
	targets = append(targets, none("Do around an instant success: allocations", "Do/failures=0/scopes=1", 1))
	for _, c := range []struct {
		profiles int
		most     float64
	}{{10, 0.5}, {1_000, 0.06}, {10_000, 0.05}} {
		t := ratio(fmt.Sprintf("config, one profile of %d, CPU", c.profiles),
			fmt.Sprintf("OneProfile/profiles=%d", c.profiles), "1", c.most)
		t.unit = "cpu-sec/op"
		targets = append(targets, t)
	}
	return targets
}

// ratio is a target for ours to aws-sdk-go-v2's time.
func ratio(what, table, goroutines string, most float64) target {
	return target{what: what, of: cell{table, goroutines, ours}, to: sdk, unit: seconds, goal: goal{bound: most}}
}

// scoped is a target for ours in one table to ours in another one.
func scoped(what, table, to string, most float64) target {
	t := ratio(what, table, "1", most)
	t.to, t.table = ours, to
	return t
}

// none is a target for a number of allocations.
func none(what, table string, most float64) target {
	return target{what: what, of: cell{table, "1", ours}, unit: allocs, goal: goal{bound: most}}
}
