package world

import (
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/lint"
)

// Readers returns the functions that read the two files.
func Readers(src config.Sources) map[string]func(strict bool) error {
	return map[string]func(strict bool) error{
		"resolve": func(strict bool) error {
			_, err := lint.Resolve(config.Query{Sources: src, Strict: strict})
			return err
		},
		"lint": func(strict bool) error {
			_, err := lint.Files(src, strict)
			return err
		},
	}
}
