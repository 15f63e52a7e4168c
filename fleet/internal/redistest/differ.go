package redistest

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet"
)

// World is a server to compare [fleet.Step] with.
type World struct {
	Store fleet.Store
	// Get returns the state under the key, and Set replaces it; an empty state means none.
	Get func(key string) string
	Set func(key, state string)
	// Move moves the time of the key forward or back.
	Move func(key string, d time.Duration)
	// Now is the time of the next call, used if the state has none.
	Now func() time.Time
	// Misread reports whether the server reads the text differently from real ones; nil means a
	// real server.
	Misread func(text string) bool
}

func (w World) misreads(text string) bool { return w.Misread != nil && w.Misread(text) }

const (
	members   = 12
	tolerance = 1e-9
)

type member struct {
	state string
	epoch uint64
}

// Differ makes random calls, and requires that the script returns the same reply and leaves the
// same state as Step. It returns the greatest relative difference.
func Differ(t *testing.T, w World, calls int, seed uint64) float64 {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	keys := [...]string{"f2-00000000:test:a", "f1:test:b"}
	fleets := [len(keys)][members]member{}
	kinds := map[string]int{}
	worst := 0.0
	for i := range calls {
		which := random.IntN(len(keys))
		key, m := keys[which], &fleets[which][random.IntN(members)]
		if random.IntN(400) == 0 { // the fleet is new
			w.Set(key, "")
			fleets[which] = [members]member{}
		}
		disturb(random, w, key)
		ask := randomAsk(random, w, m)

		before, now := w.Get(key), w.Now()
		if w.misreads(before) {
			before = ""
			w.Set(key, before)
		}
		reply, err := w.Store.Call(t.Context(), key, ask)
		require.NoError(t, err, "call %d: %+v on %q", i, ask, before)
		after := w.Get(key)
		if numbers := split(after); len(numbers) == 14 {
			now = time.UnixMicro(int64(math.Round(numbers[0] * 1e6)))
		}
		next, want := fleet.Step(before, now, ask)
		if after == "" && next != "" {
			// The script does not say when it read its clock. The state may have expired since now.
			next, want = fleet.Step(before, w.Now(), ask)
		}

		difference := max(differ(split(next), split(after)), differReply(want, reply))
		require.LessOrEqual(t, difference, tolerance, "call %d: %+v on %q: Step says %q %+v, and the script %q %+v",
			i, ask, before, next, want, after, reply)
		require.Equal(t, after, reply.State)
		worst = max(worst, difference)
		kinds[kind(reply)]++
		m.state, m.epoch = reply.State, reply.Epoch
		if w.misreads(m.state) {
			m.state = ""
		}
	}
	t.Logf("%d calls %v, worst relative difference %.1e", calls, kinds, worst)
	for _, name := range []string{"open", "learning", "nothing", "appointment", "run"} {
		require.Greater(t, kinds[name], calls/200, "too few to mean anything: %v", kinds)
	}
	return worst
}

func kind(r fleet.Reply) string {
	switch {
	case r.Epoch == 0:
		return "open"
	case r.Rate == 0:
		return "learning"
	case r.Slots > 0:
		return "run"
	case r.Again > 0:
		return "appointment"
	default:
		return "nothing"
	}
}

// disturb lets time pass, and sometimes does more.
func disturb(random *rand.Rand, w World, key string) {
	switch p := random.IntN(1000); {
	case p < 10:
		w.Move(key, time.Duration(random.Int64N(int64(30*time.Second))))
	case p < 20:
		w.Move(key, -time.Duration(random.Int64N(int64(5*time.Second))))
	case p < 22:
		w.Move(key, 11*time.Minute)
	case p < 26:
		w.Set(key, "")
	case p < 60:
		w.Set(key, corrupt(random, w, w.Get(key)))
	case p < 65:
		w.Set(key, aged(w.Get(key)))
	default:
		w.Move(key, time.Duration(random.ExpFloat64()*float64(80*time.Millisecond)).Truncate(time.Microsecond))
	}
}

func randomAsk(random *rand.Rand, w World, m *member) fleet.Ask {
	ask := fleet.Ask{Seed: m.state, Epoch: m.epoch}
	switch p := random.IntN(100); {
	case p < 10:
		ask.Seed = ""
	case p < 13:
		ask.Seed = corrupt(random, w, m.state)
	case p < 15:
		ask.Epoch = random.Uint64N(10)
	case p < 16:
		ask.Epoch = random.Uint64()
	}
	ask.OK = float64(random.IntN(20))
	if random.IntN(8) == 0 {
		ask.Bad = float64(random.IntN(4))
	}
	if random.IntN(3) > 0 {
		ask.Want = float64(random.IntN(40)) + random.Float64()
	}
	if random.IntN(50) == 0 {
		ask.Starting = 1000 * random.Float64()
	}
	if random.IntN(20) == 0 {
		ask.Ceiling = 0.05 + 100*random.Float64()
	}
	if random.IntN(100) == 0 {
		strange := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e300, 1.5e-300, 1e9, math.Copysign(0, -1), 1.5}
		*[]*float64{&ask.OK, &ask.Bad, &ask.Want, &ask.Starting}[random.IntN(4)] = strange[random.IntN(len(strange))]
	}
	return ask
}

// corrupt returns a text that is probably not a valid state.
func corrupt(random *rand.Rand, w World, state string) string {
	fields := strings.Split(state, " ")
	at := random.IntN(len(fields))
	if random.IntN(3) == 0 {
		at = min(1, len(fields)-1) // the epoch, which has to be whole
	}
	strange := []string{
		"", "x", "nan", "inf", "-1", "1e400", "1e-400", "0x1p4", "1e", ".", "+1", "-0", "1e16", "7", "0.5", "1_0", "5.", ".5", "3.5", "0",
	}
	switch random.IntN(4) {
	case 0:
		state = state[:random.IntN(len(state)+1)]
	case 1:
		state = strings.Repeat(state+" ", random.IntN(3))
	case 2:
		if len(state) > 0 {
			text := []byte(state)
			text[random.IntN(len(text))] = "0123456789.e+- x\x00\n"[random.IntN(18)]
			state = string(text)
		}
	default:
		fields[at] = strange[random.IntN(len(strange))]
		state = strings.Join(fields, " ")
	}
	if w.misreads(state) {
		return "alien"
	}
	return state
}

// aged returns a state that a throttle has not touched for almost as long as one is kept.
func aged(state string) string {
	fields := strings.Split(state, " ")
	fields[len(fields)-1] = "599.9"
	return strings.Join(fields, " ")
}

// Shift returns the state of the same scope as if d had passed.
func Shift(state string, d time.Duration) string {
	at, rest, ok := strings.Cut(state, " ")
	v, err := strconv.ParseFloat(at, 64)
	if !ok || err != nil {
		return state
	}
	return strconv.FormatFloat(max(v-d.Seconds(), 0), 'g', 17, 64) + " " + rest
}

func split(state string) []float64 {
	var numbers []float64
	for field := range strings.FieldsSeq(state) {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return []float64{math.NaN()}
		}
		numbers = append(numbers, v)
	}
	return numbers
}

func differReply(a, b fleet.Reply) float64 {
	numbers := func(r fleet.Reply) []float64 {
		return []float64{float64(r.Epoch), r.Rate, float64(r.Slots), r.Again.Seconds(), r.Start.Seconds(), r.Gap.Seconds()}
	}
	return differ(numbers(a), numbers(b))
}

// differ returns the greatest relative difference, which is infinite for lists that cannot be
// compared. A nanosecond does not count, because durations are cut to whole ones.
func differ(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	worst := 0.0
	for i := range a {
		d := math.Abs(a[i] - b[i])
		switch {
		case math.IsNaN(d):
			return math.Inf(1)
		case d > 1.5e-9:
			worst = max(worst, d/max(math.Abs(a[i]), math.Abs(b[i])))
		}
	}
	return worst
}
