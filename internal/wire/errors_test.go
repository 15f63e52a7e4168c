package wire_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/wire"
)

// list is an error that wraps several and cannot be compared. It says that it is every list of four.
type list []error

func (list) Error() string     { return "list" }
func (l list) Unwrap() []error { return l }
func (list) Is(target error) bool {
	l, ok := target.(list)
	return ok && len(l) == 4
}

// loop is an error that wraps several, perhaps itself.
type loop struct{ inner []error }

func (*loop) Error() string     { return "loop" }
func (l *loop) Unwrap() []error { return l.inner }

// number is an error type of these tests.
type number int

func (n number) Error() string { return strconv.Itoa(int(n)) }

// alias is equal to one error, and can be read as a number.
type alias struct{ to error }

func (alias) Error() string          { return "alias" }
func (a alias) Is(target error) bool { return a.to == target }
func (a alias) As(target any) bool {
	n, ok := target.(*number)
	if ok {
		*n = -1
	}
	return ok
}

type numbered interface {
	error
	Number() int
}

func (n number) Number() int { return int(n) }

// grow returns a random error without a ring.
func grow(random *rand.Rand, depth int) error {
	kind := random.IntN(8)
	if depth == 0 {
		kind = random.IntN(4)
	}
	switch kind {
	case 0:
		return number(random.IntN(3))
	case 1:
		return alias{[]error{io.EOF, nil}[random.IntN(2)]}
	case 2:
		return io.EOF
	case 3:
		return errors.New("plain")
	case 4, 5:
		return fmt.Errorf("wrap: %w", grow(random, depth-1))
	case 6:
		return list{grow(random, depth-1), nil, grow(random, depth-1)}
	default:
		return errors.Join(grow(random, depth-1), grow(random, depth-1))
	}
}

func TestFindsWhatTheStandardLibraryFinds(t *testing.T) {
	t.Parallel()
	found := 0
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1))
		err := grow(random, 5)
		for _, target := range []error{io.EOF, io.ErrUnexpectedEOF, number(1), alias{io.EOF}, list{io.EOF}, make(list, 4), err, nil} {
			require.Equal(t, errors.Is(err, target), wire.Is(err, target), "seed %d, target %v", seed, target)
		}
		requireSame[number](t, err)
		requireSame[numbered](t, err)
		requireSame[alias](t, err)
		requireSame[list](t, err)
		if wire.Is(err, number(1)) {
			found++
		}
	}
	require.Positive(t, found)
	require.True(t, wire.Is(nil, nil))
	require.False(t, wire.Is(nil, io.EOF))
	requireSame[number](t, nil)
}

func requireSame[T error](t *testing.T, err error) {
	t.Helper()
	want, wantOK := errors.AsType[T](err)
	got, ok := wire.As[T](err)
	require.Equal(t, wantOK, ok)
	require.Equal(t, want, got)
}

func TestLooksAtNoMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	self := &loop{}
	self.inner = []error{self, nil, self}
	looked := 0
	require.False(t, wire.Find(self, func(error) bool { looked++; return false }))
	require.Positive(t, looked)
	require.LessOrEqual(t, looked, wire.MaxErrors)
	require.False(t, wire.Is(self, io.EOF))

	for name, after := range map[string]func(n int) error{
		"errors that wrap one": func(n int) (err error) {
			for err = number(7); n > 0; n-- {
				err = fmt.Errorf("wrap: %w", err)
			}
			return err
		},
		"errors that wrap several": func(n int) (err error) {
			for err = number(7); n > 0; n-- {
				err = &loop{[]error{err}}
			}
			return err
		},
		"nils": func(n int) error { return &loop{append(make([]error, n-1), number(7))} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, before := range []int{wire.MaxErrors - 1, wire.MaxErrors} {
				require.Equal(t, before < wire.MaxErrors, wire.Is(after(before), number(7)))
				_, ok := wire.As[number](after(before))
				require.Equal(t, before < wire.MaxErrors, ok)
			}
		})
	}
}

func TestPartsOfAWalkShareTheLimit(t *testing.T) {
	t.Parallel()
	left, looked := 3, 0
	look := func(error) bool { looked++; return false }
	require.False(t, wire.FindWithin(&left, io.EOF, look))
	require.Equal(t, []int{2, 1}, []int{left, looked})
	require.False(t, wire.FindWithin(&left, errors.Join(io.EOF, io.EOF, io.EOF), look))
	require.Equal(t, []int{0, 3}, []int{left, looked})
}

// TestLooksAllocateNothing runs alone: other tests allocate too.
func TestLooksAllocateNothing(t *testing.T) {
	err := fmt.Errorf("wrap: %w", list{io.EOF, number(1)})
	require.Zero(t, testing.AllocsPerRun(100, func() {
		wire.Is(err, io.ErrUnexpectedEOF)
		_, _ = wire.As[alias](err)
	}))
}

// fielded is an error whose methods read a field, so that those of a nil pointer panic.
type fielded struct {
	name  string
	inner error
}

func (n *fielded) Error() string        { return n.name }
func (n *fielded) Unwrap() error        { return n.inner }
func (n *fielded) Is(target error) bool { return n.inner == target }
func (n *fielded) As(any) bool          { return n.name == "" }

// rude is an error that panics when it is asked anything.
type rude struct{}

func (rude) Error() string   { panic("text") }
func (rude) Is(error) bool   { panic("is") }
func (rude) As(any) bool     { panic("as") }
func (rude) Unwrap() []error { panic("unwrap") }

// cause can be compared only if what it holds can.
type cause struct{ of any }

func (cause) Error() string { return "cause" }

func TestErrorsThatPanicHaveNothingToSay(t *testing.T) {
	t.Parallel()
	for name, odd := range map[string]error{
		"nil pointer":                          (*fielded)(nil),
		"nil pointer of the net package":       (*net.OpError)(nil),
		"nil pointer that wraps several":       (*loop)(nil),
		"panic":                                rude{},
		"no error in a struct that embeds one": struct{ error }{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for where, err := range map[string]error{
				"alone": odd, "wrapped": fmt.Errorf("wrap: %w", odd), "before another": errors.Join(odd, io.EOF),
			} {
				require.Equal(t, where == "before another", wire.Is(err, io.EOF), where)
				_, ok := wire.As[number](err)
				require.False(t, ok, where)
				_, ok = wire.As[*fielded](err)
				require.False(t, ok, where)
				_, ok = wire.As[*net.OpError](err)
				require.False(t, ok, where)
				require.NotEmpty(t, wire.Text(odd))
			}
			require.NoError(t, wire.Unwrap(odd))
		})
	}
	require.Equal(t, "<nil>", wire.Text((*fielded)(nil)))
	require.Equal(t, "EOF", wire.Text(io.EOF))
	require.Equal(t, io.EOF, wire.Unwrap(&fielded{inner: io.EOF}))
}

func TestErrorsThatCannotBeComparedAreNotEqual(t *testing.T) {
	t.Parallel()
	for _, odd := range []error{list{io.EOF}, cause{[]int{1}}, cause{cause{[]int{1}}}} {
		require.False(t, wire.Is(odd, odd))
		require.False(t, wire.Is(fmt.Errorf("wrap: %w", odd), odd))
		require.True(t, wire.Is(errors.Join(odd, io.EOF), io.EOF))
	}
	require.True(t, wire.Is(cause{1}, cause{1}))
	require.False(t, wire.Is(cause{[]int{1}}, cause{1}))
}

func TestJoinedErrorIsBothAndEitherMayBeNil(t *testing.T) {
	t.Parallel()
	first, second := errors.New("first"), errors.New("second")
	require.EqualError(t, wire.Join(first, second), "first: second")
	require.ErrorIs(t, wire.Join(first, second), first)
	require.ErrorIs(t, wire.Join(first, second), second)
	require.Equal(t, first, wire.Join(first, nil))
	require.Equal(t, second, wire.Join(nil, second))
	require.NoError(t, wire.Join(nil, nil))
}
