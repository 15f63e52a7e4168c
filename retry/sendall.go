package retry

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/awsretry/awsretry/classify"
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
	// Size returns the size of an entry. MaxBytes needs it; otherwise it is not used.
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
			size := b.Size(b.Entries[first+n])
			if size > b.MaxBytes && n == 0 {
				return 1, fmt.Errorf("retry: entry %d has %d bytes, more than the %d of a call", first, size, b.MaxBytes)
			}
			if bytes += size; bytes > b.MaxBytes {
				break
			}
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
	// retry of Err. If false, the entry is left: the strategy gave up on it, or it was never sent.
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
// Each call is an operation like one of [Do], with its own attempts, delays, cost and, in adaptive
// mode, send token. Calls are made one after the other. If several entries of an attempt failed, a
// throttle among them decides about the retry. [Operation.MaxElapsed] and [Operation.NotAfter] limit
// all calls together. SendAll goes on after a call whose entries failed for good, and after one that
// the strategy gave up if it wrote some entries. It ends when the strategy gives up a call that wrote
// none, or when ctx ends.
//
// The context of send comes from [Once], so that loops inside make one attempt. If send uses a client
// that takes send tokens itself, such as one of awssdk, set [Operation.Unpaced] so that a call takes
// one token, not two.
//
// The result says what became of each entry, in their order, even with an error. The error is nil if
// all entries were written. Otherwise it says how many were not, and wraps the error that ended
// SendAll, or the first error of an entry. There is no result for a Batch that is out of range, a nil
// send, or a strategy that cannot be used. A panic of send or of Size passes through after the strategy
// has been told.
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
	all := sending[T, R]{strategy: s, op: op, batch: batch, send: send, sent: make([]Sent[R], len(batch.Entries))}
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
	pending  []int // of the present call, the entries that are not done
	wrote    int   // entries of the present call
}

// call sends n entries from first on, and retries some. It returns the error that ends SendAll, or nil
// to go on.
func (s *sending[T, R]) call(ctx context.Context, first, n int) error {
	s.pending, s.wrote = s.pending[:0], 0
	for i := range n {
		s.pending = append(s.pending, first+i)
	}
	l := loop{strategy: s.strategy}
	_, err := run(ctx, &l, &s.op, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.attempt(ctx)
	}, nil)
	if err == nil {
		return nil
	}
	for _, i := range s.pending {
		if s.sent[i].Err == nil {
			s.sent[i].Err = err
		}
		s.sent[i].Final = l.refusal == nil && l.attempts > 0
	}
	if s.wrote > 0 || l.refusal == nil && l.attempts > 0 {
		return nil
	}
	return err
}

// attempt sends the entries that are not done. It returns the failure for which some must be sent
// again.
func (s *sending[T, R]) attempt(ctx context.Context) (failure error) {
	entries := make([]T, len(s.pending))
	for n, i := range s.pending {
		entries[n] = s.batch.Entries[i]
	}
	got, err := s.send(Once(ctx), entries)
	if err == nil && len(got) != len(entries) {
		err = Permanent(fmt.Errorf("retry: send returned %d results for %d entries", len(got), len(entries)))
	}
	if err != nil {
		for _, i := range s.pending {
			s.sent[i] = Sent[R]{Err: unmarked(err)}
		}
		return err
	}
	again, throttled := s.pending[:0], false
	for n, i := range s.pending {
		one := got[n]
		verdict := classify.Verdict{}
		if one.Err != nil {
			verdict = s.strategy.Judge(s.op, one.Err)
		}
		s.sent[i] = Sent[R]{Value: one.Value, Err: unmarked(one.Err), Final: one.Err != nil && !verdict.Retryable()}
		switch {
		case one.Err == nil:
			s.wrote++
		case !verdict.Retryable():
		default:
			again = append(again, i)
			if failure == nil || verdict.Kind() == classify.Throttling && !throttled {
				failure, throttled = one.Err, verdict.Kind() == classify.Throttling
			}
		}
	}
	s.pending = again
	return failure
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
