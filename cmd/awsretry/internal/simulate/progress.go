package simulate

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// progress shows on a terminal how far a simulation is, and how long the rest takes, from a second after its beginning on.
type progress struct {
	to    io.Writer
	clock clock.Clock
	begun time.Time
	all   float64 // the runs to play

	mu    sync.Mutex // guards what follows
	done  float64
	last  time.Time
	shown int // characters of the line
}

func newProgress(to io.Writer, clk clock.Clock, all int) *progress {
	return &progress{to: to, clock: clk, begun: clk.Now(), last: clk.Now(), all: float64(all)}
}

// step counts a part of a run, and shows the line anew if a fifth of a second has passed. It does not write under the lock,
// because a terminal can be slow.
func (p *progress) step(part float64) {
	if line := p.count(part); line != "" {
		_, _ = io.WriteString(p.to, line)
	}
}

// count counts a part of a run, and returns the line if it is to be shown anew.
func (p *progress) count(part float64) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += part
	now := p.clock.Now()
	took := now.Sub(p.begun)
	if took < time.Second || now.Sub(p.last) < 200*time.Millisecond {
		return ""
	}
	p.last = now
	share := min(p.done/p.all, 1)
	line := fmt.Sprintf("%.0f %%, about %v left", 100*share, time.Duration(float64(took)*(1/share-1)).Round(time.Second))
	p.shown = max(p.shown, len(line))
	return fmt.Sprintf("%-*s\r", p.shown, line)
}

// clear takes the line away. An interrupt may have left characters of its own at its beginning.
func (p *progress) clear() {
	if p.shown > 0 {
		fmt.Fprintf(p.to, "\r%s\r", strings.Repeat(" ", p.shown))
	}
}
