package errtree_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/errtree"
)

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
				require.Equal(t, where == "before another", errtree.Is(err, io.EOF), where)
				_, ok := errtree.As[number](err)
				require.False(t, ok, where)
				_, ok = errtree.As[*fielded](err)
				require.False(t, ok, where)
				_, ok = errtree.As[*net.OpError](err)
				require.False(t, ok, where)
				require.NotEmpty(t, errtree.Text(odd))
			}
			require.NoError(t, errtree.Unwrap(odd))
		})
	}
	require.Equal(t, "<nil>", errtree.Text((*fielded)(nil)))
	require.Equal(t, "EOF", errtree.Text(io.EOF))
	require.Equal(t, io.EOF, errtree.Unwrap(&fielded{inner: io.EOF}))
}

func TestErrorsThatCannotBeComparedAreNotEqual(t *testing.T) {
	t.Parallel()
	for _, odd := range []error{list{io.EOF}, cause{[]int{1}}, cause{cause{[]int{1}}}} {
		require.False(t, errtree.Is(odd, odd))
		require.False(t, errtree.Is(fmt.Errorf("wrap: %w", odd), odd))
		require.True(t, errtree.Is(errors.Join(odd, io.EOF), io.EOF))
	}
	require.True(t, errtree.Is(cause{1}, cause{1}))
	require.False(t, errtree.Is(cause{[]int{1}}, cause{1}))
}
