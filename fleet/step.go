package fleet

import (
	"math"
	"time"
)

// Step is everything that a [Store] does for a call at the given time: it returns the state that
// replaces state, which is empty if there is none, and the reply. An empty next means that the
// store must delete the state. A state that Step does not understand counts as none. A store may
// forget a state that no call has read for ten minutes. Step is a pure function.
//
// A throttle cuts the rate by a tenth. In b seconds of use the rate returns to the old one, w. Then
// it exceeds w by up to 12 % (the rate is w at t = b):
//
//	t < b: w (1 - 0.1 (1 - t/b)^3)   else: w (1 + 0.12 min((t-b) / 0.3 b, 1))   b = 140/w in 7 to 30 s
//
// Once the answers have exceeded w for long enough without a throttle, the rate climbs: each
// answer raises it by 0.65 a second, which doubles it in a second, until the next throttle.
//
// One second after a cut the store begins to count the answers to attempts that were sent since,
// and 0.3 s later throttles among them cut again. If more than 10 % were throttled, the rate falls
// to what was served, by half at most. If most were throttled, that is a collapse and says nothing
// about the limit: the store remembers the rate, does not go below a fifth of it, and climbs back
// to it as soon as answers succeed. Some answers later it has either reached or forgotten it.
func Step(state string, now time.Time, ask Ask) (next string, reply Reply) {
	ask = ask.cleaned()
	at := max(float64(now.UnixMicro())/1e6, 0)
	s, known := parse(state)
	if seed, ok := parse(ask.Seed); ok && (!known || s.epoch < seed.epoch) {
		s, known = seed, true
		s.at, s.ahead = at, soldAhead // slots may be out, so none are sold for that long
	}
	if !known {
		if ask.Bad == 0 && ask.Starting == 0 {
			return "", Reply{}
		}
		s = begun(at, ask.Starting)
	}
	dt := min(max(at-s.at, 0), 1)
	s.advance(at, dt)
	s.count(dt, ask)
	if ask.Starting == 0 && (s.age > openAfter || s.wmax == 0 && s.age > unlimitedAfter) {
		return "", Reply{}
	}
	if s.wmax == 0 && !s.learn(dt) {
		next = s.String()
		return next, Reply{Epoch: uint64(s.epoch), Again: seconds(learnEvery), State: next}
	}
	reply = s.sell(s.steer(dt, ask.Ceiling), math.Floor(ask.Want))
	reply.State = s.String()
	return reply.State, reply
}

// cleaned returns the ask with every number made usable for Step.
func (a Ask) cleaned() Ask {
	for _, number := range []*float64{&a.OK, &a.Bad, &a.Want, &a.Starting, &a.Ceiling} {
		if !(*number >= 0 && *number <= 1e9) {
			*number = 0
		}
	}
	if float64(a.Epoch) > mostEpoch {
		a.Epoch = 0
	}
	return a
}

func begun(at, starting float64) state {
	s := state{at: at, epoch: 1, wmax: starting}
	if starting > 0 {
		s.epoch = 3
		s.plateau(starting, starting) // the service may have saved a burst of a second
	}
	return s
}

// advance lets time pass.
func (s *state) advance(at, dt float64) {
	s.at = at
	s.ahead, s.line = max(s.ahead-dt, 0), max(s.line-dt, 0)
	s.age = min(s.age+dt, openAfter+1)
}

// count counts the answers.
func (s *state) count(dt float64, ask Ask) {
	s.use = s.use*math.Exp(-dt/useSmooth) + (ask.OK+ask.Bad)/useSmooth
	if s.since > 0 && float64(ask.Epoch) >= s.since {
		s.left = max(s.left-ask.OK, 0)
	}
	if float64(ask.Epoch) != s.epoch {
		return
	}
	s.ok += ask.OK
	s.bad += ask.Bad
	if ask.Bad > 0 {
		s.age = 0
	}
	s.hear(dt, ask.OK)
}

// sell returns a run of at most want slots, or an appointment.
func (s *state) sell(rate, want float64) Reply {
	reply := Reply{Epoch: uint64(s.epoch), Rate: rate}
	room := soldAhead - s.ahead
	switch {
	case want < 1:
	case room <= 0:
		again := min(max(s.line, s.ahead-soldAhead/2), latestAgain)
		s.line = again + 1/(denser*rate)
		reply.Again = seconds(again)
	default:
		most := runShare * room * rate // the fuller the line, the smaller the runs, so shares are equal
		slots := min(want, max(math.Floor(most), 1))
		// A run is spread over the time already sold, because waves of sales would feed themselves.
		// A member that wants little begins at once.
		reply.Slots = int(slots)
		reply.Start = seconds(s.ahead / slots * max(0, 1-most/want))
		reply.Gap = seconds(max(1/rate, s.ahead/slots))
		s.ahead += slots / rate
		s.sold += slots
	}
	return reply
}

// seconds returns s seconds, a year at most.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, 365*24*60*60) * float64(time.Second))
}
