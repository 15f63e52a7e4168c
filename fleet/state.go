package fleet

import (
	"math"
	"strconv"
	"strings"
)

// mostRate is the highest rate; as a goal it means none. mostEpoch is the last epoch.
const mostRate, mostEpoch = 1e9, 1 << 52

// state is what the fleet knows about a scope. Times are in seconds, and rates are per second.
type state struct {
	at    float64 // when the last call was, on the clock of the store
	epoch float64 // 1 while learning, and one more for each cut
	wmax  float64 // the rate of the plateau or, in a climb, the rate; zero while learning
	goal  float64 // the rate at which a climb ends, mostRate if nothing is known; wmax if there is no climb
	since float64 // the epoch in which the rate collapsed, searching for a climb without collapse; zero if there is no climb
	left  float64 // answers: in a climb until its goal is forgotten, and on the plateau until a climb begins
	tc    float64 // time of use since the cut
	ahead float64 // how far slots are sold in advance
	line  float64 // how far appointments are given in advance
	sold  float64 // slots sold in this epoch
	ok    float64 // answers to attempts of this epoch that were not throttled
	bad   float64 // and those that were
	use   float64 // answers per second, smoothed
	age   float64 // time of use since the last throttle
}

// searching is the since of a climb that looks for a new limit, not for an earlier one.
const searching = 1

func (s *state) numbers() [14]*float64 {
	return [...]*float64{
		&s.at, &s.epoch, &s.wmax, &s.goal, &s.since, &s.left, &s.tc, &s.ahead, &s.line, &s.sold, &s.ok, &s.bad, &s.use, &s.age,
	}
}

// most are the maximum values of the numbers of a state, in their order in the text. A text with a
// greater one counts as no state, so that foreign data can hold the fleet back for seconds at most.
var most = [14]float64{ //nolint:gochecknoglobals // constant
	1e15, mostEpoch, mostRate, mostRate, mostEpoch, 1e15, 1e9, soldAhead + 1/leastRate, latestAgain + 1/leastRate,
	1e15, 1e15, 1e15, 1e15, openAfter + 1,
}

// parse reads a state: fourteen decimal numbers in range, separated by single spaces. The epoch must
// be a whole number above 0, and the collapse must not be of a later epoch. Any other text is no
// state.
func parse(text string) (s state, ok bool) {
	if strings.Trim(text, "0123456789.e+- ") != "" {
		return state{}, false // such as 0x1p4, which scripts read differently
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
	return s, s.epoch >= 1 && s.epoch == math.Floor(s.epoch) && s.since <= s.epoch
}

// String writes the fourteen numbers so that parse reads the same numbers.
func (s state) String() string {
	text := make([]byte, 0, 200)
	for i, number := range s.numbers() {
		if i > 0 {
			text = append(text, ' ')
		}
		text = strconv.AppendFloat(text, *number, 'g', 17, 64)
	}
	return string(text)
}
