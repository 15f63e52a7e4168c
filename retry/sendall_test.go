package retry_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
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

// sizeOf reads the size of an entry, which is its text.
func sizeOf(entry string) int {
	size, _ := strconv.Atoi(entry)
	return size
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

// sendAll sends with a strategy of three attempts on a fake clock.
func sendAll(t *testing.T, s *shelf, op retry.Operation, batch retry.Batch[string]) (sent []retry.Sent[string], waits []time.Duration, err error) {
	t.Helper()
	clk := &clock.Fake{}
	strategy, newErr := standard.New(standard.Config{Clock: clk, Random: func() float64 { return 1 }})
	require.NoError(t, newErr)
	clk.Run(func() { sent, err = retry.SendAll(t.Context(), strategy, op, batch, s.put) })
	return sent, clk.Waits(), err
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

func TestOnlyWhatFailedIsSentAgain(t *testing.T) {
	t.Parallel()
	const second = time.Second
	again := []error{errTooFast, errTooFast, errTooFast, errTooFast}
	unavailable := retry.Mark(errors.New("unavailable"), classify.Transient)
	largest := strconv.Itoa(math.MaxInt)
	once := &classify.JudgedError{Verdict: classify.RetryAs(classify.Transient).AtMost(1), Err: errors.New("once")}
	for _, c := range []struct {
		name  string
		shelf shelf
		batch retry.Batch[string]
		op    retry.Operation
		calls []string
		waits []time.Duration
		sent  string
		err   string
	}{
		{name: "nothing", sent: ""},
		{
			name: "all at once", batch: retry.Batch[string]{Entries: []string{"a", "b", "c"}},
			calls: []string{"a b c"}, sent: "A B C",
		},
		{
			name: "by number", batch: retry.Batch[string]{Entries: []string{"a", "b", "c"}, MaxEntries: 2},
			calls: []string{"a b", "c"}, sent: "A B C",
		},
		{
			name: "by size", batch: retry.Batch[string]{Entries: []string{"aa", "bb", "c", "dddd"}, MaxBytes: 4, Size: func(s string) int { return len(s) }},
			calls: []string{"aa bb", "c", "dddd"}, sent: "AA BB C DDDD",
		},
		{
			name: "too large", batch: retry.Batch[string]{Entries: []string{"a", "bbbbb", "c"}, MaxBytes: 4, Size: func(s string) int { return len(s) }},
			calls: []string{"a", "c"}, sent: "A left! C",
			err: "retry: of 3 entries 1 failed for good and 0 are left: retry: entry 1 has 5 bytes, more than the 4 of a call",
		},
		{
			name: "some throttled", batch: retry.Batch[string]{Entries: []string{"a", "b", "c", "d"}, MaxEntries: 3},
			shelf: shelf{errs: map[string][]error{"a": again[:1], "c": again[:2]}},
			calls: []string{"a b c", "a c", "c", "d"}, waits: []time.Duration{second, 2 * second}, sent: "A B C D",
		},
		{
			name: "one invalid", batch: retry.Batch[string]{Entries: []string{"a", "b"}},
			shelf: shelf{errs: map[string][]error{"b": {errInvalid}}},
			calls: []string{"a b"}, sent: "A ValidationException!",
			err: "retry: of 2 entries 1 failed for good and 0 are left: made up",
		},
		{
			name: "one invalid and one throttled", batch: retry.Batch[string]{Entries: []string{"a", "b"}},
			shelf: shelf{errs: map[string][]error{"a": again[:1], "b": {errInvalid}}},
			calls: []string{"a b", "a"}, waits: []time.Duration{second}, sent: "A ValidationException!",
			err: "retry: of 2 entries 1 failed for good and 0 are left: made up",
		},
		{
			name: "throttled too often, others written", batch: retry.Batch[string]{Entries: []string{"a", "b", "c"}, MaxEntries: 2},
			shelf: shelf{errs: map[string][]error{"a": again}},
			calls: []string{"a b", "a", "a", "a", "c"}, waits: []time.Duration{second, 2 * second, 4 * second}, sent: "ThrottlingException B C",
			err: "retry: of 3 entries 0 failed for good and 1 are left: made up",
		},
		{
			name: "throttled too often, none written", batch: retry.Batch[string]{Entries: []string{"a", "b", "c"}, MaxEntries: 1},
			shelf: shelf{errs: map[string][]error{"b": again}},
			calls: []string{"a", "b", "b", "b"}, waits: []time.Duration{second, 2 * second}, sent: "A ThrottlingException ThrottlingException",
			err: "retry: of 3 entries 0 failed for good and 2 are left: retry: client-side: attempts exhausted: last error: made up (3 attempts of 3, 3s)",
		},
		{
			name: "a throttle decides", batch: retry.Batch[string]{Entries: []string{"a", "b", "c"}},
			shelf: shelf{errs: map[string][]error{"a": {unavailable}, "b": again[:1], "c": {unavailable}}},
			calls: []string{"a b c", "a b c"}, waits: []time.Duration{second}, sent: "A B C",
		},
		{
			name: "the call fails", batch: retry.Batch[string]{Entries: []string{"a", "b"}},
			shelf: shelf{whole: []error{unavailable, nil}},
			calls: []string{"a b", "a b"}, waits: []time.Duration{second / 20}, sent: "A B",
		},
		{
			name: "a call fails for good", batch: retry.Batch[string]{Entries: []string{"a", "b", "c"}, MaxEntries: 2},
			shelf: shelf{whole: []error{errInvalid, nil}},
			calls: []string{"a b"}, sent: "ValidationException! ValidationException! ValidationException",
			err: "retry: of 3 entries 2 failed for good and 1 are left: made up",
		},
		{
			name: "a call fails for good after it wrote some", batch: retry.Batch[string]{Entries: []string{"a", "b", "c"}, MaxEntries: 2},
			shelf: shelf{errs: map[string][]error{"b": again}, whole: []error{nil, errInvalid}},
			calls: []string{"a b", "b"}, waits: []time.Duration{second}, sent: "A ValidationException! ValidationException",
			err: "retry: of 3 entries 1 failed for good and 1 are left: made up",
		},
		{
			name: "each attempt writes one", batch: retry.Batch[string]{Entries: []string{"a", "b", "c", "d", "e"}},
			shelf: shelf{errs: map[string][]error{"b": again[:1], "c": again[:2], "d": again[:3], "e": again[:4]}},
			calls: []string{"a b c d e", "b c d e", "c d e", "d e", "e"}, waits: []time.Duration{second, 2 * second, 4 * second, 8 * second}, sent: "A B C D E",
		},
		{
			name: "attempts that write none count, between others that write one", batch: retry.Batch[string]{Entries: []string{"a", "b", "c"}},
			shelf: shelf{errs: map[string][]error{"a": again[:1], "b": again[:3], "c": append(again[:4:4], errTooFast)}},
			calls: []string{"a b c", "a b c", "b c", "b c", "c"}, waits: []time.Duration{second, 2 * second, 4 * second, 8 * second}, sent: "A B ThrottlingException",
			err: "retry: of 3 entries 0 failed for good and 1 are left: made up",
		},
		{
			name: "an entry fails by itself too often, and another waits for its turn", batch: retry.Batch[string]{Entries: []string{"a", "b", "c", "d", "e"}},
			shelf: shelf{errs: map[string][]error{"b": again[:1], "c": again[:2], "d": again[:3], "e": {unavailable, unavailable, unavailable, unavailable}}},
			calls: []string{"a b c d e", "b c d e", "c d e", "d"}, waits: []time.Duration{second, 2 * second, 4 * second}, sent: "A B C D left",
			err: "retry: of 5 entries 0 failed for good and 1 are left: unavailable",
		},
		{
			name: "a limit for one sort of failure", batch: retry.Batch[string]{Entries: []string{"a", "b"}},
			shelf: shelf{errs: map[string][]error{"a": again[:2], "b": {once, once}}},
			calls: []string{"a b", "a", "a"}, waits: []time.Duration{second, 2 * second}, sent: "A left",
			err: "retry: of 2 entries 0 failed for good and 1 are left: once",
		},
		{
			name: "a call fails too often in all", batch: retry.Batch[string]{Entries: []string{"a", "b"}},
			shelf: shelf{errs: map[string][]error{"a": again}, whole: []error{unavailable, nil, unavailable, unavailable}},
			calls: []string{"a b", "a b", "a", "a"}, waits: []time.Duration{second / 20, 2 * second, second / 5}, sent: "left B",
			err: "retry: of 2 entries 0 failed for good and 1 are left: unavailable",
		},
		{
			name: "one attempt allowed", batch: retry.Batch[string]{Entries: []string{"a", "b", "c"}, MaxEntries: 2}, op: retry.Operation{MaxAttempts: 1},
			shelf: shelf{errs: map[string][]error{"a": again[:1], "c": {unavailable}}},
			calls: []string{"a b", "c"}, sent: "ThrottlingException B left",
			err: "retry: of 3 entries 0 failed for good and 2 are left: retry: client-side: attempts exhausted: last error: unavailable (1 attempt of 1)",
		},
		{
			name: "send says that an entry is final", batch: retry.Batch[string]{Entries: []string{"a", "b"}},
			shelf: shelf{errs: map[string][]error{"a": again[:1]}, final: "ab"},
			calls: []string{"a b"}, sent: "ThrottlingException! B",
			err: "retry: of 2 entries 1 failed for good and 0 are left: made up",
		},
		{
			name: "sizes that no number holds together", batch: retry.Batch[string]{Entries: []string{"6", largest, "5", "-" + largest, "-7", "6"}, MaxBytes: 10, Size: sizeOf},
			calls: []string{"6", "5 -" + largest + " -7", "6"}, sent: "6 left! 5 -" + largest + " -7 6",
			err: "retry: of 6 entries 1 failed for good and 0 are left: retry: entry 1 has " + largest + " bytes, more than the 10 of a call",
		},
		{
			name: "no time for a retry", batch: retry.Batch[string]{Entries: []string{"a", "b"}, MaxEntries: 1}, op: retry.Operation{MaxElapsed: second / 2},
			shelf: shelf{errs: map[string][]error{"a": again}},
			calls: []string{"a"}, sent: "ThrottlingException ThrottlingException",
			err: "retry: of 2 entries 0 failed for good and 2 are left: retry: client-side: maximum elapsed time reached: last error: made up (1 attempt, 1s to wait)",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sent, waits, err := sendAll(t, &c.shelf, c.op, c.batch)
			require.Equal(t, c.calls, c.shelf.calls)
			require.Equal(t, c.waits, waits)
			require.Equal(t, c.sent, textOf(sent))
			if c.err == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, c.err)
			}
		})
	}
}

func TestSendAllRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	strategy, err := standard.New(standard.Config{})
	require.NoError(t, err)
	var nothing shelf
	for want, call := range map[string]func() ([]retry.Sent[string], error){
		"retry: Batch.MaxEntries -1: must not be negative": func() ([]retry.Sent[string], error) {
			return retry.SendAll(t.Context(), strategy, retry.Operation{}, retry.Batch[string]{MaxEntries: -1}, nothing.put)
		},
		"retry: Batch.MaxBytes -1: must not be negative": func() ([]retry.Sent[string], error) {
			return retry.SendAll(t.Context(), strategy, retry.Operation{}, retry.Batch[string]{MaxBytes: -1}, nothing.put)
		},
		"retry: Batch.MaxBytes needs Size": func() ([]retry.Sent[string], error) {
			return retry.SendAll(t.Context(), strategy, retry.Operation{}, retry.Batch[string]{MaxBytes: 1}, nothing.put)
		},
		"retry: MaxAttempts -1: must not be negative": func() ([]retry.Sent[string], error) {
			return retry.SendAll(t.Context(), strategy, retry.Operation{MaxAttempts: -1}, retry.Batch[string]{}, nothing.put)
		},
		"retry: SendAll needs a function": func() ([]retry.Sent[string], error) {
			return retry.SendAll[string, string](t.Context(), strategy, retry.Operation{}, retry.Batch[string]{}, nil)
		},
		"retry: no strategy: use what standard.New, adaptive.New or awsretry.Load returns": func() ([]retry.Sent[string], error) {
			return retry.SendAll(t.Context(), nil, retry.Operation{}, retry.Batch[string]{}, nothing.put)
		},
	} {
		sent, err := call()
		require.Nil(t, sent)
		require.EqualError(t, err, want)
	}
}

func TestSendThatReturnsTooFewResultsFailsForGood(t *testing.T) {
	t.Parallel()
	strategy, err := standard.New(standard.Config{})
	require.NoError(t, err)
	batch := retry.Batch[string]{Entries: []string{"a", "b"}}
	sent, err := retry.SendAll(t.Context(), strategy, retry.Operation{}, batch, func(context.Context, []string) ([]retry.Sent[int], error) {
		return make([]retry.Sent[int], 1), nil
	})
	require.EqualError(t, err, "retry: of 2 entries 2 failed for good and 0 are left: retry: send returned 1 results for 2 entries")
	for _, one := range sent {
		require.True(t, one.Final)
	}
}

func TestCanceledSendAllSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	strategy, err := standard.New(standard.Config{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	batch := retry.Batch[int]{Entries: []int{1, 2, 3, 4}, MaxEntries: 2}
	sent, err := retry.SendAll(ctx, strategy, retry.Operation{}, batch, func(ctx context.Context, entries []int) ([]retry.Sent[int], error) {
		attempt, ok := retry.AttemptFrom(ctx)
		require.True(t, ok)
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
}

func TestStrategyHearsOfTheThrottledEntriesOfEachAttemptOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		errs  map[string][]error
		final string
		want  int // throttled entries of the last attempt
	}{
		"none is written after some were throttled": {map[string][]error{"b": {errTooFast, errInvalid}, "c": {errTooFast, errInvalid}}, "", 0},
		"all are throttled for good":                {map[string][]error{"a": {errTooFast}, "b": {errTooFast}, "c": {errTooFast}}, "abc", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clk, r := &clock.Fake{}, &recorder{}
			strategy, err := standard.New(standard.Config{Clock: clk, Observer: r})
			require.NoError(t, err)
			s := &shelf{errs: c.errs, final: c.final}
			clk.Run(func() {
				_, err = retry.SendAll(t.Context(), strategy, retry.Operation{}, retry.Batch[string]{Entries: []string{"a", "b", "c"}}, s.put)
			})
			require.Error(t, err)
			ended := r.of(retry.AttemptEnded)
			require.Len(t, ended, len(s.calls))
			require.Equal(t, c.want, ended[len(ended)-1].EntriesThrottled)
		})
	}
}

func TestPanicOfSendPassesThrough(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	strategy, err := standard.New(standard.Config{Observer: r})
	require.NoError(t, err)
	require.PanicsWithValue(t, "send", func() {
		_, _ = retry.SendAll(t.Context(), strategy, retry.Operation{}, retry.Batch[int]{Entries: []int{1}}, func(context.Context, []int) ([]retry.Sent[int], error) {
			panic("send")
		})
	})
	require.Len(t, r.of(retry.OperationEnded), 1)
}

// Each entry is written once or reported, whatever fails, and never sent after it was written.
func TestEachEntryIsWrittenOnceOrReportedConcurrentSafe(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				strategy, err := adaptive.New(adaptive.Config{})
				require.NoError(t, err)
				const goroutines, each = 8, 100
				var mu sync.Mutex
				random, written := rand.New(rand.NewPCG(seed, 1)), map[int]int{}
				share := float64(seed%5) / 5
				put := func(_ context.Context, entries []int) ([]retry.Sent[int], error) {
					mu.Lock()
					defer mu.Unlock()
					if random.Float64() < share/3 {
						return nil, errTooFast
					}
					sent := make([]retry.Sent[int], len(entries))
					for i, entry := range entries {
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
				var all sync.WaitGroup
				reported := make([]int, goroutines)
				for g := range goroutines {
					all.Go(func() {
						batch := retry.Batch[int]{MaxEntries: 1 + int(seed%13)}
						for i := range each {
							batch.Entries = append(batch.Entries, g*each+i)
						}
						sent, err := retry.SendAll(t.Context(), strategy, retry.Operation{}, batch, put)
						for i, one := range sent {
							if one.Err != nil {
								reported[g]++
							} else if one.Value != 2*batch.Entries[i] {
								t.Errorf("value %d of entry %d", one.Value, batch.Entries[i])
							}
						}
						if (err != nil) != (reported[g] > 0) {
							t.Errorf("%d reported, and the error is %v", reported[g], err)
						}
					})
				}
				all.Wait()
				sum := 0
				for g := range goroutines {
					sum += reported[g]
				}
				for entry, times := range written {
					require.Equal(t, 1, times, "entry %d", entry)
				}
				require.Equal(t, goroutines*each, sum+len(written))
			})
		})
	}
}

// The burst of the service is smaller than a batch, so that it refuses some entries of each full batch at any rate. What
// these wait must not keep few workers from using it.
func TestSendAllUsesTheRateOfAServiceWhoseBurstIsSmallerThanABatch(t *testing.T) {
	t.Parallel()
	const burst, answerTime, length = 20.0, 10 * time.Millisecond, 5 * time.Minute
	for rate, share := range map[float64]float64{20: 0.9, 100: 0.8, 500: 0.8} {
		for _, workers := range []int{1, 2, 4, 16} {
			t.Run(fmt.Sprintf("%v a second, %d workers", rate, workers), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					strategy, err := adaptive.New(adaptive.Config{
						Standard: standard.Config{Random: func() float64 { return 0.5 }, QuotaCapacity: new(1 << 20)},
					})
					require.NoError(t, err)
					ctx, cancel := context.WithCancel(t.Context())
					var mu sync.Mutex
					tokens, last, written, began := burst, time.Now(), 0, time.Now()
					put := func(ctx context.Context, entries []int) ([]retry.Sent[int], error) {
						if err := (clock.System{}).Sleep(ctx, answerTime); err != nil {
							return nil, err
						}
						mu.Lock()
						defer mu.Unlock()
						now := time.Now()
						tokens, last = min(burst, tokens+rate*now.Sub(last).Seconds()), now
						sent := make([]retry.Sent[int], len(entries))
						for i := range sent {
							if tokens < 1 {
								sent[i].Err = errTooFast
								continue
							}
							tokens--
							written++
						}
						return sent, nil
					}
					var all sync.WaitGroup
					for range workers {
						all.Go(func() {
							_, err := retry.SendAll(ctx, strategy, retry.Operation{}, retry.Batch[int]{Entries: make([]int, 200_000), MaxEntries: 25}, put)
							require.ErrorIs(t, err, context.Canceled)
						})
					}
					_ = clock.System{}.Sleep(ctx, length)
					cancel()
					all.Wait()
					require.GreaterOrEqual(t, float64(written), share*rate*time.Since(began).Seconds())
				})
			})
		}
	}
}
