// Command report runs the benchmarks of this module in rounds and writes what they
// came to: one table for each step, with the ratio of each subject to aws-sdk-go-v2 and
// to the limit, and the targets with what was measured.
//
//	go run ./report [-rounds 10] [-benchtime 100ms] [-match .] [-again] micro
//	go run ./report [-rounds 5] [-again] effect
//
// A round is one run of everything, so that ours and theirs alternate; the rounds of
// effect have different seeds. What has been measured is kept in out/ as it comes, in
// the format that benchstat reads.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// options are what the command line says.
type options struct {
	rounds    int
	benchtime string
	match     string
	again     bool
}

func run(ctx context.Context, args []string) error {
	var o options
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 10, "how often everything runs")
	flags.StringVar(&o.benchtime, "benchtime", "100ms", "how long micro runs each benchmark in a round")
	flags.StringVar(&o.match, "match", ".", "which benchmarks of micro to run")
	flags.BoolVar(&o.again, "again", false, "measure nothing, write the report of what was measured last once more")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch flags.Arg(0) {
	case "micro":
		return micro(ctx, o)
	case "effect":
		return effect(ctx, o)
	default:
		return errors.New("say what to run: micro or effect")
	}
}
