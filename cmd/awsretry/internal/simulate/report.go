package simulate

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"
)

// save writes the report to a file.
func (res *result) save(name string) error {
	report, err := res.page()
	if err != nil {
		return err
	}
	if err := replace(name, report); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	return nil
}

// replace writes a file. On a full disk an older file stays as it is: the new one is made beside it, and takes its place
// when it is complete. A pipe, a device, and a file beside which none can be made are written in place.
func replace(name string, text []byte) error {
	inPlace := func() error { return os.WriteFile(name, text, 0o666) }
	old, err := os.Stat(name)
	if err == nil && !old.Mode().IsRegular() {
		return inPlace()
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	} else if old != nil { // a deleted file behind /dev/stdout
		return inPlace()
	}
	held := make(chan os.Signal, 1)
	signal.Notify(held, os.Interrupt, syscall.SIGTERM) // They would end the program, and leave the part.
	defer signal.Stop(held)
	part, err := os.OpenFile(name+".part", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return inPlace()
	}
	defer func() { _ = os.Remove(part.Name()) }() // It is there if it has not become the file.
	_, err = part.Write(text)
	if old != nil {
		err = errors.Join(err, part.Chmod(old.Mode().Perm()))
	}
	if err = errors.Join(err, part.Close()); err != nil {
		return err
	}
	if os.Rename(part.Name(), name) != nil { // such as a file that is mounted by itself
		return inPlace()
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
