package outage

import "fmt"

// failure is the error of a request, as AWS would word it.
type failure struct {
	code   string
	status int
}

func (f *failure) Error() string       { return fmt.Sprintf("%s (status %d)", f.code, f.status) }
func (f *failure) ErrorCode() string   { return f.code }
func (f *failure) HTTPStatusCode() int { return f.status }

// decide is what the service says to a request that comes now; nil is success.
func (j *job) decide(p *program) *failure {
	limit, failing, throttling := j.limit, j.failing, 0.0
	if now := p.now(); j.faultFrom > 0 && now >= j.faultFrom && now < End {
		limit, failing, throttling = j.narrowed, j.faultFailing, j.throttling
	}
	if limit > 0 && !j.take(p, limit) {
		return &failure{"ProvisionedThroughputExceededException", 400}
	}
	switch share := p.float(); {
	case share < throttling:
		return &failure{"ThrottlingException", 400}
	case share < throttling+failing*0.8:
		return &failure{"ServiceUnavailable", 503}
	case share < throttling+failing:
		return &failure{"RequestTimeout", 408}
	case share < throttling+failing+j.refusing:
		return &failure{"NoSuchKey", 404}
	default:
		return nil
	}
}

// take reports whether a limit in requests per second lets one more through. The service saves up
// those of a second.
func (j *job) take(p *program, limit float64) bool {
	now := p.now()
	j.tokens = min(j.tokens+(now-j.filled).Seconds()*limit, limit)
	j.filled = now
	if j.tokens < 1 {
		return false
	}
	j.tokens--
	return true
}
