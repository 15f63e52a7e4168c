// Package body tells how the bodies of a request and of its response are getting on.
package body

import "io"

// Sent is a request body that calls Moved before and after each Read. It hides a WriteTo of the body.
type Sent struct {
	io.Reader

	Moved func()
}

func (s Sent) Read(p []byte) (int, error) {
	s.Moved()
	defer s.Moved()
	return s.Reader.Read(p)
}

// Received is a response body that calls Done at its end, and when it is closed.
type Received struct {
	io.ReadCloser

	Done func()
}

func (r Received) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil {
		r.Done()
	}
	return n, err
}

// Close closes the body.
func (r Received) Close() error {
	defer r.Done()
	return r.ReadCloser.Close()
}
