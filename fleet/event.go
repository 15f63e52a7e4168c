package fleet

import (
	"context"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// EventKind says what happened to a member.
type EventKind uint8

// The kinds of events.
const (
	// Limited means that the fleet now has a limit for the scope.
	Limited EventKind = iota + 1
	// Lost means that the member cannot reach the store. If FleetRate is above zero, the member
	// goes on alone at OwnRate. If it is zero, the scope has no limit or the store has never
	// answered, and the member uses its own send rate. The event repeats while calls fail, at most
	// once a minute for all members of a [Fleet]. Err is the cause.
	Lost
	// Back means that the store answers a member whose last call failed. Only the first such
	// answer after Lost or Rejected is an event.
	Back
	// Rejected is like Lost, but the store answers and rejects every call, see [ErrRejected]: for
	// example, the user has no permission. It is limited to once a minute separately. Err is the
	// cause.
	Rejected
	// Opened means that the scope is open again, after ten minutes of use without a throttle.
	Opened
)

// String returns "limited", "lost", "back", "rejected" or "open"; "unknown" for any other
// value.
func (k EventKind) String() string {
	names := [...]string{Limited: "limited", Lost: "lost", Back: "back", Rejected: "rejected", Opened: "open"}
	if int(k) < len(names) && names[k] != "" {
		return names[k]
	}
	return "unknown"
}

// Event reports what happened to a member of a fleet.
type Event struct {
	// Kind is what happened.
	Kind EventKind
	// Time is when it happened, on the clock of the member.
	Time time.Time
	// Scope is the scope of the member.
	Scope retry.ScopeKey
	// FleetRate is the send rate of the fleet in the last reply of the store, and OwnRate that of
	// the member, per second. Zero means none.
	FleetRate, OwnRate ratelimit.Rate
	// Failing is how many members of the [Fleet] failed in their last call, for Lost and Rejected.
	// It is low in the first event, which comes with the first failed call.
	Failing int
	// Err is the error of the store, for Lost and Rejected.
	Err error
}

// SlogObserver returns a [Config].Observer that writes to a log: Lost at warn level, Rejected at
// error level, the others at info level. It omits a zero rate. Nil means [slog.Default].
func SlogObserver(logger *slog.Logger) func(Event) {
	return func(e Event) {
		level, message := slog.LevelInfo, ""
		switch e.Kind {
		case Limited:
			message = "fleet: the send rate is shared"
		case Lost:
			level, message = slog.LevelWarn, "fleet: store out of reach, no shared send rate"
			if e.FleetRate > 0 {
				message = "fleet: store lost, holding the send rate"
			}
		case Back:
			message = "fleet: store back"
		case Rejected:
			level, message = slog.LevelError, "fleet: the store rejects every call, no shared send rate"
			if e.FleetRate > 0 {
				message = "fleet: the store rejects every call, holding the send rate"
			}
		default:
			message = "fleet: no limit any more"
		}
		attrs := []slog.Attr{slog.String("scope", e.Scope.String())}
		if e.FleetRate > 0 {
			attrs = append(attrs, slog.Float64("fleet_rate", rounded(e.FleetRate)))
		}
		if e.OwnRate > 0 {
			attrs = append(attrs, slog.Float64("own_rate", rounded(e.OwnRate)))
		}
		if e.Err != nil {
			attrs = append(attrs, slog.Int("failing", e.Failing), slog.String("error", e.Err.Error()))
		}
		to := logger
		if to == nil {
			to = slog.Default()
		}
		to.LogAttrs(context.Background(), level, message, attrs...)
	}
}

// rounded returns a rate with two decimals, for a log.
func rounded(rate ratelimit.Rate) float64 { return math.Round(float64(rate)*100) / 100 }

// minutely lets something happen once a minute, and again after a clock has gone back.
type minutely struct{ last atomic.Pointer[time.Time] }

func (m *minutely) once(now time.Time) bool {
	last := m.last.Load()
	return (last == nil || now.Sub(*last) >= time.Minute || instant.WentBack(now, *last)) && m.last.CompareAndSwap(last, &now)
}
