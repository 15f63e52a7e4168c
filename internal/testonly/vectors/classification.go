package vectors

// Classification is a file with the form of classification.json.
type Classification struct {
	About

	ClockSkew      *SkewLimits  `json:"clock_skew"`
	ErrorCodes     []Classified `json:"error_codes"`
	StatusCodes    []Classified `json:"status_codes"`
	TransportKinds []Classified `json:"transport_kinds"`
	Combinations   []Classified `json:"combinations"`
	// SkewDecisions are failures whose verdict depends on the clocks.
	SkewDecisions []Classified `json:"clock_skew_decisions"`
	// SkewSequences are operations with the skew before and after each attempt.
	SkewSequences []SkewSequence `json:"clock_skew_sequences"`
}

// SkewLimits are the limits of the rules for clocks, in seconds.
type SkewLimits struct {
	DetectionThreshold float64 `json:"detection_threshold_s"`
	MaxTrustedTrip     float64 `json:"max_trusted_round_trip_s"`
}

// Classified is a failure and its wanted verdict. Service is the id of the service, or empty. Transport names a failure without a response.
// Modeled is what the model of the service says about the error. The skews are in seconds; a
// nil CandidateSkew means that no skew was observed.
type Classified struct {
	Case

	Given struct {
		Status    int    `json:"status"`
		ErrorCode string `json:"error_code"`
		Service   string `json:"service"`
		Transport string `json:"transport"`
		Modeled   string `json:"modeled"`

		AttemptSkew   float64  `json:"attempt_skew_s"`
		CandidateSkew *float64 `json:"candidate_skew_s"`
	} `json:"given"`
	Want Traits `json:"want"`
}

// SkewSequence is a series of operations of one client. Times are in seconds on its clock.
type SkewSequence struct {
	Case

	Operations []SkewOperation `json:"operations"`
}

// SkewOperation is one operation. Its outcome is success or error. Without MaxAttempts it has the
// three attempts that the strategy allows.
type SkewOperation struct {
	InitialSkew float64       `json:"initial_client_skew_s"`
	MaxAttempts *int          `json:"max_attempts"`
	Attempts    []SkewAttempt `json:"attempts"`
	Skew        float64       `json:"want_client_skew_s"`
	Outcome     string        `json:"want_outcome"`
}

// SkewAttempt is one attempt of an operation. A nil Date means that the response has no date.
type SkewAttempt struct {
	Sent      float64  `json:"sent_s"`
	Received  float64  `json:"received_s"`
	Signing   float64  `json:"want_signing_s"`
	Status    int      `json:"status"`
	ErrorCode string   `json:"error_code"`
	Date      *float64 `json:"server_date_s"`
	Cached    bool     `json:"age_header"`
	Skewed    bool     `json:"want_clock_skew_error"`
}

// Failed reports whether the response is an error.
func (a SkewAttempt) Failed() bool { return a.Status >= 300 }

// Traits is the verdict on a failure. A timeout is transient too.
type Traits struct {
	Retryable  bool `json:"retryable"`
	Throttling bool `json:"throttling"`
	Timeout    bool `json:"timeout"`
	Transient  bool `json:"transient"`
	ClockSkew  bool `json:"clock_skew"`
}
