// Command mutants changes the code a little, one change at a time, and says which test notices it first. The tests of the
// changed package run first, then those of the packages that import it. The checkout stays as it is.
//
//	go run ./mutants -in internal/limit -n 40 -seed 7
//
// A change that does not compile does not count; one with which tests run out of time is noticed. What it prints can be
// given to -from, which tries the same changes again. Tests in other processes than those of their packages see a change
// if they pass on the environment.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"path"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	root := flags.String("C", "..", "the root of the `checkout`")
	in := flags.String("in", ".", "the `folders` or files of one module that are changed, separated by commas")
	only := flags.String("only", "", "the `folders` whose tests run, separated by commas; empty for all")
	n := flags.Int("n", 40, "how many `changes` are drawn")
	seed := flags.Uint64("seed", 1, "of the draw")
	from := flags.String("from", "", "try the changes that are printed in a `file`")
	list := flags.Bool("list", false, "print the changes, and run no tests")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	folders := strings.Split(*in, ",")
	c, err := open(ctx, *root, folders[0])
	if err != nil {
		return err
	}
	c.out = out
	if *only != "" {
		tested := strings.Split(*only, ",")
		c.suites = slices.DeleteFunc(c.suites, func(s *suite) bool { return !slices.Contains(tested, s.dir) })
		if len(c.suites) < len(tested) {
			return fmt.Errorf("-only %s: there are tests in %d of these folders, in the module in %s", *only, len(c.suites), c.module)
		}
	}
	var all []change
	for _, folder := range folders {
		before := len(all)
		for _, name := range slices.Sorted(maps.Keys(c.files)) {
			if folder = path.Clean(folder); folder != c.module && folder != name && !strings.HasPrefix(name, folder+"/") {
				continue
			}
			found, err := changes(name, c.files[name].pkg, []byte(c.files[name].text))
			if err != nil {
				return err
			}
			all = append(all, found...)
		}
		if len(all) == before {
			return fmt.Errorf("there is nothing to change in %s, in the module in %s", folder, c.module)
		}
	}
	drawn := slices.Clone(all)
	if *from == "" {
		rand.New(rand.NewPCG(*seed, 0)).Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
		// Enough that n of them compile.
		drawn = drawn[:min(len(drawn), *n+*n/2+10)]
	} else if drawn, err = again(*from, all, out); err != nil {
		return err
	} else {
		*n = len(drawn)
	}
	if *list {
		for _, m := range drawn[:min(len(drawn), *n)] {
			fmt.Fprintln(out, m.name)
		}
		return nil
	}
	if c.temp, err = os.MkdirTemp("", "mutants"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(c.temp) }()
	if err := c.tryAll(ctx, drawn, *n); err != nil {
		return err
	}
	fmt.Fprintf(out, "drawn with seed %d from %d changes in %s\n", *seed, len(all), *in)
	return nil
}

// again finds the changes that a file names, and prints which of them there are no more.
func again(name string, all []change, out io.Writer) (found []change, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		said, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if i := slices.IndexFunc(all, func(m change) bool { return m.name == said }); i >= 0 {
			found = append(found, all[i])
		} else if strings.Contains(said, ".go:") {
			fmt.Fprintf(out, "%s\tno such change\n", said)
		}
	}
	return found, nil
}

// tryAll tries changes until n have compiled, prints what noticed each, and last how many were noticed.
func (c *checkout) tryAll(ctx context.Context, drawn []change, n int) error {
	broken, err := c.addSwitches(ctx, drawn)
	if err != nil {
		return err
	}
	tried, noticed, late := 0, 0, 0
	first := map[string]int{}
	for i, m := range drawn {
		if broken[m.name] {
			continue
		}
		if tried == n {
			break
		}
		number := i + 1
		if m.body.end == 0 {
			number = 0
		}
		v, err := c.try(ctx, m, number)
		switch {
		case err != nil:
			return err
		case v.broken:
			continue
		case v.idle:
			fmt.Fprintf(c.out, "%s\tnot noticed, and no test runs the function\n", m.name)
		case v.dir == "":
			fmt.Fprintf(c.out, "%s\tnot noticed\n", m.name)
		default:
			noticed++
			first[v.dir]++
			how := "noticed"
			if v.late {
				how = "timeout"
				late++
			}
			fmt.Fprintf(c.out, "%s\t%s by %s %s\n", m.name, how, v.dir, cmp.Or(v.test, "outside of a test"))
		}
		tried++
	}
	fmt.Fprintf(c.out, "\n%d of %d changes noticed (%.0f %%), %d by a timeout\n", noticed, tried, 100*float64(noticed)/float64(max(tried, 1)), late)
	for _, dir := range slices.SortedFunc(maps.Keys(first), func(a, b string) int { return cmp.Or(first[b]-first[a], strings.Compare(a, b)) }) {
		fmt.Fprintf(c.out, "%5d first by %s\n", first[dir], dir)
	}
	return nil
}
