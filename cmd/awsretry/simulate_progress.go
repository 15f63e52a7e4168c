package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/awsretry/awsretry/internal/escape"
)

// progress is a bar on a terminal. Without one it shows nothing.
type progress struct {
	to      io.Writer
	percent int
	width   int // of the bar shown
}

// show shows which share is done, and what comes next.
func (p *progress) show(share float64, next string) {
	percent := int(100 * share)
	if p.to == nil || p.width > 0 && percent == p.percent {
		return
	}
	const cells, longestName = 25, 40 // to fit into a terminal
	done := percent * cells / 100
	name := []rune(escape.Escaped(next))
	text := fmt.Sprintf("[%s%s] %3d %% %s", strings.Repeat("#", done), strings.Repeat(".", cells-done), percent, string(name[:min(len(name), longestName)]))
	p.clear()
	fmt.Fprint(p.to, text)
	p.percent, p.width = percent, len([]rune(text))
}

// clear removes the bar.
func (p *progress) clear() {
	if p.width > 0 {
		fmt.Fprint(p.to, "\r"+strings.Repeat(" ", p.width)+"\r")
	}
	p.width = 0
}
