package vectors

// Standard is a file with the form of standard.json.
type Standard struct {
	About

	// Defaults are the built-in numbers of each generation.
	Defaults      map[string]Defaults `json:"defaults"`
	Sequences     []Sequence          `json:"sequences"`
	Concurrent    []Sequence          `json:"concurrent"`
	Pools         []Sequence          `json:"pools"`
	QuotaOps      []QuotaOps          `json:"quota_ops"`
	BackoffTables []BackoffTable      `json:"backoff_tables"`
	RetryAfter    []RetryAfter        `json:"retry_after"`
	FullHints     []FullHint          `json:"full_hints"`
	Losses        []Losses            `json:"losses"`
	DebtLimits    []DebtLimits        `json:"debt_limits"`
}

// Defaults are the built-in numbers of one generation.
type Defaults struct {
	QuotaCapacity   int     `json:"quota_capacity"`
	Cost            int     `json:"cost"`
	TimeoutCost     int     `json:"timeout_cost"`
	ThrottlingCost  int     `json:"throttling_cost"`
	FirstTrySuccess int     `json:"first_try_success"`
	Base            float64 `json:"base_s"`
	ThrottlingBase  float64 `json:"throttling_base_s"`
	MaxBackoff      float64 `json:"max_backoff_s"`
	MaxAttempts     int     `json:"max_attempts"`
	// RetryAfterSlack is how much longer than the backoff a server hint may make a delay. Zero means that the
	// generation has another rule.
	RetryAfterSlack float64 `json:"retry_after_slack_s"`
	// DynamoDB has what is different for some services.
	DynamoDB *struct {
		Services    []string `json:"services"`
		Base        float64  `json:"base_s"`
		MaxAttempts int      `json:"max_attempts"`
	} `json:"dynamodb"`
}

// Sequence is a series of responses and the wanted decisions of one strategy. In a sequence one
// operation follows the other. In a concurrent one each step names its operation, and in one about the
// pool its scope too. In all types of this package an empty Behavior means v2.1.
type Sequence struct {
	Case

	Behavior   string `json:"behavior"`
	Given      Given  `json:"given"`
	FinalQuota *int   `json:"final_quota"`
	Steps      []Step `json:"steps"`
}

// Step is a response and the wanted decision.
type Step struct {
	Request  string   `json:"request"`
	Response Response `json:"response"`
	Scope    string   `json:"scope"`
	Want     struct {
		Outcome    string   `json:"outcome"`
		QuotaAfter int      `json:"quota_after"`
		PoolAfter  int      `json:"pool_after"`
		Delay      *float64 `json:"delay_s"`
	} `json:"want"`
}

// Losses is what happens to one strategy. In each step, operations succeed at the first attempt, or first attempts are in
// flight together and fail one after the other.
type Losses struct {
	Case

	Behavior string `json:"behavior"`
	Given    Given  `json:"given"`
	Steps    []struct {
		Successes   int      `json:"successes"`
		InFlight    int      `json:"in_flight"`
		Response    Response `json:"response"`
		WantRetried int      `json:"want_retried"`
	} `json:"steps"`
}

// DebtLimits is a concurrent sequence of a strategy with a limit on debt. A step comes After seconds after the one before.
type DebtLimits struct {
	Case

	Behavior string `json:"behavior"`
	Given    Given  `json:"given"`
	Steps    []struct {
		Step

		After     float64 `json:"after_s"`
		WantLimit int     `json:"limit_after"`
	} `json:"steps"`
}

// QuotaOps is a series of calls on one quota.
type QuotaOps struct {
	Case

	Capacity int `json:"capacity"`
	Initial  int `json:"initial"`
	Ops      []struct {
		Acquire   *int64 `json:"acquire"`
		Release   *int64 `json:"release"`
		WantOK    bool   `json:"want_ok"`
		WantAfter int    `json:"want_after"`
	} `json:"ops"`
}

// BackoffTable is a table of delays, which begins with the index FirstIndex.
type BackoffTable struct {
	Case

	// Behavior is the generation that Base and MaxBackoff belong to.
	Behavior   string       `json:"behavior"`
	Base       float64      `json:"base_s"`
	MaxBackoff ExactSeconds `json:"max_backoff_s"`
	Jitter     float64      `json:"jitter"`
	FirstIndex int64        `json:"first_index"`
	Delays     []float64    `json:"delays_s"`
}

// RetryAfter is a delay, a hint of the server, and the wanted delay with the hint.
type RetryAfter struct {
	Case

	Behavior string  `json:"behavior"`
	Delay    float64 `json:"t_i_s"`
	Header   *string `json:"header"`
	Want     float64 `json:"want_delay_s"`
}

// FullHint is the answer to the first attempt of a request over HTTP, and what follows.
type FullHint struct {
	Case

	Behavior string `json:"behavior"`
	Given    struct {
		Jitter     float64           `json:"jitter"`
		Status     int               `json:"status"`
		Headers    map[string]string `json:"headers"`
		MaxHint    float64           `json:"max_hint_s"`
		Deadline   float64           `json:"deadline_s"`
		MaxElapsed float64           `json:"max_elapsed_s"`
	} `json:"given"`
	Want struct {
		// Outcome is retry, or how the operation ends, as Event.Outcome has it.
		Outcome string  `json:"outcome"`
		Delay   float64 `json:"delay_s"`
	} `json:"want"`
}
