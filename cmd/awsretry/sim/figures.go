package sim

import (
	"math"
	"reflect"
	"slices"
)

// Figures are what the calls of a run came to. Shares, rates, latencies and the delay are those of the calls that ended in
// the window that counts; the others are for the whole run. Shares are from 0 to 1, times in seconds. NaN means that a figure
// does not apply. Each has its name in JSON, and its name and unit in tables.
type Figures struct {
	// FailedShare is of the calls, ThrottledShare of the attempts.
	FailedShare    float64 `json:"failed_share" name:"failed" unit:"%"`
	ThrottledShare float64 `json:"throttled_share" name:"throttled" unit:"%"`
	// A latency is the time from the beginning of a call that succeeds to its end.
	LatencyP50 float64 `json:"latency_p50_s" name:"p50" unit:"s"`
	LatencyP99 float64 `json:"latency_p99_s" name:"p99" unit:"s"`
	LatencyMax float64 `json:"latency_max_s" name:"max" unit:"s"`
	// WithinShare is the share of the calls wanted in the window that begin and succeed in time. It leaves out the
	// Undecided: calls that are open at the end of the run and may still succeed in time.
	WithinShare float64 `json:"within_share" name:"within" unit:"%"`
	// Offered is how many calls a second callers want to make, Begun how many begin, Goodput how many succeed, and Requests how many
	// attempts they take, with those of calls that fail.
	Offered  float64 `json:"offered_per_s" name:"offered/s"`
	Begun    float64 `json:"begun_per_s" name:"begun/s"`
	Goodput  float64 `json:"goodput_per_s" name:"goodput/s"`
	Requests float64 `json:"requests_per_s" name:"requests/s"`
	// OfLimit is the goodput as a share of what the service allows, and OfPossible as a share of what callers want or the
	// service allows, whichever is less.
	OfLimit    float64 `json:"goodput_of_limit" name:"of limit" unit:"%"`
	OfPossible float64 `json:"goodput_of_possible" name:"of possible" unit:"%"`
	// Waiting is how many calls are open at the end of the run, and Oldest how long ago the first of them began.
	Waiting float64 `json:"waiting_calls" name:"waiting"`
	Oldest  float64 `json:"oldest_waiting_s" name:"oldest" unit:"s"`
	// Done is when the last of a number of calls ended. It does not apply without one, or if they did not end.
	Done float64 `json:"done_s" name:"done" unit:"s"`
	// NoQuotaShare, NoAttemptsShare and NoTimeShare are the parts of FailedShare: for lack of quota, because all attempts
	// had failed, and the rest, which a deadline or MaxElapsed ended.
	NoQuotaShare    float64 `json:"failed_for_quota" name:"failed for quota" unit:"%"`
	NoAttemptsShare float64 `json:"failed_for_attempts" name:"failed for attempts" unit:"%"`
	NoTimeShare     float64 `json:"failed_for_time" name:"failed for time" unit:"%"`
	Undecided       float64 `json:"undecided_calls" name:"undecided"`
	// AttemptsPerCall counts all attempts, the first included.
	AttemptsPerCall float64 `json:"attempts_per_call" name:"attempts/call"`
	// DelayPerCall is the mean part of a latency spent waiting for backoff and send tokens.
	DelayPerCall float64 `json:"delay_per_call_s" name:"delay/call" unit:"s"`
	// FailedP50, FailedP99 and FailedMax are the times of calls that fail.
	FailedP50 float64 `json:"failed_p50_s" name:"failed p50" unit:"s"`
	FailedP99 float64 `json:"failed_p99_s" name:"failed p99" unit:"s"`
	FailedMax float64 `json:"failed_max_s" name:"failed max" unit:"s"`
	// Recover is how long after the last change of service or load the successes return, for five seconds, to 90 % of their
	// level in the ten seconds before the first change, or of what is possible if that is less. It does not apply if nothing
	// changes, if nothing succeeded before, or if they do not return in the run.
	Recover float64 `json:"recover_s" name:"recover" unit:"s"`
	// LowestQuota is the lowest number of tokens of any client, and Emptied when a retry was first refused for lack of them.
	LowestQuota float64 `json:"lowest_quota" name:"lowest quota"`
	Emptied     float64 `json:"quota_empty_s" name:"quota empty" unit:"s"`
	// The drain points are the shares of attempts that fail, time out or are throttled above which the quota empties. They do
	// not apply if nothing is retried.
	Drain           float64 `json:"drain_point" name:"drain point" unit:"%"`
	DrainTimeouts   float64 `json:"drain_point_timeouts" name:"- of timeouts" unit:"%"`
	DrainThrottling float64 `json:"drain_point_throttling" name:"- of throttles" unit:"%"`
}

// Row is a figure over several runs: the median, the lowest and the highest. All are NaN if the figure does not apply in at
// least half of the runs. Key is the name in JSON, Name that in tables. The unit is s, % for a share, or none.
type Row struct {
	Key, Name, Unit   string
	Median, Low, High float64
}

// Rows returns all figures, in order.
func Rows(runs []*Result) (all []Row) {
	fields := reflect.TypeFor[Figures]()
	for i := range fields.NumField() {
		tags := fields.Field(i).Tag
		row := Row{tags.Get("json"), tags.Get("name"), tags.Get("unit"), math.NaN(), math.NaN(), math.NaN()}
		var values []float64
		for _, r := range runs {
			if v := reflect.ValueOf(r.Figures).Field(i).Float(); !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		if n := len(values); n > 0 && 2*n >= len(runs) {
			slices.Sort(values)
			row.Median, row.Low, row.High = values[(n-1)/2], values[0], values[n-1]
		}
		all = append(all, row)
	}
	return all
}

// Median returns the run with the median share of failed calls, the first if there are several. Pictures show this run.
func Median(runs []*Result) *Result {
	middle := Rows(runs)[0].Median
	for _, r := range runs {
		if r.FailedShare == middle {
			return r
		}
	}
	return runs[0]
}
