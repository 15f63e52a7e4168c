package conformance

// Classification is a file of classification.json's form.
type Classification struct {
	ErrorCodes     []Classified `json:"error_codes"`
	StatusCodes    []Classified `json:"status_codes"`
	TransportKinds []Classified `json:"transport_kinds"`
	Combinations   []Classified `json:"combinations"`
}

// Classified is a failure and what is to be thought of it. Transport names a
// failure without an answer; Modeled says what the model of the service knows of
// the error.
type Classified struct {
	ID    string `json:"id"`
	Given struct {
		Status    int    `json:"status"`
		ErrorCode string `json:"error_code"`
		Transport string `json:"transport"`
		Modeled   string `json:"modeled"`
	} `json:"given"`
	Want Traits `json:"want"`
}

// Traits are what a classification says of a failure. A timeout is transient.
type Traits struct {
	Retryable  bool `json:"retryable"`
	Throttling bool `json:"throttling"`
	Timeout    bool `json:"timeout"`
	Transient  bool `json:"transient"`
	ClockSkew  bool `json:"clock_skew"`
}
