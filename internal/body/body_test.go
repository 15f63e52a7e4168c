package body_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/body"
)

func TestSentMovesBeforeAndAfterEachRead(t *testing.T) {
	t.Parallel()
	var moved int
	var from io.Reader = body.Sent{Reader: strings.NewReader("ab"), Moved: func() { moved++ }}
	_, writesItself := from.(io.WriterTo)
	require.False(t, writesItself, "strings.Reader does")
	for i, want := range []error{nil, nil, io.EOF} {
		_, err := from.Read(make([]byte, 1))
		require.Equal(t, want, err)
		require.Equal(t, 2*(i+1), moved)
	}
}

func TestReceivedIsDoneAtItsEndAndWhenItIsClosed(t *testing.T) {
	t.Parallel()
	var done int
	errClosed := errors.New("closed")
	b := body.Received{ReadCloser: closer{strings.NewReader("a"), errClosed}, Done: func() { done++ }}
	for i, want := range []error{nil, io.EOF} {
		_, err := b.Read(make([]byte, 1))
		require.Equal(t, want, err)
		require.Equal(t, i, done)
	}
	require.Equal(t, errClosed, b.Close())
	require.Equal(t, 2, done)
}

type closer struct {
	io.Reader
	err error
}

func (c closer) Close() error { return c.err }
