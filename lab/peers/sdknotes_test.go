//go:build long

package peers

import "github.com/aws/aws-sdk-go-v2/aws"

// canceledBackoff is the note on a retry that is never sent.
func canceledBackoff() note {
	return note{effect: "A call that is canceled during its backoff keeps the tokens of the retry, so that canceled calls use up the quota."}
}

// longHint is the note on a hint that the loop of the SDK reads.
func longHint() note {
	return note{effect: "A hint of more than 292 years overflows, and can be read as none or as another one. No service is known to send one."}
}

// notesOfSDK says what users of the SDK notice.
func notesOfSDK(mode aws.RetryMode) map[string]note {
	notes := map[string]note{"S07": canceledBackoff(), "S14": longHint()}
	if mode == aws.RetryModeAdaptive {
		notes["A11"] = note{effect: "Which of the waiting calls is sent next is up to chance, so that a call can wait for long while others overtake it."}
		notes["A14"] = note{effect: "Calls that wait for the send rate sleep on at the rate of before, also after it has risen or fallen."}
	}
	return notes
}
