package retry_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

var (
	errTooFast = codeError("ThrottlingException")
	errInvalid = codeError("ValidationException")
)

// shelf is a service that keeps entries. It answers each entry with the next of its errors.
type shelf struct {
	errs  map[string][]error
	calls []string
	whole []error // of the next calls
	final string  // letters of entries with Final
}

// sizeOf is the number that an entry is, or else its length.
func sizeOf(entry string) int {
	if size, err := strconv.Atoi(entry); err == nil {
		return size
	}
	return len(entry)
}

func (s *shelf) put(_ context.Context, entries []string) (sent []retry.Sent[string], err error) {
	s.calls = append(s.calls, strings.Join(entries, " "))
	if len(s.whole) > 0 {
		err, s.whole = s.whole[0], s.whole[1:]
		if err != nil {
			return nil, err
		}
	}
	for _, entry := range entries {
		one := retry.Sent[string]{Value: strings.ToUpper(entry), Final: strings.Contains(s.final, entry)}
		if errs := s.errs[entry]; len(errs) > 0 {
			one.Err, s.errs[entry] = errs[0], errs[1:]
		}
		sent = append(sent, one)
	}
	return sent, nil
}

// textOf is what became of entries, one word each: the value, or the code, with an exclamation mark
// if it is final.
func textOf(sent []retry.Sent[string]) string {
	var words []string
	for _, one := range sent {
		word := one.Value
		if one.Err != nil {
			word = "left"
			if coded, ok := errors.AsType[codeError](one.Err); ok {
				word = coded.ErrorCode()
			}
		}
		if one.Final {
			word += "!"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// lefts are the longest delays after attempts that throttled so many of so many entries.
func lefts(counts ...float64) (delays []time.Duration) {
	for n := 0; n < len(counts); n += 2 {
		share := counts[n] / counts[n+1]
		base := 50*time.Millisecond + time.Duration(float64(950*time.Millisecond)*share*share)
		delays = append(delays, min(base<<(n/2), 20*time.Second))
	}
	return delays
}

func TestOnlyWhatFailedIsSentAgain(t *testing.T) {
	t.Parallel()
	const second = time.Second
	type errs = map[string][]error
	again := repeated(errTooFast, 9)
	unavailable := retry.Mark(errors.New("unavailable"), classify.Transient)
	largest := strconv.Itoa(math.MaxInt)
	once := &classify.JudgedError{Verdict: classify.RetryAs(classify.Transient).AtMost(1), Err: errors.New("once")}
	for _, c := range []struct {
		name    string
		entries string // each a word
		max     int    // entries of a call
		bytes   int    // of a call, where entries have their length, or that which they say
		errs    errs
		whole   []error
		final   string
		op      retry.Operation
		calls   string // in order, with commas
		waits   []time.Duration
		sent    string
		err     string // after the numbers of entries
	}{
		{name: "nothing"},
		{name: "all at once", entries: "a b c", calls: "a b c", sent: "A B C"},
		{name: "by number", entries: "a b c", max: 2, calls: "a b,c", sent: "A B C"},
		{name: "by size", entries: "aa bb c dddd", bytes: 4, calls: "aa bb,c,dddd", sent: "AA BB C DDDD"},
		{
			name: "too large", entries: "a bbbbb c", bytes: 4, calls: "a,c", sent: "A left! C",
			err: "1 0: retry: entry 1 has 5 bytes, more than the 4 of a call",
		},
		{
			name: "some throttled", entries: "a b c d", max: 3, errs: errs{"a": again[:1], "c": again[:2]},
			calls: "a b c,a c,c,d", waits: lefts(2, 3, 1, 2), sent: "A B C D",
		},
		{
			name: "one invalid and one throttled", entries: "a b", errs: errs{"a": again[:1], "b": {errInvalid}},
			calls: "a b,a", waits: seconds(1), sent: "A ValidationException!", err: "1 0: made up",
		},
		{
			name: "throttled too often, others written", entries: "a b c", max: 2, errs: errs{"a": again},
			calls: "a b,a,a,a,a,c", waits: lefts(1, 2, 1, 1, 1, 1, 1, 1), sent: "ThrottlingException B C", err: "0 1: made up",
		},
		{
			name: "throttled too often, none written", entries: "a b c", max: 1, errs: errs{"b": again}, calls: "a,b,b,b",
			waits: seconds(1, 2), sent: "A ThrottlingException ThrottlingException",
			err: "0 2: retry: client-side: attempts exhausted: last error: made up (3 attempts of 3, 3s)",
		},
		{
			name: "a throttle decides", entries: "a b c",
			errs: errs{"a": {unavailable}, "b": again[:1], "c": {unavailable}}, calls: "a b c,a b c", waits: seconds(1),
			sent: "A B C",
		},
		{
			name: "the call fails", entries: "a b", whole: []error{unavailable, nil}, calls: "a b,a b",
			waits: []time.Duration{second / 20}, sent: "A B",
		},
		{
			name: "a call fails for good", entries: "a b c", max: 2, whole: []error{errInvalid}, calls: "a b",
			sent: "ValidationException! ValidationException! ValidationException", err: "2 1: made up",
		},
		{
			name: "a call fails for good after it wrote some", entries: "a b c", max: 2, errs: errs{"b": again},
			whole: []error{nil, errInvalid}, calls: "a b,b", waits: lefts(1, 2),
			sent: "A ValidationException! ValidationException", err: "1 1: made up",
		},
		{
			name: "each attempt writes one", entries: "a b c d e",
			errs:  errs{"b": again[:1], "c": again[:2], "d": again[:3], "e": again[:4]},
			calls: "a b c d e,b c d e,c d e,d e,e", waits: lefts(4, 5, 3, 4, 2, 3, 1, 2), sent: "A B C D E",
		},
		{
			name: "attempts that write none count, between others that write one", entries: "a b c",
			errs: errs{"a": again[:1], "b": again[:3], "c": again}, calls: "a b c,a b c,b c,b c,c,c,c",
			waits: lefts(3, 3, 2, 3, 2, 2, 1, 2, 1, 1, 1, 1), sent: "A B ThrottlingException", err: "0 1: made up",
		},
		{
			name: "an entry fails by itself too often, and another waits for its turn", entries: "a b c d e",
			errs:  errs{"b": again[:1], "c": again[:2], "d": again[:3], "e": repeated(unavailable, 4)},
			calls: "a b c d e,b c d e,c d e,d", waits: lefts(3, 5, 2, 4, 1, 3), sent: "A B C D left", err: "0 1: unavailable",
		},
		{
			name: "a limit for one sort of failure", entries: "a b", errs: errs{"a": again[:2], "b": {once, once}},
			calls: "a b,a,a", waits: seconds(1, 2), sent: "A left", err: "0 1: once",
		},
		{
			name: "a call fails too often in all", entries: "a b", errs: errs{"a": again},
			whole: []error{unavailable, nil, unavailable, unavailable}, calls: "a b,a b,a,a",
			waits: []time.Duration{second / 20, 575 * time.Millisecond, second / 5}, sent: "left B", err: "0 1: unavailable",
		},
		{
			name: "one attempt allowed", entries: "a b c", max: 2, op: retry.Operation{MaxAttempts: 1},
			errs: errs{"a": again[:1], "c": {unavailable}}, calls: "a b,c", sent: "ThrottlingException B left",
			err: "0 2: retry: client-side: attempts exhausted: last error: unavailable (1 attempt of 1)",
		},
		{
			name: "send says that an entry is final", entries: "a b", errs: errs{"a": again[:1]}, final: "ab",
			calls: "a b", sent: "ThrottlingException! B", err: "1 0: made up",
		},
		{
			name: "sizes that no number holds together", entries: "6 " + largest + " 5 -" + largest + " -7 6", bytes: 10,
			calls: "6,5 -" + largest + " -7,6", sent: "6 left! 5 -" + largest + " -7 6",
			err: "1 0: retry: entry 1 has " + largest + " bytes, more than the 10 of a call",
		},
		{
			name: "no time for a retry", entries: "a b", max: 1, op: retry.Operation{MaxElapsed: second / 2},
			errs: errs{"a": again}, calls: "a", sent: "ThrottlingException ThrottlingException",
			err: "0 2: retry: client-side: maximum elapsed time reached: last error: made up (1 attempt, 1s to wait)",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			shelf := shelf{errs: c.errs, whole: c.whole, final: c.final}
			batch := retry.Batch[string]{Entries: strings.Fields(c.entries), MaxEntries: c.max, MaxBytes: c.bytes, Size: sizeOf}
			w := newWorld(t, "standard", func(config *standard.Config) { config.Base = 0 })
			var sent []retry.Sent[string]
			var err error
			w.clk.Run(func() { sent, err = retry.SendAll(t.Context(), w, c.op, batch, shelf.put) })
			require.Equal(t, c.calls, strings.Join(shelf.calls, ","))
			require.Equal(t, c.waits, w.clk.Waits())
			require.Equal(t, c.sent, textOf(sent))
			if c.err == "" {
				require.NoError(t, err)
				return
			}
			want := fmt.Sprintf("retry: of %d entries %c failed for good and %c are left%s", len(sent), c.err[0], c.err[2], c.err[3:])
			require.EqualError(t, err, want)
		})
	}
}

func TestBackoffBeginsAnewAfterAnAttemptThatWroteSomeInAdaptiveMode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "adaptive", func(config *standard.Config) { config.Base = 0 })
	shelf := shelf{errs: map[string][]error{"b": repeated(errTooFast, 1), "c": repeated(errTooFast, 2)}}
	batch := retry.Batch[string]{Entries: []string{"a", "b", "c"}}
	w.clk.Run(func() {
		_, err := retry.SendAll(t.Context(), w, retry.Operation{}, batch, shelf.put)
		require.NoError(t, err)
	})
	var delays []time.Duration
	for _, e := range w.Of(retry.RetryScheduled) {
		delays = append(delays, e.Delay)
	}
	require.Equal(t, []time.Duration{50 * time.Millisecond, 50 * time.Millisecond}, delays)
}

func TestSendAllRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "standard", nil)
	nothing := func(context.Context, []string) ([]retry.Sent[int], error) { return nil, nil }
	type batch = retry.Batch[string]
	for want, c := range map[string]struct {
		strategy retry.Strategy
		op       retry.Operation
		batch    batch
		send     func(context.Context, []string) ([]retry.Sent[int], error)
	}{
		"Batch.MaxEntries -1: must not be negative":                                 {w, retry.Operation{}, batch{MaxEntries: -1}, nothing},
		"Batch.MaxBytes -1: must not be negative":                                   {w, retry.Operation{}, batch{MaxBytes: -1}, nothing},
		"Batch.MaxBytes needs Size":                                                 {w, retry.Operation{}, batch{MaxBytes: 1}, nothing},
		"MaxAttempts -1: must not be negative":                                      {w, retry.Operation{MaxAttempts: -1}, batch{}, nothing},
		"SendAll needs a function":                                                  {strategy: w},
		"no strategy: use what standard.New, adaptive.New or awsretry.Load returns": {send: nothing},
	} {
		sent, err := retry.SendAll(t.Context(), c.strategy, c.op, c.batch, c.send)
		require.Nil(t, sent)
		require.EqualError(t, err, "retry: "+want)
	}
	two := batch{Entries: []string{"a", "b"}}
	sent, err := retry.SendAll(t.Context(), w, retry.Operation{}, two, func(context.Context, []string) ([]retry.Sent[int], error) {
		return make([]retry.Sent[int], 1), nil
	})
	require.EqualError(t, err, "retry: of 2 entries 2 failed for good and 0 are left: retry: send returned 1 results for 2 entries")
	require.True(t, sent[0].Final && sent[1].Final)
}

func TestCanceledSendAllSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "standard", nil)
	ctx, cancel := context.WithCancel(t.Context())
	batch := retry.Batch[int]{Entries: []int{1, 2, 3, 4}, MaxEntries: 2}
	sent, err := retry.SendAll(ctx, w, retry.Operation{}, batch, func(ctx context.Context, entries []int) ([]retry.Sent[int], error) {
		attempt, _ := retry.AttemptFrom(ctx)
		require.True(t, attempt.Once)
		cancel()
		return make([]retry.Sent[int], len(entries)), nil
	})
	require.ErrorIs(t, err, retry.ErrCanceled)
	require.ErrorIs(t, err, context.Canceled)
	for i, one := range sent {
		require.Equal(t, i >= 2, one.Err != nil)
		require.False(t, one.Final)
	}
	w = newWorld(t, "standard", nil)
	require.PanicsWithValue(t, "send", func() {
		_, _ = retry.SendAll(t.Context(), w, retry.Operation{}, batch, func(context.Context, []int) ([]retry.Sent[int], error) { panic("send") })
	})
	require.Len(t, w.Of(retry.OperationEnded), 1)
}

func TestStrategyHearsOfTheThrottledEntriesOfEachAttemptOnce(t *testing.T) {
	t.Parallel()
	second := []error{errTooFast, errInvalid}
	for name, c := range map[string]struct {
		shelf shelf
		want  int // throttled entries of the last attempt
	}{
		"none is written after some were throttled": {shelf{errs: map[string][]error{"b": second, "c": second}}, 0},
		"all are throttled for good": {
			shelf{errs: map[string][]error{"a": {errTooFast}, "b": {errTooFast}, "c": {errTooFast}}, final: "abc"}, 3,
		},
	} {
		w := newWorld(t, "standard", nil)
		batch := retry.Batch[string]{Entries: []string{"a", "b", "c"}}
		w.clk.Run(func() {
			_, err := retry.SendAll(t.Context(), w, retry.Operation{}, batch, c.shelf.put)
			require.Error(t, err)
		})
		ended := w.Of(retry.AttemptEnded)
		require.Len(t, ended, len(c.shelf.calls))
		require.Equal(t, c.want, ended[len(ended)-1].EntriesThrottled, name)
	}
}

// Each entry is written once or reported, whatever fails, and never sent after it was written.
func TestEachEntryIsWrittenOnceOrReported(t *testing.T) {
	t.Parallel()
	const entries = 800
	for seed := range uint64(20) {
		random, written := rand.New(rand.NewPCG(seed, 1)), map[int]int{}
		share := float64(seed%5) / 5
		put := func(_ context.Context, some []int) ([]retry.Sent[int], error) {
			if random.Float64() < share/3 {
				return nil, errTooFast
			}
			sent := make([]retry.Sent[int], len(some))
			for i, entry := range some {
				switch p := random.Float64(); {
				case p < share/4:
					sent[i].Err = errInvalid
				case p < share:
					sent[i].Err = errTooFast
				default:
					sent[i].Value = 2 * entry
					written[entry]++
				}
			}
			return sent, nil
		}
		w := newWorld(t, "adaptive", nil)
		batch := retry.Batch[int]{MaxEntries: 1 + int(seed%13)}
		for i := range entries {
			batch.Entries = append(batch.Entries, i)
		}
		w.clk.Run(func() {
			sent, err := retry.SendAll(t.Context(), w, retry.Operation{}, batch, put)
			for entry, one := range sent {
				require.Equal(t, one.Err == nil, written[entry] == 1, "seed %d", seed)
				require.True(t, one.Err != nil || one.Value == 2*entry)
			}
			require.Equal(t, len(written) < entries, err != nil)
		})
	}
}
