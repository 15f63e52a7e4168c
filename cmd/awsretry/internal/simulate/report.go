package simulate

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/files"
)

// save writes the report to a file.
func (res *result) save(name string) error {
	report, err := res.page()
	if err != nil {
		return err
	}
	if err := files.Replace(name, report); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	return nil
}

// command returns the command line without the file of the report, which does not affect the
// report.
func (res *result) command() string {
	words := []string{"awsretry"}
	for i := 0; i < len(res.args); i++ {
		switch word := res.args[i]; {
		case word == "-o" || word == "--output":
			i++
		case !strings.HasPrefix(word, "--output=") && (strings.HasPrefix(word, "--") || !strings.HasPrefix(word, "-o")):
			words = append(words, quoted(word))
		}
	}
	return strings.Join(words, " ")
}

// quoted returns a word quoted for a shell.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("-_=.,:/@%+", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
