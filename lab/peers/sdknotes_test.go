//go:build long

package peers

import "github.com/aws/aws-sdk-go-v2/aws"

// canceledBackoff is the note on a retry that is never sent.
func canceledBackoff() note {
	return note{effect: "A call canceled during its backoff keeps the tokens of the retry, so canceled calls drain the quota."}
}

// longHint is the note on a hint that the loop of the SDK reads.
func longHint() note {
	return note{effect: "A hint of more than 292 years overflows. No service is known to send one."}
}

// notesOfSDK says what users of the SDK notice.
func notesOfSDK(mode aws.RetryMode) map[string]note {
	notes := map[string]note{"S07": canceledBackoff(), "S14": longHint()}
	if mode == aws.RetryModeAdaptive {
		notes["S07"], notes["S14"] = ofSDK(canceledBackoff()), ofSDK(longHint())
		notes["A11"] = note{effect: "Chance decides which waiting call is sent next, so a call can be overtaken for long."}
		notes["A14"] = note{effect: "Waiting calls keep the wait of the old rate."}
	}
	return notes
}
