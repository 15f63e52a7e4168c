package classify_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

func TestLimitsOfClockSkewFollowTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Classification](t, "classification.json") {
		limits := file.ClockSkew
		if limits == nil {
			continue // without constants
		}
		threshold, trip := vectors.Seconds(limits.DetectionThreshold), vectors.Seconds(limits.MaxTrustedTrip)
		for more, skewed := range map[time.Duration]bool{0: false, 1: true} {
			err := &skewedError{observed: threshold + more, err: codeError("AuthFailure")}
			require.Equal(t, skewed, verdictOf(err) == classify.RetryAs(classify.ClockSkew), "%s: threshold and %v", title, more)
			sent := time.Unix(1e9, 0)
			_, trusted := classify.CandidateSkew(sent, sent.Add(trip+more), sent, false)
			require.Equal(t, !skewed, trusted, "%s: longest exchange and %v", title, more)
		}
	}
}
