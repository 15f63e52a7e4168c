//go:build !unix

package config

import "os"

func openRegular(name string) (*os.File, error) { return os.Open(name) }
