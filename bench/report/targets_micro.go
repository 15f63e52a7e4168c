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
		ratio("success, standard, 1 goroutine", "Success/mode=standard", "1", 0.2),
		ratio("success, standard, 8 goroutines", "Success/mode=standard", "8", 0.15),
		none("success, standard: allocations", "Success/mode=standard", 0),
		ratio("success, adaptive, before a throttle", "Success/mode=adaptive/throttled=never", "1", 0.2),
		none("success, adaptive, before a throttle: allocations", "Success/mode=adaptive/throttled=never", 0),
		ratio("success, adaptive, after a throttle", "Success/mode=adaptive/throttled=once", "1", 0.25),
		none("success, adaptive, after a throttle: allocations", "Success/mode=adaptive/throttled=once", 0),
		ratio("one retry, verdict known", "OneRetry/mode=standard/failure=known", "1", 0.1),
		ratio("one retry, classified", "OneRetry/mode=standard/failure=classified", "1", 0.1),
		none("one retry: allocations", "OneRetry/mode=standard/failure=classified", 0),
	}
	for _, failure := range []string{"api", "http", "dial"} {
		table := "Classify/failure=" + failure
		targets = append(targets,
			ratio("classification, "+failure, table, "1", 0.02),
			none("classification, "+failure+": allocations", table, 0))
	}
	for _, peer := range []string{sdk, "failsafe-go", "cenkalti-backoff", "sethvargo-go-retry", "go-retryablehttp"} {
		t := ratio("Do around an instant success, to "+peer, "Do/failures=0", "1", 1)
		t.to = peer
		targets = append(targets, t)
	}
	targets = append(targets, none("Do around an instant success: allocations", "Do/failures=0", 1))
	for _, c := range []struct {
		profiles int
		most     float64
	}{{10, 0.6}, {1_000, 0.1}, {10_000, 0.06}} {
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

// none is a target for a number of allocations.
func none(what, table string, most float64) target {
	return target{what: what, of: cell{table, "1", ours}, unit: allocs, goal: goal{bound: most}}
}
