// Package grafana reads the dashboard. Its types have the fields that the dashboard uses, and no other field may appear.
package grafana

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
)

// Dashboard is the model of a dashboard in Grafana 10 and later.
type Dashboard struct {
	UID                  string   `json:"uid"`
	Title                string   `json:"title"`
	Description          string   `json:"description"`
	Tags                 []string `json:"tags"`
	SchemaVersion        int      `json:"schemaVersion"`
	Version              int      `json:"version"`
	Editable             bool     `json:"editable"`
	GraphTooltip         int      `json:"graphTooltip"`
	Timezone             string   `json:"timezone"`
	Refresh              string   `json:"refresh"`
	FiscalYearStartMonth int      `json:"fiscalYearStartMonth"`
	LiveNow              bool     `json:"liveNow"`
	Time                 struct {
		From string `json:"from"`
		To   string `json:"to"`
	} `json:"time"`
	Annotations struct {
		List []struct{} `json:"list"`
	} `json:"annotations"`
	Links      []struct{} `json:"links"`
	Templating struct {
		List []Variable `json:"list"`
	} `json:"templating"`
	Panels []Panel `json:"panels"`
}

// Variable is a choice above the panels.
type Variable struct {
	Name       string          `json:"name"`
	Label      string          `json:"label"`
	Type       string          `json:"type"`
	Datasource *Datasource     `json:"datasource"`
	Query      json.RawMessage `json:"query"` // a text, or an object with a field of this name
	Current    *struct {
		Selected bool     `json:"selected"`
		Text     []string `json:"text"`
		Value    []string `json:"value"`
	} `json:"current"`
	IncludeAll  bool       `json:"includeAll"`
	AllValue    string     `json:"allValue"`
	Multi       bool       `json:"multi"`
	Refresh     int        `json:"refresh"`
	Sort        int        `json:"sort"`
	Regex       string     `json:"regex"`
	Hide        int        `json:"hide"`
	Options     []struct{} `json:"options"`
	SkipURLSync bool       `json:"skipUrlSync"`
}

// Datasource names where data comes from.
type Datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

// Panel is a row's title, or a picture.
type Panel struct {
	ID          int         `json:"id"`
	Type        string      `json:"type"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	Collapsed   bool        `json:"collapsed"`
	Panels      []struct{}  `json:"panels"`
	Datasource  *Datasource `json:"datasource"`
	GridPos     Position    `json:"gridPos"`
	FieldConfig struct {
		Defaults struct {
			Unit  string   `json:"unit"`
			Min   *float64 `json:"min"`
			Max   *float64 `json:"max"`
			Color struct {
				Mode string `json:"mode"`
			} `json:"color"`
			Custom struct {
				DrawStyle         string `json:"drawStyle"`
				LineInterpolation string `json:"lineInterpolation"`
				LineWidth         int    `json:"lineWidth"`
				FillOpacity       int    `json:"fillOpacity"`
				ShowPoints        string `json:"showPoints"`
				SpanNulls         bool   `json:"spanNulls"`
				ScaleDistribution struct {
					Type string `json:"type"`
					Log  int    `json:"log"`
				} `json:"scaleDistribution"`
				Stacking struct {
					Group string `json:"group"`
					Mode  string `json:"mode"`
				} `json:"stacking"`
			} `json:"custom"`
		} `json:"defaults"`
		Overrides []struct{} `json:"overrides"`
	} `json:"fieldConfig"`
	Options struct {
		Legend struct {
			Calcs       []string `json:"calcs"`
			DisplayMode string   `json:"displayMode"`
			Placement   string   `json:"placement"`
			ShowLegend  bool     `json:"showLegend"`
		} `json:"legend"`
		Tooltip struct {
			Mode string `json:"mode"`
			Sort string `json:"sort"`
		} `json:"tooltip"`
	} `json:"options"`
	Targets []Target `json:"targets"`
}

// Position is a rectangle in a grid that is 24 wide.
type Position struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

// Target is a query.
type Target struct {
	RefID        string     `json:"refId"`
	Datasource   Datasource `json:"datasource"`
	EditorMode   string     `json:"editorMode"`
	Range        bool       `json:"range"`
	Expr         string     `json:"expr"`
	LegendFormat string     `json:"legendFormat"`
}

// Load reads a dashboard from a file.
func Load(file string) (Dashboard, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Dashboard{}, err
	}
	var d Dashboard
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return d, decoder.Decode(&d)
}

var variable = regexp.MustCompile(`\$[a-z]+`)

// Expression returns the query as Grafana sends it where each variable is All. The rates are over a window such as 2m.
func (t Target) Expression(window string) string {
	return variable.ReplaceAllString(strings.ReplaceAll(t.Expr, "$__rate_interval", window), ".*")
}

// Legend returns the name of a series with these labels.
func (t Target) Legend(labels map[string]string) string {
	text := t.LegendFormat
	for name, value := range labels {
		text = strings.ReplaceAll(text, "{{"+name+"}}", value)
	}
	return text
}
