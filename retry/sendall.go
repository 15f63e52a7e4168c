package retry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/wire"
)

// Batch has the entries of [SendAll], and says how many of them fit into one call.
type Batch[T any] struct {
	// Entries are sent in this order. SendAll does not change them.
	Entries []T
	// MaxEntries is how many entries a call takes: 25 for BatchWriteItem, 500 for PutRecords. Zero means
	// no such limit.
	MaxEntries int
	// MaxBytes is the largest total Size of the entries of a call. Zero means no such limit. A larger
	// entry fails for good and is not sent.
	MaxBytes int
	// Size returns the size of an entry. A negative one counts as zero. MaxBytes needs Size; otherwise
	// it is not used.
	Size func(entry T) int
}

func (b *Batch[T]) check() error {
	switch {
	case b.MaxEntries < 0:
		return fmt.Errorf("retry: Batch.MaxEntries %d: must not be negative", b.MaxEntries)
	case b.MaxBytes < 0:
		return fmt.Errorf("retry: Batch.MaxBytes %d: must not be negative", b.MaxBytes)
	case b.MaxBytes > 0 && b.Size == nil:
		return errors.New("retry: Batch.MaxBytes needs Size")
	default:
		return nil
	}
}

// next returns how many of the entries from first on fit into a call, or an error if the first fits
// into none.
func (b *Batch[T]) next(first int) (n int, err error) {
	for bytes := 0; first+n < len(b.Entries); n++ {
		if b.MaxEntries > 0 && n == b.MaxEntries {
			break
		}
		if b.MaxBytes > 0 {
			size := max(b.Size(b.Entries[first+n]), 0)
			if size > b.MaxBytes && n == 0 {
				return 1, fmt.Errorf("retry: entry %d has %d bytes, more than the %d of a call", first, size, b.MaxBytes)
			}
			if size > b.MaxBytes-bytes {
				break
			}
			bytes += size
		}
	}
	return n, nil
}

// Sent is what became of one entry of [SendAll].
type Sent[R any] struct {
	// Value is what the service returned for the entry, such as a sequence number.
	Value R
	// Err is why the entry was not written; nil if it was.
	Err error
	// Final means that an entry that was not written must not be sent again: no classifier asks for a
	// retry of Err, or send has set Final beside Err. If false, the entry is left: the strategy gave up on
	// it, or it was never sent.
	Final bool
}

// SendAll sends all entries, and retries those that the service refuses, as far as the strategy allows.
// It is for operations whose successful answer says which entries failed, such as BatchWriteItem,
// PutRecords and SendMessageBatch.
//
// send makes one call with some of the entries. It returns what became of each, in their order, or the
// error of the call as a whole. The classifiers judge errors of entries like errors of calls: an entry
// with a retryable error is sent again, alone or with others of its call, and an entry with any other
// error has failed for good. Use [Mark] for an entry whose answer has no code.
//
// Each call is an operation like one of [Do], with its own delays, cost and, in adaptive mode, send
// token. Calls are made one after the other. If several entries of an attempt failed, a throttle among
// them decides about the retry. [Operation.MaxElapsed] and [Operation.NotAfter] limit all calls
// together.
//
// The attempts that the strategy or [Operation.MaxAttempts] allows are those of an entry. An attempt
// that throttles an entry and writes another does not count for it, and neither does the next one if it
// throttles all: the service makes progress, and the entry waits for its turn. In adaptive mode the backoff then starts again. It is the shorter one of
// failures other than throttles, unless an attempt of the scope waits for a send token. In standard mode
// it lies between those two, by the square of the share that was throttled. If one attempt is allowed,
// nothing is sent again.
//
// SendAll goes on after a call whose entries failed for good, and after one that the strategy gave up if
// it wrote some entries. It ends when the strategy gives up a call that wrote none, when send returns an
// error that is not retryable, such as AccessDenied, or when ctx ends.
//
// The context of send comes from [Once], so that loops inside make one attempt. If send uses a client
// that takes send tokens itself, such as one of awssdk, set [Operation.Unpaced] so that a call takes
// one token, not two.
//
// The result says what became of each entry, in their order, even with an error. The error is nil if
// all entries were written. Otherwise it says how many were not, and wraps the error that ended
// SendAll, or the first error of an entry if nothing ended it early. There is no result for a Batch that
// is out of range, a nil send, or a strategy that cannot be used. A panic of send or of Size passes
// through after the strategy has been told.
//
// Several goroutines may call SendAll at once with the same strategy.
func SendAll[T, R any](
	ctx context.Context, s Strategy, op Operation, batch Batch[T],
	send func(ctx context.Context, entries []T) ([]Sent[R], error),
) ([]Sent[R], error) {
	if send == nil {
		return nil, errors.New("retry: SendAll needs a function")
	}
	if err := cmp.Or(checkNil(s), op.check(), batch.check()); err != nil {
		return nil, err
	}
	op.endTogether(readingsOf(s))
	all := sending[T, R]{
		strategy: s, op: op, batch: batch, send: send, sent: make([]Sent[R], len(batch.Entries)),
		attempts: max(s.Plan(op).MaxAttempts, 1),
	}
	for first := 0; first < len(batch.Entries); {
		n, err := batch.next(first)
		if err != nil {
			all.sent[first] = Sent[R]{Err: err, Final: true}
		} else if err = all.call(ctx, first, n); err != nil {
			for i := first + n; i < len(all.sent); i++ {
				all.sent[i].Err = err
			}
			return all.sent, all.failed(err)
		}
		first += n
	}
	return all.sent, all.failed(nil)
}

// sending is the state of SendAll.
type sending[T, R any] struct {
	strategy Strategy
	op       Operation
	batch    Batch[T]
	send     func(ctx context.Context, entries []T) ([]Sent[R], error)
	sent     []Sent[R]
	attempts int            // that an entry may have
	pending  []pendingEntry // of the present call, those that are not done
	wrote    int            // entries of the present call
	early    bool           // whether the last attempt wrote some, after which the next one comes early
}

// pendingEntry is an entry that is not done.
type pendingEntry struct {
	index    int // in the batch
	attempts int // that count for it
}

// again counts an attempt for an entry and reports whether it may have another one.
func (e *pendingEntry) again(most int, v classify.Verdict) bool {
	if e.attempts++; v.MaxAttempts() > 0 {
		most = min(most, v.MaxAttempts())
	}
	return e.attempts < most
}

// call sends n entries from first on, and retries some. It returns the error that ends SendAll, or nil
// to go on.
func (s *sending[T, R]) call(ctx context.Context, first, n int) error {
	s.pending, s.wrote, s.early = s.pending[:0], 0, false
	for i := range n {
		s.pending = append(s.pending, pendingEntry{index: first + i})
	}
	if s.op.MaxAttempts = s.attempts; s.attempts > 1 {
		s.op.MaxAttempts += min(2*(n-1), math.MaxInt-s.attempts) // each attempt writes an entry, or follows one that did, or counts for all
	}
	l := loop{strategy: s.strategy}
	_, err := run(ctx, &l, &s.op, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.attempt(ctx, &l)
	}, nil)
	if err == nil {
		return nil
	}
	for _, e := range s.pending {
		if s.sent[e.index].Err == nil {
			s.sent[e.index].Err = err
		}
		s.sent[e.index].Final = l.refusal == nil && l.attempts > 0
	}
	if s.wrote > 0 && l.refusal != nil {
		err = nil // the next call may write some too
	}
	return err
}

// attempt sends the entries that are not done. It returns the failure for which some must be sent again,
// or that has used up the attempts of the last ones.
func (s *sending[T, R]) attempt(ctx context.Context, l *loop) error {
	entries := make([]T, len(s.pending))
	for n, e := range s.pending {
		entries[n] = s.batch.Entries[e.index]
	}
	got, err := s.send(Once(ctx), entries)
	if err == nil && len(got) != len(entries) {
		err = Permanent(fmt.Errorf("retry: send returned %d results for %d entries", len(got), len(entries)))
	}
	if err != nil {
		return s.refused(err, l.attempts)
	}
	progress := slices.ContainsFunc(got, func(one Sent[R]) bool { return one.Err == nil })
	var failure, last error // of an entry that is sent again, and of one that is not
	var of wire.EntryError  // the same as failure, for its counts
	var kind, lastVerdict classify.Verdict
	again, throttles := s.pending[:0], 0
	for n, e := range s.pending {
		one := got[n]
		if one.Err == nil {
			s.sent[e.index] = Sent[R]{Value: one.Value}
			s.wrote++
			continue
		}
		failed := wire.EntryError{Err: one.Err}
		verdict := s.strategy.Judge(s.op, failed)
		final := one.Final || !verdict.Retryable()
		s.sent[e.index] = Sent[R]{Value: one.Value, Err: unmarked(one.Err), Final: final}
		throttled := verdict.Kind() == classify.Throttling
		if throttled {
			throttles++
		}
		switch {
		case final:
		case throttled && (progress || s.early) || e.again(s.attempts, verdict):
			again = append(again, e)
			if failure == nil || throttled && kind.Kind() != classify.Throttling {
				failure, of, kind = failed, failed, verdict
			}
		default:
			last, lastVerdict = failed, verdict
		}
	}
	s.pending, s.early = again, progress
	l.result = Result{Throttled: throttles, Entries: len(entries)}
	switch {
	case failure != nil && progress:
		of.Throttled, of.Entries = throttles, len(entries)
		return of
	case failure == nil && last != nil:
		return exhausted(last, lastVerdict, l.attempts)
	default:
		return failure
	}
}

// refused ends an attempt that has failed as a whole.
func (s *sending[T, R]) refused(failure error, number int) error {
	verdict := s.strategy.Judge(s.op, failure)
	again := s.pending[:0]
	for _, e := range s.pending {
		s.sent[e.index] = Sent[R]{Err: unmarked(failure)}
		if e.again(s.attempts, verdict) || !verdict.Retryable() {
			again = append(again, e)
		}
	}
	if s.pending = again; len(again) == 0 {
		return exhausted(failure, verdict, number)
	}
	return failure
}

// exhausted returns a failure after which no attempt follows the one of that number.
func exhausted(failure error, v classify.Verdict, number int) error {
	return &classify.JudgedError{Verdict: v.AtMost(number), Err: failure}
}

// failed returns the error of SendAll after it ended with err; nil if all entries were written.
func (s *sending[T, R]) failed(err error) error {
	left, final := 0, 0
	for i := range s.sent {
		switch one := &s.sent[i]; {
		case one.Err == nil:
			continue
		case one.Final:
			final++
		default:
			left++
		}
		if err == nil {
			err = s.sent[i].Err
		}
	}
	if left+final == 0 {
		return nil
	}
	return fmt.Errorf("retry: of %d entries %d failed for good and %d are left: %w", len(s.sent), final, left, err)
}
