package sharedfile

import (
	"strings"

	"github.com/awsretry/awsretry/internal/near"
)

// Lookalike returns the retry setting that a key was probably meant to be. It returns "" for a
// key that is a retry setting, and for one that resembles none.
func Lookalike(key string) string {
	if len(key) < len("retries") || len(key) > len("aws_max_error_retry") || RetryKey(key) != "" { // The lengths of those below.
		return ""
	}
	word := strings.TrimPrefix(strings.ReplaceAll(ASCIILower(key), "-", "_"), "aws_")
	switch word {
	case "retries", "max_retries", "maxretries", "max_retry", "maxretry", "max_error_retry", "maxerrorretry", "retry_attempts", "retryattempts", "attempts":
		return MaxAttempts
	}
	switch {
	case near.Distance(word, RetryMode, 2) <= 2:
		return RetryMode
	case near.Distance(word, MaxAttempts, 2) <= 2:
		return MaxAttempts
	}
	return ""
}
