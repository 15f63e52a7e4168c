package fleet

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var noon = time.Unix(1_800_000_000, 0)

// readState reads a state that Step has returned.
func readState(tb testing.TB, text string) state {
	tb.Helper()
	s, ok := parse(text)
	require.True(tb, ok, text)
	return s
}

// calm is a state at the plateau of 100 slots a second, all of which are used.
func calm() state {
	return state{at: float64(noon.Unix()), epoch: 5, wmax: 100, goal: 100, left: 33, tc: 7, use: 100, age: 60}
}

func TestStepSteersTheRate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*state)
		ask    Ask
		after  time.Duration
		epoch  uint64
		rate   float64
	}{
		"at the plateau":                            {epoch: 5, rate: 100},
		"at the beginning of the curve":             {change: func(l *state) { l.tc = 0 }, epoch: 5, rate: 90},
		"beyond the plateau":                        {change: func(l *state) { l.tc = 9.1 }, epoch: 5, rate: 112},
		"never further":                             {change: func(l *state) { l.tc = 90 }, epoch: 5, rate: 112},
		"time moves it along the curve":             {change: func(l *state) { l.tc = 7.55 }, after: 500 * time.Millisecond, epoch: 5, rate: 106},
		"a pause counts as a second at most":        {change: func(l *state) { l.tc = 6 }, after: time.Hour, epoch: 5, rate: 100},
		"no growth beyond what is used":             {change: func(l *state) { l.use = 49 }, after: time.Second, epoch: 5, rate: 100},
		"a throttle cuts it by a tenth":             {ask: Ask{Epoch: 5, OK: 99, Bad: 1}, epoch: 6, rate: 90},
		"few answers say nothing":                   {ask: Ask{Epoch: 5, OK: 2, Bad: 1}, epoch: 5, rate: 100},
		"and those of a handful little":             {ask: Ask{Epoch: 5, OK: 2, Bad: 2}, epoch: 6, rate: 100 * 5. / 6 * 1.07 * 0.9},
		"many throttles cut it to what is served":   {ask: Ask{Epoch: 5, OK: 69, Bad: 31}, epoch: 6, rate: 70 * 1.07 * 0.9},
		"by half at most":                           {ask: Ask{Epoch: 5, OK: 10, Bad: 90}, epoch: 6, rate: 50},
		"a collapse ends at a fifth of the goal":    {change: collapsed(25), ask: Ask{Epoch: 5, Bad: 20}, epoch: 6, rate: 20},
		"answers of another epoch do not count":     {ask: Ask{Epoch: 4, OK: 70, Bad: 30}, epoch: 5, rate: 100},
		"nor do those of the first second":          {change: func(l *state) { l.tc = 0.9 }, ask: Ask{Epoch: 5, Bad: 30}, epoch: 5, rate: 93.3824781341108},
		"nor is there a cut while they are counted": {change: func(l *state) { l.tc = 1.2 }, ask: Ask{Epoch: 5, Bad: 30}, epoch: 5, rate: 94.31160349854227},
		"a ceiling holds":                           {ask: Ask{Ceiling: 80}, epoch: 5, rate: 80},
		"a rate is never below 0.05":                {change: func(l *state) { l.wmax = 0.01 }, epoch: 5, rate: 0.05},
		"a known limit begins at the plateau":       {change: func(l *state) { *l = state{} }, ask: Ask{Starting: 80}, epoch: 3, rate: 80},

		"a climb begins after enough answers":         {change: func(l *state) { l.left, l.tc = 10, 9.1 }, ask: Ask{Epoch: 5, OK: 10}, epoch: 5, rate: 112},
		"each answer raises a climb":                  {change: collapsed(20), ask: Ask{Epoch: 5, OK: 10}, epoch: 5, rate: 26.5},
		"up to its goal":                              {change: collapsed(90), ask: Ask{Epoch: 5, OK: 30}, epoch: 5, rate: 100},
		"not before half of the slots is heard of":    {change: func(l *state) { collapsed(20)(l); l.sold = 21 }, ask: Ask{Epoch: 5, OK: 10}, epoch: 5, rate: 20},
		"nor while a quarter of the rate is not used": {change: func(l *state) { collapsed(80)(l); l.use = 9 }, ask: Ask{Epoch: 5, OK: 10}, epoch: 5, rate: 80},
		"not after a throttle":                        {change: collapsed(20), ask: Ask{Epoch: 5, OK: 2, Bad: 1}, epoch: 5, rate: 20},
		"a climb without a goal is cut to the use":    {change: climbing(300, 1e9, 110), ask: Ask{Epoch: 5, OK: 98, Bad: 2}, epoch: 6, rate: 160},
		"and goes on slowly":                          {change: climbing(100, 300, 100), ask: Ask{Epoch: 5, OK: 10}, epoch: 5, rate: 101},
		"which a lone throttle does not end":          {change: climbing(200, 300, 100), ask: Ask{Epoch: 5, OK: 10, Bad: 1}, epoch: 5, rate: 201},
		"until the next throttle":                     {change: climbing(200, 300, 100), ask: Ask{Epoch: 5, OK: 98, Bad: 2}, epoch: 6, rate: 180},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := calm()
			if c.change != nil {
				c.change(&l)
			}
			text := l.String()
			if l == (state{}) {
				text = ""
			}
			next, reply := Step(text, noon.Add(c.after), c.ask)
			require.Equal(t, c.epoch, reply.Epoch)
			require.InDelta(t, c.rate, reply.Rate, 1e-6)
			require.Equal(t, next, reply.State)
			if l.since == 0 && c.epoch == 5 && l.left > c.ask.OK {
				require.Zero(t, readState(t, next).since, "no climb before so many answers")
			}
			if l.tc > 0 && l.tc < settle {
				require.Zero(t, readState(t, next).bad, "they do not count later either")
			}
		})
	}
}

// collapsed makes of calm a climb from the rate to 100, after a collapse.
func collapsed(rate float64) func(*state) {
	return func(l *state) { l.wmax, l.goal, l.since, l.left, l.tc = rate, 100, 5, 50, 2 }
}

// climbing makes of calm a climb without a collapse.
func climbing(rate, goal, use float64) func(*state) {
	return func(l *state) { l.wmax, l.goal, l.since, l.left, l.tc, l.use = rate, goal, 1, 0, 2, use }
}

// A goal counts for nothing after 20 answers of the collapse, some of which come from its edge.
func TestStepForgetsTheGoalOfACollapse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		left, ok, goal float64
	}{
		{left: 50, ok: 0, goal: 100},
		{left: 50, ok: 10, goal: 100},
		{left: 20, ok: 10, goal: 22.4 + (100-22.4)*0.5},
		{left: 10, ok: 10, goal: 22.4},
	} {
		l := calm()
		collapsed(40)(&l)
		l.left = c.left
		next, _ := Step(l.String(), noon, Ask{Epoch: 5, OK: c.ok, Bad: 11})
		got := readState(t, next)
		require.Equal(t, c.left > c.ok, got.since > 0)
		if got.since > 0 {
			require.InDelta(t, c.goal, got.goal, 0.1)
		}
	}
	l := calm() // a climb without a collapse goes on
	climbing(200, 300, 100)(&l)
	next, _ := Step(l.String(), noon, Ask{Epoch: 5, Bad: 6})
	got := readState(t, next)
	require.Equal(t, []float64{searching, 300}, []float64{got.since, got.goal})
}

func TestStepSellsSlots(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	for name, c := range map[string]struct {
		ahead, line, want float64
		reply             Reply
		left              float64 // ahead afterwards
	}{
		"none if none are wanted":           {want: 0.9},
		"a run of a twentieth of a second":  {want: 50, reply: Reply{Slots: 5, Gap: 10 * ms}, left: 0.05},
		"fewer where fewer are wanted":      {want: 2.9, reply: Reply{Slots: 2, Gap: 10 * ms}, left: 0.02},
		"spread over what is sold":          {ahead: 0.3, want: 50, reply: Reply{Slots: 2, Start: 144 * ms, Gap: 150 * ms}, left: 0.32},
		"at once for who wants little":      {ahead: 0.3, want: 1, reply: Reply{Slots: 1, Gap: 300 * ms}, left: 0.31},
		"one at least":                      {ahead: 0.49, want: 5, reply: Reply{Slots: 1, Start: 480200 * time.Microsecond, Gap: 490 * ms}, left: 0.5},
		"an appointment when all are sold":  {ahead: 0.5, want: 5, reply: Reply{Again: 250 * ms}, left: 0.5},
		"behind the appointments before it": {ahead: 0.5, line: 4, want: 5, reply: Reply{Again: 4 * time.Second}, left: 0.5},
		"within ten seconds":                {ahead: 0.5, line: 25, want: 5, reply: Reply{Again: 10 * time.Second}, left: 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := calm()
			l.ahead, l.line = c.ahead, c.line
			next, reply := Step(l.String(), noon, Ask{Want: c.want})
			require.Equal(t, c.reply.Slots, reply.Slots)
			for _, d := range [][2]time.Duration{
				{c.reply.Start, reply.Start}, {c.reply.Gap, reply.Gap}, {c.reply.Again, reply.Again},
			} {
				if c.reply.Slots != 0 || c.reply.Again != 0 {
					require.InDelta(t, d[0], d[1], float64(time.Microsecond))
				}
			}
			got := readState(t, next)
			require.InDelta(t, c.left, got.ahead, 1e-9)
			if reply.Again > 0 {
				require.InDelta(t, reply.Again.Seconds()+1/(1.1*100), got.line, 1e-6, "the next appointment is a slot later")
			}
		})
	}
}

// answered is what a member reports of an epoch in half a second.
type answered struct{ ok, bad float64 }

// learn makes asks in the epoch 1, and returns the epoch and the rate afterwards.
func learn(t *testing.T, asks ...answered) (epoch uint64, rate float64) {
	t.Helper()
	state, reply := Step("", noon, Ask{Bad: 1, Want: 5})
	require.Equal(t, Reply{Epoch: 1, Again: 500 * time.Millisecond, State: state}, reply)
	now := noon
	for i, a := range asks {
		require.True(t, i == 0 || reply.Rate == 0, "it has learned already")
		now = now.Add(500 * time.Millisecond)
		state, reply = Step(state, now, Ask{Epoch: 1, OK: a.ok, Bad: a.bad})
	}
	return reply.Epoch, reply.Rate
}

func TestStepLearnsWhatTheMembersGet(t *testing.T) {
	t.Parallel()
	served, mixed, dark := answered{20, 0}, answered{20, 10}, answered{0, 30}
	repeat := func(a answered, n int) []answered { return slices.Repeat([]answered{a}, n) }
	for name, c := range map[string]struct {
		asks  []answered
		epoch uint64
		rate  float64
	}{
		"in three seconds, of which the first does not count": {repeat(mixed, 6), 2, 100.0 / 2},
		"with a throttle":               {append(repeat(mixed, 5), served, mixed), 2, 120.0 / 2.5},
		"not without one for a second":  {append(repeat(mixed, 4), repeat(served, 8)...), 1, 0},
		"not while all are throttled":   {repeat(dark, 60), 1, 0},
		"but from then on":              {append(repeat(dark, 58), repeat(mixed, 4)...), 2, 80.0 / 2},
		"nothing, if there is no limit": {append(repeat(mixed, 2), repeat(served, 121)...), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			epoch, rate := learn(t, c.asks...)
			require.Equal(t, c.epoch, epoch)
			require.InDelta(t, c.rate, rate, 1e-9)
		})
	}
}

func TestStepIsOpen(t *testing.T) {
	t.Parallel()
	old := calm()
	old.age = 599.5
	for name, c := range map[string]struct {
		state string
		after time.Duration
		ask   Ask
		open  bool
	}{
		"without a state":                    {ask: Ask{Want: 5, OK: 7}, open: true},
		"with a state that it cannot read":   {state: "OK", open: true},
		"after ten minutes without throttle": {state: old.String(), after: time.Second, open: true},
		"not with a throttle":                {state: old.String(), after: time.Second, ask: Ask{Epoch: 5, Bad: 1}},
		"not with a throttle of no epoch":    {ask: Ask{Bad: 1}},
		"not with a limit that is known":     {state: old.String(), after: time.Second, ask: Ask{Starting: 100}},
		"not with a state of a member":       {ask: Ask{Seed: calm().String()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next, reply := Step(c.state, noon.Add(c.after), c.ask)
			require.Equal(t, c.open, next == "")
			require.Equal(t, c.open, reply == Reply{})
		})
	}
}

func TestStepGoesOnWithTheStateOfAMember(t *testing.T) {
	t.Parallel()
	older, newer := calm(), calm()
	older.epoch, newer.wmax = 4, 50
	for name, c := range map[string]struct {
		state, seed string
		epoch       uint64
		rate, ahead float64
	}{
		"if it has none":            {seed: calm().String(), epoch: 5, rate: 100, ahead: 0.5},
		"if it has an older one":    {state: older.String(), seed: calm().String(), epoch: 5, rate: 100, ahead: 0.5},
		"not if it has a newer one": {state: calm().String(), seed: older.String(), epoch: 5, rate: 100},
		"not if it has the same":    {state: calm().String(), seed: newer.String(), epoch: 5, rate: 100},
		"not if it makes no sense":  {state: calm().String(), seed: "99 99", epoch: 5, rate: 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next, reply := Step(c.state, noon, Ask{Seed: c.seed})
			require.Equal(t, c.epoch, reply.Epoch)
			require.InDelta(t, c.rate, reply.Rate, 1e-9)
			require.InDelta(t, c.ahead, readState(t, next).ahead, 0)
		})
	}
}

// aliens are texts that are no state: each is calm but for one thing.
func aliens() []string {
	text := calm().String()
	fields := strings.Fields(text)
	texts := []string{
		"", " ", "OK", text + " ", " " + text, text + " 1", strings.Join(fields[:13], " "), text[:len(text)/2],
		strings.ReplaceAll(text, " ", "  "), strings.ReplaceAll(text, " ", "\t"), strings.ReplaceAll(text, " ", ","),
		`{"at":1}`, strings.Repeat("9", 1<<16), "\x00", strings.Replace(text, " 100 ", " 0x64 ", 1), strings.Replace(text, " 100 ", " 1_0 ", 1),
	}
	for i := range fields {
		for _, bad := range []string{"-1", "nan", "inf", "-inf", "1e300", "1e999", "x", ""} {
			changed := append([]string(nil), fields...)
			changed[i] = bad
			texts = append(texts, strings.Join(changed, " "))
		}
	}
	texts = append(texts, strings.Replace(text, " 5 ", " 5.5 ", 1), strings.Replace(text, " 5 ", " 0 ", 1))
	later := calm()
	later.since = later.epoch + 1
	texts = append(texts, later.String())
	return texts
}

func TestStepTakesWhatIsNoStateForNone(t *testing.T) {
	t.Parallel()
	_, fresh := Step("", noon, Ask{Bad: 1})
	for _, text := range aliens() {
		_, reply := Step(text, noon, Ask{Bad: 1, Seed: text})
		require.Equal(t, fresh, reply, "%q", text)
	}
}

func TestStepTakesWhatIsNoNumberForZero(t *testing.T) {
	t.Parallel()
	_, plain := Step(calm().String(), noon, Ask{Epoch: 5})
	for _, number := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e300} {
		_, reply := Step(calm().String(), noon, Ask{
			Epoch: 5, OK: number, Bad: number, Want: number, Starting: number, Ceiling: number,
		})
		require.Equal(t, plain, reply, number)
	}
}

// checkStep requires of one step what holds for all.
func checkStep(tb testing.TB, state string, now time.Time, ask Ask) (next string, reply Reply) {
	tb.Helper()
	next, reply = Step(state, now, ask)
	again, same := Step(state, now, ask)
	require.Equal(tb, next, again, "a pure function")
	require.Equal(tb, reply, same)
	require.Equal(tb, next, reply.State)
	if next == "" {
		require.Equal(tb, Reply{}, reply)
		return next, reply
	}
	l := readState(tb, next)
	for _, number := range l.numbers() {
		require.True(tb, *number >= 0 && !math.IsInf(*number, 0), next)
	}
	require.GreaterOrEqual(tb, reply.Slots, 0)
	for _, d := range []time.Duration{reply.Again, reply.Start, reply.Gap} {
		require.True(tb, d >= 0 && d <= 30*time.Second, "%+v", reply)
	}
	if reply.Rate == 0 {
		require.Zero(tb, reply.Slots)
		require.Equal(tb, 500*time.Millisecond, reply.Again)
		return next, reply
	}
	if ask.Ceiling == 0 {
		require.GreaterOrEqual(tb, reply.Rate, 0.05)
	}
	_, kept := Step(next, now, Ask{})
	require.Equal(tb, reply.Epoch, kept.Epoch, "the next step reads what this one has written")
	return next, reply
}

func FuzzStep(f *testing.F) {
	for _, text := range aliens() {
		f.Add(text, text, int64(0), uint64(0), 0.0, 0.0, 0.0, 0.0, 0.0)
	}
	f.Add(calm().String(), "", noon.UnixMicro(), uint64(5), 3.0, 1.0, 7.0, 0.0, 0.0)
	f.Add("", calm().String(), noon.UnixMicro(), uint64(5), 3.0, 1.0, 7.0, 10.0, 20.0)
	f.Fuzz(func(t *testing.T, state, seed string, now int64, epoch uint64, ok, bad, want, starting, ceiling float64) {
		if len(state)+len(seed) > 4096 {
			return // long texts take long and say nothing new
		}
		ask := Ask{Seed: seed, Epoch: epoch, OK: ok, Bad: bad, Want: want, Starting: starting, Ceiling: ceiling}
		checkStep(t, state, time.UnixMicro(now), ask)
	})
}

// In any time the members get no more slots than the rate allows and half a second besides.
func TestStepNeverSellsMoreThanTheRateAllows(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 17))
			now, state := noon, calm().String()
			sold, allowed, epoch := 0.0, 0.0, uint64(0)
			for range 3000 {
				dt := time.Duration(random.ExpFloat64() * float64(5*time.Millisecond))
				if random.IntN(500) == 0 {
					dt = time.Duration(random.IntN(3000)) * time.Millisecond
				}
				now = now.Add(dt)
				next, reply := checkStep(t, state, now, Ask{
					Epoch: epoch, OK: float64(random.IntN(5)), Bad: float64(random.IntN(200) / 199), Want: random.Float64() * 30,
				})
				require.GreaterOrEqual(t, reply.Epoch, epoch)
				ahead := readState(t, next).ahead
				require.LessOrEqual(t, ahead, 0.5+1/reply.Rate+1e-9)
				sold += float64(reply.Slots) / reply.Rate // in seconds of the rate at the sale
				allowed += min(dt.Seconds(), 1)
				require.LessOrEqual(t, sold, allowed+ahead+1e-6)
				state, epoch = next, reply.Epoch
			}
			require.Greater(t, sold, allowed/2)
		})
	}
}
