package fleet

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// most are the greatest values of the numbers of a state, in their order in the text. A text
// with a greater one counts as no state, so that alien data can hold the fleet back for
// seconds at most.
var most = [10]float64{ //nolint:gochecknoglobals // constant
	1e15, 1 << 52, 1e9, 1e9, soldAhead + 1/leastRate, latestAgain + 1/leastRate, 1e15, 1e15, 1e15, openAfter + 1,
}

// state is what the fleet knows of a scope. Times are in seconds.
type state struct {
	at    float64 // when the last call was, on the clock of the store
	epoch float64 // 1 while learning, 2 until the first cut, and one more for each cut
	wmax  float64 // the rate at which the last cut was made; zero while learning
	tc    float64 // time of use since the cut
	ahead float64 // how far slots are sold in advance
	line  float64 // how far appointments are given in advance
	ok    float64 // answers to attempts of this epoch that were not throttled
	bad   float64 // and those that were
	use   float64 // answers per second, smoothed
	age   float64 // time of use since the last throttle
}

func (s *state) numbers() [10]*float64 {
	return [...]*float64{&s.at, &s.epoch, &s.wmax, &s.tc, &s.ahead, &s.line, &s.ok, &s.bad, &s.use, &s.age}
}

// parse reads a state. What is not ten decimal numbers in range, separated by single spaces, is
// none, and the epoch must be a whole number above 0.
func parse(text string) (s state, ok bool) {
	if strings.Trim(text, "0123456789.e+- ") != "" {
		return state{}, false // such as 0x1p4, which scripts read in another way
	}
	numbers := s.numbers()
	for i, number := range numbers {
		field, rest, more := strings.Cut(text, " ")
		value, err := strconv.ParseFloat(field, 64)
		if err != nil || !(value >= 0 && value <= most[i]) || more == (i == len(numbers)-1) {
			return state{}, false
		}
		*number, text = value, rest
	}
	return s, s.epoch >= 1 && s.epoch == math.Floor(s.epoch)
}

// String writes the ten numbers so that parse reads the same ones.
func (s state) String() string {
	text := make([]byte, 0, 160)
	for i, number := range s.numbers() {
		if i > 0 {
			text = append(text, ' ')
		}
		text = strconv.AppendFloat(text, *number, 'g', 17, 64)
	}
	return string(text)
}

// Step is the whole of what a [Store] does with a call at the given time: it returns the state
// to keep in place of state, which is empty if there is none, and the reply. An empty next
// means that the store has to delete the state. A state that Step does not understand counts
// as none. A store may forget a state that no call has read for ten minutes. Step is a pure
// function.
//
// The rate follows a curve like CUBIC. After a cut it is back at the old rate w after b
// seconds of use and then exceeds it:
//
//	rate = w (1 + 0.1 u^3), u = t/b - 1, b = 700/w in 5 to 20 s
//
// One second after a cut the store begins to count the answers to attempts that were sent
// since, and 0.3 s later a throttle among them cuts the rate by 10 %. If more than 10 % were
// throttled, it falls to what was served, by half at most.
func Step(state string, now time.Time, ask Ask) (next string, reply Reply) {
	ask = ask.cleaned()
	at := max(float64(now.UnixMicro())/1e6, 0)
	s, known := parse(state)
	if seed, ok := parse(ask.Seed); ok && (!known || s.epoch < seed.epoch) {
		s, known = seed, true
		s.at, s.ahead = at, soldAhead // slots may be out, so that none are sold for so long
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
	if s.age > openAfter && ask.Starting == 0 {
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

// cleaned returns the ask with numbers that Step can use.
func (a Ask) cleaned() Ask {
	for _, number := range []*float64{&a.OK, &a.Bad, &a.Want, &a.Starting, &a.Ceiling} {
		if !(*number >= 0 && *number <= 1e9) {
			*number = 0
		}
	}
	return a
}

func begun(at, starting float64) state {
	s := state{at: at, epoch: 1, wmax: starting}
	if starting > 0 {
		s.epoch, s.tc = 3, back(starting)
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
	if float64(ask.Epoch) != s.epoch {
		return
	}
	s.ok += ask.OK
	s.bad += ask.Bad
	if ask.Bad > 0 {
		s.age = 0
	}
}

// learn looks at what the members get without the fleet, and reports whether that is known.
func (s *state) learn(dt float64) bool {
	s.tc += dt
	if s.tc < settle {
		s.ok = 0 // until most members have heard of the epoch
	}
	if s.tc < learnFor {
		return false
	}
	s.use = max(s.ok/(s.tc-settle), leastRate)
	s.cut(s.use)
	return true
}

// cut begins an epoch. rate is the one to come back to.
func (s *state) cut(rate float64) {
	s.epoch = min(s.epoch+1, most[1])
	s.wmax = min(rate, most[2])
	s.tc, s.ok, s.bad = 0, 0, 0
}

// steer moves the send rate, and returns it.
func (s *state) steer(dt, ceiling float64) float64 {
	rate := s.curve()
	if s.use > usedPart*rate || s.tc < settle+counting {
		s.tc += dt
		rate = s.curve()
	}
	switch {
	case s.tc < settle:
		s.ok, s.bad = 0, 0
	case s.bad > 0 && s.tc >= settle+counting:
		if p := s.bad / max(s.ok+s.bad, leastAnswers); p > heavyShare {
			rate *= max(1-p, leastKept)
		}
		s.cut(max(rate, leastRate))
		rate = keptAfterCut * s.wmax
	}
	rate = max(rate, leastRate)
	if ceiling > 0 {
		rate = min(rate, ceiling)
	}
	return rate
}

// curve returns the send rate at this time of use since the cut.
func (s *state) curve() float64 {
	if s.epoch == 2 {
		return min(s.wmax*math.Pow(2, s.tc/doubling), most[2])
	}
	u := s.tc/back(s.wmax) - 1
	return min(s.wmax*(1+curveScale*u*u*u), most[2])
}

// back returns after how many seconds the rate is back at the one that was cut.
func back(rate float64) float64 {
	return min(max(backSlots/rate, shortestBack), longestBack)
}

// sell hands out a run of at most so many slots, or an appointment.
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
		most := runShare * room * rate // the fuller the line, the smaller the runs, so that shares are equal
		slots := min(want, max(math.Floor(most), 1))
		// A run is spread over the time that is sold already, because waves of sales would
		// feed themselves. A member that wants little begins at once.
		reply.Slots = int(slots)
		reply.Start = seconds(s.ahead / slots * max(0, 1-most/want))
		reply.Gap = seconds(max(1/rate, s.ahead/slots))
		s.ahead += slots / rate
	}
	return reply
}

// seconds returns s seconds, a year at most.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, 365*24*60*60) * float64(time.Second))
}
