// Command awsretry explains and checks the retry settings of AWS profiles, says which failures
// are retried, and simulates what settings do.
//
//	awsretry explain        what the settings are, where each came from, what they do
//	awsretry lint           what is wrong or without effect in the shared files
//	awsretry profiles       what AWS tools see in the shared files
//	awsretry classify       whether a failure is retried, and which classifier decided
//	awsretry simulate       what settings do to the calls of a program
//	awsretry why            what the text of an error says, and what to do
//	awsretry completion SHELL  a script that lets a shell complete commands, flags and profiles
//	awsretry version        the version of the command
//
// Every command takes --json, and awsretry help COMMAND shows its flags with an
// example. The exit status is 0 on success, 1 if problems were found or the output
// cannot be written, 2 for a usage error, and 130 after an interrupt.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"golang.org/x/term"

	"github.com/awsretry/awsretry/config"
)

// The exit statuses.
const (
	exitFine  = 0
	exitBad   = 1
	exitUsage = 2
	// exitInterrupted is what shells have for a program that an interrupt ended.
	exitInterrupted = 130
)

func main() {
	debug.SetGCPercent(50) // A file of 4 MiB is read once, so memory matters more than time; simulate sets it back.
	sys := system{in: os.Stdin, out: os.Stdout, errs: os.Stderr, build: thisBuild(), width: widthOf(os.Stdout)}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		sys.progress = os.Stderr
	}
	os.Exit(run(context.Background(), os.Args[1:], sys))
}

// usualWidth is the width of the help, and of a terminal that does not tell its own.
const usualWidth = 80

// widthOf returns the number of columns of a terminal, and 0 for any other file.
func widthOf(file *os.File) int {
	if !term.IsTerminal(int(file.Fd())) {
		return 0
	}
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		return width
	}
	return usualWidth
}

// system is what the program reads from and writes to.
type system struct {
	in        io.Reader
	out, errs io.Writer
	// progress is the terminal for the progress of a long command; nil is none.
	progress io.Writer
	// width is the number of columns if out is a terminal, else 0.
	width int
	// build is the version of the command.
	build build
	// sources says where settings are read. Its zero value means the process and its machine.
	sources config.Sources
}

// run runs a command. If the output cannot be written, it says so at the end and returns exitBad,
// regardless of the status of the command.
func run(ctx context.Context, args []string, sys system) int {
	out := &checked{to: sys.out}
	sys.out = out
	if sys.progress == nil {
		sys.progress = io.Discard
	}
	status := (&call{system: sys, args: args}).execute(ctx)
	if out.err != nil {
		fmt.Fprintf(sys.errs, "awsretry: %v: %v\n", errUnwritten, out.err)
		return exitBad
	}
	return status
}

// errUnwritten is the error of the first write that fails and of every later write.
var errUnwritten = errors.New("the output cannot be written")

// checked is a writer that keeps its first error.
type checked struct {
	to  io.Writer
	err error
}

func (c *checked) Write(text []byte) (int, error) {
	if c.err == nil {
		_, c.err = c.to.Write(text)
	}
	if c.err != nil {
		return 0, errUnwritten
	}
	return len(text), nil
}
