//go:build !unix

package sharedfile

import "os"

func openRegular(name string) (*os.File, error) { return os.Open(name) }
