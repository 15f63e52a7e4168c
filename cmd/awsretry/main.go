// Command awsretry explains and checks the retry settings of AWS profiles, says which failures
// are retried, and simulates what settings do.
//
//	awsretry explain        what the settings are, where each came from, what they do
//	awsretry lint           what is wrong or without effect in the shared files
//	awsretry profiles       what AWS tools see in the shared files
//	awsretry classify       whether a failure is retried, and which classifier decided
//	awsretry simulate       what settings do to the calls of a program
//	awsretry completion SHELL  a script that lets a shell complete commands, flags and profiles
//	awsretry version        the version of the command
//
// Every command takes --json, and awsretry help COMMAND shows its flags with an
// example. The exit status is 0 on success, 1 if problems were found or the output
// cannot be written, and 2 for a usage error.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/terminal"
)

// The exit statuses.
const (
	exitFine  = 0
	exitBad   = 1
	exitUsage = 2
)

func main() {
	debug.SetGCPercent(50) // A file of 4 MiB is read once, so memory matters more than time.
	sys := system{in: os.Stdin, out: os.Stdout, errs: os.Stderr, build: thisBuild()}
	if terminal.Is(os.Stdout) {
		columns, _ := os.LookupEnv("COLUMNS") //nolint:forbidigo // It is about the terminal, not about settings.
		sys.width = widthOf(columns)
	}
	if terminal.Is(os.Stderr) {
		sys.progress = os.Stderr
	}
	os.Exit(run(context.Background(), os.Args[1:], sys))
}

// usualWidth is the width of a terminal of unknown width, and of the help.
const usualWidth = 80

// widthOf returns the width of a terminal from the value of COLUMNS.
func widthOf(columns string) int {
	if n, err := strconv.Atoi(columns); err == nil && n > 0 {
		return n
	}
	return usualWidth
}

// system is what the program reads from and writes to.
type system struct {
	in        io.Reader
	out, errs io.Writer
	// progress is the terminal for the progress of a long command, or nil.
	progress io.Writer
	// width is the number of columns if out is a terminal, else 0.
	width int
	// build is the version of the command.
	build build
	// sources says where settings are read. Its zero value means the process and its machine.
	sources config.Sources
}

// command is one of the program's commands.
type command struct {
	name, synopsis, example string
	// argument is the name of the argument in the help, or empty for a command without one.
	argument string
	// notes is the end of the help, or empty.
	notes string
	// prose means that text output wraps to the width of a terminal.
	prose bool
	// define adds the flags of the command to the common ones, and returns the function that
	// runs the command.
	define func(f *flags) func(ctx context.Context, c *call) error
}

func commands() []command {
	return []command{
		explainCommand(), lintCommand(), profilesCommand(), classifyCommand(), simulateCommand(),
		completionCommand(), versionCommand(),
	}
}

// run runs a command. If the output cannot be written, it says so at the end and returns exitBad,
// regardless of the status of the command.
func run(ctx context.Context, args []string, sys system) int {
	out := &checked{to: sys.out}
	sys.out = out
	status := dispatch(ctx, args, sys)
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

func dispatch(ctx context.Context, args []string, sys system) int {
	if len(args) == 0 {
		usage(sys.errs)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		if len(args) == 1 {
			usage(sys.out)
			return exitFine
		}
		args = []string{args[1], "--help"}
	case "-version", "--version":
		args = append([]string{"version"}, args[1:]...)
	case completing:
		complete(args[1:], sys)
		return exitFine
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, args[1:], sys)
		}
	}
	fmt.Fprintf(sys.errs, "awsretry: no such command: %q; awsretry help lists them\n", args[0])
	return exitUsage
}

func usage(out io.Writer) {
	w := terminal.NewFold(out, usualWidth)
	fmt.Fprint(w, "awsretry explains and checks the retry settings of AWS profiles, says which\nfailures are retried, and simulates what settings do.\n\nUsage:\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  awsretry %-17s %s\n", strings.TrimRight(c.name+" "+c.argument, " "), c.synopsis)
	}
	fmt.Fprint(w, "\nawsretry help COMMAND shows the flags of a command and an example.\n"+
		"The exit status is 0 on success, 1 if problems were found or the output\ncannot be written, 2 for a usage error.\n")
}
