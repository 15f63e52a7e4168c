package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// In each package with changes: the variable MUTANT has the number of the one to make. Without one, the numbers of all
// that run go to a file.
const switchFile = `package %s

import ("os"; "strconv"; "sync/atomic")

var (
	mutantNumber, _ = strconv.Atoi(os.Getenv("MUTANT"))
	mutantsReached  [%d]atomic.Bool
)

func mutantOn(number int) bool {
	if mutantNumber == 0 && !mutantsReached[number].Swap(true) {
		if f, err := os.OpenFile(os.Getenv("MUTANTS_REACHED"), os.O_APPEND|os.O_WRONLY, 0); err == nil {
			f.WriteString(strconv.Itoa(number) + "\n")
			f.Close()
		}
	}
	return mutantNumber == number
}
`

// addSwitches makes one overlay of all changes that can be made at run time, so that each test program is linked once
// and not for every change: in front of the body of a function stands a copy with the change, behind a condition. The
// number of a change is its place in drawn and 1. It returns which do not compile.
func (c *checkout) addSwitches(ctx context.Context, drawn []change) (broken map[string]bool, err error) {
	broken = map[string]bool{}
	for {
		copies := map[string]map[body]string{} // by file
		for i, m := range drawn {
			if m.body.end == 0 || broken[m.name] {
				continue
			}
			if copies[m.file] == nil {
				copies[m.file] = map[body]string{}
			}
			text := c.files[m.file].text
			copies[m.file][m.body] += fmt.Sprintf("if mutantOn(%d) {\n//line mutant-%d:1\n%s%s%s\n%s\n}\n", i+1, i+1,
				text[m.body.start:m.start], m.text, text[m.end:m.body.end], m.body.after)
		}
		texts, packages := map[string]string{}, []string{}
		for name, bodies := range copies {
			f := c.files[name]
			texts[name] = splice(name, f.text, bodies)
			texts[path.Join(path.Dir(name), "mutants_switch.go")] = fmt.Sprintf(switchFile, f.name, len(drawn)+1)
			packages = append(packages, f.pkg)
		}
		if c.switches, err = c.overlay(texts); err != nil || len(packages) == 0 {
			return broken, err
		}
		complaints := c.compile(ctx, c.switches, packages)
		if complaints == "" {
			return broken, ctx.Err()
		}
		found := regexp.MustCompile(`mutant-(\d+):`).FindAllStringSubmatch(complaints, -1)
		if len(found) == 0 {
			return nil, errors.New(complaints)
		}
		for _, match := range found {
			number, _ := strconv.Atoi(match[1])
			broken[drawn[number-1].name] = true
		}
	}
}

// splice puts copies in front of the bodies of functions.
func splice(name, text string, copies map[body]string) string {
	var b strings.Builder
	at := 0
	for _, place := range slices.SortedFunc(maps.Keys(copies), func(a, b body) int { return a.start - b.start }) {
		fmt.Fprintf(&b, "%s\n%s//line %s:%d\n", text[at:place.start], copies[place], path.Base(name), place.line)
		at = place.start
	}
	return b.String() + text[at:]
}
