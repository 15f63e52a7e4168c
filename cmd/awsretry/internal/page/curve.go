package page

import (
	"cmp"
	"slices"
	"strconv"
)

// lineClass returns the class of a variant's line. There are eight looks.
func lineClass(variant int) string { return "v" + strconv.Itoa(variant%8) }

// curve draws attempts per call against the share of failing attempts.
func curve(r *Report) picture {
	p := picture{
		ID: "curve", Heading: "Attempts per call against failing attempts",
		Caption: "Each line says how many attempts a call makes on average (up) if a share of all attempts fails (to the right). " +
			"Right of its dashed mark, the drain point, the retry quota of a variant empties, and the line falls: " +
			"calls are then refused their retries.",
	}
	most, widest, rows := 0.0, 0.0, 0
	for _, v := range r.Variants {
		rows = max(rows, len(v.Curve))
		for _, at := range v.Curve {
			if known(at.Share) {
				widest = max(widest, min(at.Share, 1))
			}
			if known(at.AttemptsPerCall) {
				most = max(most, at.AttemptsPerCall)
			}
		}
	}
	if rows == 0 {
		p.None = "No shares of failing attempts were played."
		return p
	}
	widest = sane(widest)
	marks := drainMarks(r, widest)
	const height = 14 // of a row of labels
	above := 0.0
	for _, m := range marks {
		above = max(above, float64((m.row+1)*height))
	}
	f := largeFrame()
	f.height += above
	chart := newPlot("curve-1", p.Heading, f, shareAxis("share of attempts that fail", widest), valueAxis("attempts per call", most), above)
	for _, m := range marks {
		chart.path("line mark "+m.class, (&outline{}).to("M", chart.atX(m.share), chart.top-float64(m.row*height)).to("V", chart.bottom))
	}
	for _, m := range marks {
		chart.text("label middle", chart.atX(m.share), chart.top-4-float64(m.row*height), m.label)
	}
	p.Tables = []table{{Label: p.Heading, First: "failing", Rows: make([]row, rows)}}
	t := &p.Tables[0]
	for i, v := range r.Variants {
		points := make([]point, len(v.Curve))
		for j, at := range v.Curve {
			points[j] = point{at.Share, at.AttemptsPerCall}
			t.Rows[j].Name = Brief(at.Share*100) + " %"
		}
		chart.line(lineClass(i), points)
		p.Legend = append(p.Legend, entry{key("line " + lineClass(i)), v.Name + drains(v)})
		t.Groups = append(t.Groups, group{v.Name, 2})
		t.Head = append(t.Head, "attempts per call", "failed calls")
		for j := range t.Rows {
			attempts, failed := unknown, unknown
			if j < len(v.Curve) {
				attempts, failed = Number(v.Curve[j].AttemptsPerCall), Percent(v.Curve[j].FailedShare)
			}
			t.Rows[j].Cells = append(t.Rows[j].Cells, cell{Text: attempts}, cell{Text: failed})
		}
	}
	p.Panels = []panel{{SVG: chart.finish()}}
	return p
}

func drains(v Variant) string {
	for _, d := range v.Drain {
		if d.Kind == "transient" && known(d.Share) {
			return " (drains at " + Percent(d.Share) + ")"
		}
	}
	return ""
}

// mark is the drain point of one or more variants. Labels in the same row do not overlap.
type mark struct {
	share float64
	label string
	class string
	row   int
}

// drainMarks returns the marks on an axis that ends at most.
func drainMarks(r *Report, most float64) []mark {
	var marks []mark
	for i, v := range r.Variants {
		for _, d := range v.Drain {
			if d.Kind != "transient" || !known(d.Share) || d.Share > most {
				continue
			}
			label := Percent(d.Share)
			if same := slices.IndexFunc(marks, func(m mark) bool { return m.label == label }); same >= 0 {
				marks[same].class = "shared"
				continue
			}
			marks = append(marks, mark{share: d.Share, label: label, class: lineClass(i)})
		}
	}
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(a.share, b.share) })
	width := 0.13 * most // of a label; the axis has room for eight
	var ends []float64   // of the rows
	for i := range marks {
		m := &marks[i]
		for m.row < len(ends) && ends[m.row] > m.share {
			m.row++
		}
		if m.row == len(ends) {
			ends = append(ends, 0)
		}
		ends[m.row] = m.share + width
	}
	return marks
}
