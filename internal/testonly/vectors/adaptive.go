package vectors

// Adaptive is a file with the form of adaptive.json.
type Adaptive struct {
	About

	Defaults    *Constants    `json:"defaults"`
	Cubic       []Cubic       `json:"cubic"`
	RateClocker []RateClocker `json:"rate_clocker"`
	EndToEnd    []EndToEnd    `json:"e2e"`
	SendBucket  []SendBucket  `json:"send_bucket"`
	Waiters     []Waiters     `json:"waiters"`
	Operations  []Operations  `json:"operations"`
}

// Constants are those of the controller.
type Constants struct {
	Smooth              float64 `json:"smooth"`
	Beta                float64 `json:"beta"`
	ScaleConstant       float64 `json:"scale_constant"`
	MinFillRate         float64 `json:"min_fill_rate"`
	MinCapacity         float64 `json:"min_capacity"`
	Window              float64 `json:"window_s"`
	MaxRateOverMeasured float64 `json:"max_rate_over_measured"`
	SendCost            float64 `json:"send_cost"`
}

// Cubic is a series of rates that the controller computes.
type Cubic struct {
	Case
	Precision

	Given struct {
		LastMaxRate      float64 `json:"last_max_rate"`
		LastThrottleTime float64 `json:"last_throttle_time_s"`
	} `json:"given"`
	Steps []struct {
		T        float64 `json:"t_s"`
		Response string  `json:"response"`
		Rate     float64 `json:"calculated_rate"`
	} `json:"steps"`
}

// RateClocker is a series of measured rates.
type RateClocker struct {
	Case
	Precision

	Start float64 `json:"start_s"`
	Steps []struct {
		T      float64 `json:"t_s"`
		Repeat int     `json:"repeat"`
		Rate   float64 `json:"measured_tx_rate"`
	} `json:"steps"`
}

// EndToEnd is a series of responses and the send rate after each.
type EndToEnd struct {
	Case
	Precision

	Start ExactSeconds `json:"start_s"`
	Steps []struct {
		T         ExactSeconds `json:"t_s"`
		Throttled bool         `json:"throttled"`
		Repeat    int          `json:"repeat"`

		MeasuredRate float64 `json:"measured_tx_rate"`
		FillRate     float64 `json:"new_token_bucket_rate"`
		Capacity     float64 `json:"max_capacity"`
		Tokens       float64 `json:"tokens"`
		Enabled      bool    `json:"enabled"`
	} `json:"steps"`
}

// SendBucket is a series of calls on the state of a send rate.
type SendBucket struct {
	Case
	Precision

	Start float64 `json:"start_s"`
	Steps []struct {
		Op        string  `json:"op"`
		T         float64 `json:"t_s"`
		Cost      float64 `json:"cost"`
		Rate      float64 `json:"rate"`
		Throttled bool    `json:"throttled"`
		Repeat    int     `json:"repeat"`
		Want      struct {
			Granted  bool     `json:"granted"`
			Wait     float64  `json:"wait_s"`
			Tokens   float64  `json:"tokens"`
			FillRate *float64 `json:"fill_rate"`
		} `json:"want"`
	} `json:"steps"`
}

// Waiters is a series of callers and the instants at which each gets a send token.
type Waiters struct {
	Case

	Start     float64             `json:"start_s"`
	Tolerance *float64            `json:"tolerance_s"`
	GrantAt   map[string]*float64 `json:"want_grant_at_s"`
	Order     []string            `json:"want_order"`
	Events    []struct {
		Op        string  `json:"op"`
		T         float64 `json:"t_s"`
		ID        string  `json:"id"`
		Cost      float64 `json:"cost"`
		Rate      float64 `json:"rate"`
		Throttled bool    `json:"throttled"`
		Repeat    int     `json:"repeat"`
	} `json:"events"`
}

// Within returns by how many seconds a grant may differ from the wanted instant.
func (w Waiters) Within() float64 { return Precision{w.Tolerance}.Within() }

// Operations is a series of operations in adaptive mode. One runs after the other.
type Operations struct {
	Case
	Precision

	Behavior   string       `json:"behavior"`
	Given      Given        `json:"given"`
	Start      ExactSeconds `json:"start_s"`
	Operations []struct {
		Start     ExactSeconds `json:"start_s"`
		Latency   ExactSeconds `json:"latency_s"`
		Responses []Response   `json:"responses"`

		Want struct {
			Outcome      string    `json:"outcome"`
			QuotaAfter   int       `json:"quota_after"`
			SentAt       []float64 `json:"sent_at_s"`
			SendWait     []float64 `json:"send_wait_s"`
			End          float64   `json:"end_t_s"`
			MeasuredRate float64   `json:"measured_tx_rate"`
			FillRate     float64   `json:"fill_rate"`
		} `json:"want"`
	} `json:"operations"`
}
