package peers

import (
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/awsretry/awsretry/retry"
)

const issues = "https://github.com/aws/aws-sdk-go-v2/issues/"

// canceledBackoff is the note on a retry that is never sent.
func canceledBackoff() note {
	return note{effect: "A call that is canceled during its backoff keeps the tokens of the retry, so that canceled calls use up the quota."}
}

// notesOfSDK says what users of the SDK notice.
func notesOfSDK(mode aws.RetryMode, behavior retry.Behavior) map[string]note {
	notes := map[string]note{
		"C04": {
			effect: "A throttle that says so only by its status 429 fails at once, unless its code is a known one. " +
				"With a wrong clock it can be retried as an ordinary failure.",
			issue: issues + "704",
		},
	}
	if mode == aws.RetryModeStandard {
		notes["S07"] = canceledBackoff()
	}
	if mode == aws.RetryModeAdaptive {
		maps.Copy(notes, map[string]note{
			"S05": {
				effect: "First attempts that succeed give no token back. Once the quota is empty, there are no retries any more.",
				issue:  issues + "3550",
			},
			"A11": {effect: "Which of the waiting calls is sent next is up to chance, so that a call can wait for long while others overtake it."},
			"A14": {effect: "Calls that wait for the send rate sleep on at the rate of before, also after it has risen or fallen."},
		})
	}
	switch {
	case behavior == retry.V20:
		maps.Copy(notes, map[string]note{
			"S10": {
				effect: "The first backoff is up to 2 s in place of 1 s, and so on: callers wait twice as long for a retry. " +
					"From the fifth retry on the backoff is the longest one, without jitter.",
				issue: issues + "3091",
			},
			"S14b": {effect: "The client does not read the hint of the server, and may come back before the time that the service asks for."},
		})
		if mode == aws.RetryModeStandard {
			notes["S06"] = note{
				effect: "A success after retries gives back one token more than the last retry cost, so that the quota recovers a little faster.",
			}
		}
	case mode == aws.RetryModeStandard:
		notes["S14"] = longHint("")
	default:
		maps.Copy(notes, map[string]note{
			"S14": longHint(""),
			"A08": {
				effect: "Retries wait for the send rate, but only the answer of the first attempt of a call moves it. " +
					"Throttles of retries do not slow the client down. The behavior of before counts every answer.",
			},
			"A09": {from: []string{"A08"}},
		})
	}
	return notes
}
