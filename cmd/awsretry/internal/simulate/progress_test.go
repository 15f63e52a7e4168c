package simulate

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

func TestProgressIsALineThatGoes(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	var shown bytes.Buffer
	p := newProgress(&shown, &clk, 4)
	p.step(0.5)
	p.clear()
	require.Empty(t, shown.String(), "before a second has passed")
	for _, c := range []struct {
		after time.Duration
		part  float64
		want  string
	}{
		{10 * time.Second, 0.5, "25 %, about 30s left\r"},
		{100 * time.Millisecond, 0.5, ""},
		{30 * time.Second, 2.3, "95 %, about 2s left \r"},
		{time.Second, 0.5, "100 %, about 0s left\r"}, // the parts of a run may come to more than one
	} {
		shown.Reset()
		clk.Advance(c.after)
		p.step(c.part)
		require.Equal(t, c.want, shown.String())
	}
	shown.Reset()
	p.clear()
	require.Equal(t, "\r"+strings.Repeat(" ", 20)+"\r", shown.String())
}

func TestEachRunIsAStep(t *testing.T) {
	t.Parallel()
	for args, runs := range map[string]int{"--limit 20 --offered 1": 10, "--seed 1 --calls 40 --limit 20 --offered 20": 2, "--seed 1 --calls 40 --duration 1m": 1} {
		s := completed(t, strings.Fields(args)...)
		shown := newProgress(io.Discard, new(clock.Fake), len(s.seeds()))
		s.Step = shown.step
		variants, err := s.variants(nowhere())
		require.NoError(t, err)
		require.NoError(t, s.play(t.Context(), shown, variants))
		require.InDelta(t, runs, shown.done, 1e-6, args)
		require.InDelta(t, runs, shown.all, 0, args)
	}
}
