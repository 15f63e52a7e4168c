package prom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Import makes the data of a server, in dir/data, from what write writes as OpenMetrics with timestamps.
func (t Tools) Import(ctx context.Context, dir string, write func(io.Writer) error) error {
	name := filepath.Join(dir, "metrics.txt")
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, t.Promtool, "tsdb", "create-blocks-from", "openmetrics", "--quiet",
		name, filepath.Join(dir, "data")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("prom: promtool cannot read the samples: %w: %s", err, out)
	}
	return os.Remove(name)
}
