// Panels draws panels of the dashboard as pictures: it plays the scripted outage, gives its samples to a real
// Prometheus, and asks it what the panels ask. Run it in the directory lab/telemetry, after lab/scripts/prometheus:
//
//	go run ./panels
//
// The pictures are the same each time.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/awsretry/awsretry/lab/telemetry/internal/grafana"
	"github.com/awsretry/awsretry/lab/telemetry/internal/prom"
	"github.com/awsretry/awsretry/lab/telemetry/internal/record"
	"github.com/awsretry/awsretry/lab/telemetry/outage"
)

const (
	scrapes = 30 * time.Second
	step    = time.Minute
	window  = "2m" // of rates
)

// drawn are the titles of the panels that docs/observing.md shows.
func drawn() []string {
	return []string{
		"Goodput", "Throttled share of attempts", "Attempts per call",
		"Retries refused, by reason", "Waiting attempts, top scopes", "Quota left, lowest scopes", "Fleet rate and own rates",
	}
}

func main() {
	file := flag.String("dashboard", filepath.Join("..", "..", "metrics", "dashboard.json"), "the `file` with the dashboard")
	out := flag.String("out", filepath.Join("..", "..", "docs", "pictures"), "the `directory` for the pictures")
	flag.Parse()
	if err := run(context.Background(), *file, *out); err != nil {
		fmt.Fprintln(os.Stderr, "panels:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, file, out string) error {
	dashboard, err := grafana.Load(file)
	if err != nil {
		return err
	}
	tools, err := prom.Find()
	if err != nil {
		return err
	}
	recording, err := record.Play(scrapes)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "panels")
	if err != nil {
		return err
	}
	return errors.Join(pictures(ctx, tools, recording, dir, dashboard.Panels, out), os.RemoveAll(dir))
}

// pictures draws with a server whose data is in dir.
func pictures(
	ctx context.Context, tools prom.Tools, recording *record.Recording, dir string, panels []grafana.Panel, out string,
) error {
	if err := tools.Import(ctx, dir, recording.WriteOpenMetrics); err != nil {
		return err
	}
	server, err := tools.Start(ctx, dir, "")
	if err != nil {
		return err
	}
	err = os.MkdirAll(out, 0o755)
	for _, p := range panels {
		if err == nil && slices.Contains(drawn(), p.Title) {
			err = picture(ctx, server, p, out)
		}
	}
	return errors.Join(err, server.Stop())
}

// picture writes the picture of a panel.
func picture(ctx context.Context, server *prom.Server, p grafana.Panel, out string) error {
	c := chart{
		title: p.Title, unit: unit(p.FieldConfig.Defaults.Unit), percent: p.FieldConfig.Defaults.Unit == "percentunit",
		stacked: p.FieldConfig.Defaults.Custom.Stacking.Mode == "normal",
		log:     p.FieldConfig.Defaults.Custom.ScaleDistribution.Type == "log",
		floor:   p.FieldConfig.Defaults.Min,
	}
	for i, target := range p.Targets {
		start := outage.Start()
		series, err := server.QueryRange(ctx, target.Expression(window), start, start.Add(outage.Length), step)
		if err != nil {
			return err
		}
		for _, s := range series {
			// Grafana's legends have the labels first. What follows tells the targets apart.
			name := target.Legend(s.Labels)
			c.add(name, strings.TrimSuffix(name, suffix(target.LegendFormat)), i > 0, s)
		}
	}
	text, err := c.svg()
	if err != nil {
		return err
	}
	name := strings.ReplaceAll(strings.ToLower(strings.ReplaceAll(p.Title, ",", "")), " ", "-") + ".svg"
	return os.WriteFile(filepath.Join(out, name), text, 0o644)
}

// suffix is what a legend has after its label.
func suffix(legend string) string {
	_, after, _ := strings.Cut(legend, "}}")
	return after
}

// unit is what Grafana writes for a unit.
func unit(of string) string {
	switch of {
	case "ops":
		return "per second"
	case "reqps":
		return "attempts per second"
	case "cpm":
		return "per minute"
	case "s":
		return "seconds"
	case "percentunit":
		return "percent"
	default:
		return ""
	}
}
