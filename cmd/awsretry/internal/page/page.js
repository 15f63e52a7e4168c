"use strict";
// Draws the charts of the page with uPlot, in the colors and dashes that the style sheet has for their lines.
(() => {
  const root = document.documentElement;
  const gap = 8; // pixels between a label and what it is for
  const narrow = 330; // the width of a chart on paper, of which two are side by side
  let plots = [];

  // look returns the look of a class of lines.
  const look = (name) => {
    const line = document.querySelector(".probe path");
    line.setAttribute("class", "line " + name);
    const style = getComputedStyle(line);
    const dash = style.strokeDasharray === "none" ? [] : style.strokeDasharray.split(/[ ,]+/).map(parseFloat);
    return { stroke: style.stroke, width: parseFloat(style.strokeWidth), dash };
  };
  const color = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();
  const short = (v) => v >= 1e6 ? +(v / 1e6).toPrecision(4) + "M" : v >= 1e4 ? +(v / 1e3).toPrecision(4) + "k" : String(+v.toPrecision(6));
  const decade = (v) => v < 1 ? +(v * 1e3).toPrecision(1) + " ms" : v + " s";

  const labels = (axis) => (u, splits) => splits.map((v) => {
    if (axis.log) {
      return Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-6 ? decade(v) : "";
    }
    return v === null ? "" : short(v) + (axis.unit === "%" ? " %" : "");
  });

  // rows puts labels into rows in which they do not overlap. at has the middle of each, in pixels.
  const rows = (measure, labels, at) => {
    const ends = [];
    return labels.map((label, i) => {
      const half = measure(label) / 2 + gap;
      let row = 0;
      while (ends[row] > at[i] - half) {
        row++;
      }
      ends[row] = at[i] + half;
      return row;
    });
  };

  // above writes labels over a plot.
  const above = (u, labels, at) => {
    const pixel = devicePixelRatio;
    u.ctx.textAlign = "center";
    u.ctx.textBaseline = "bottom";
    u.ctx.font = 12 * pixel + "px " + getComputedStyle(document.body).fontFamily;
    u.ctx.fillStyle = color("text");
    const measure = (label) => u.ctx.measureText(label).width / pixel;
    const { left, top, width } = u.bbox;
    rows(measure, labels, at.map((x) => x / pixel)).forEach((row, i) => {
      const half = measure(labels[i]) * pixel / 2;
      const middle = Math.min(Math.max(at[i], left + half), left + width - half);
      u.ctx.fillText(labels[i], middle, top - (3 + 15 * row) * pixel);
    });
  };

  const shade = (chart) => (u) => {
    u.ctx.fillStyle = color("shade");
    for (const s of chart.spans || []) {
      const from = u.valToPos(s.from, "x", true);
      u.ctx.fillRect(from, u.bbox.top, u.valToPos(s.to, "x", true) - from, u.bbox.height);
    }
  };

  // marksOf returns the marks from left to right, without those whose label another has.
  const marksOf = (chart) => (chart.marks || []).filter((m, i, all) => all.findIndex((o) => o.label === m.label) === i).sort((a, b) => a.at - b.at);

  const mark = (chart) => (u) => {
    u.ctx.save();
    const marks = marksOf(chart);
    for (const m of marks) {
      const x = u.valToPos(m.at, "x", true);
      u.ctx.strokeStyle = look(m.look).stroke;
      u.ctx.lineWidth = 1.5 * devicePixelRatio;
      u.ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
      u.ctx.beginPath();
      u.ctx.moveTo(x, u.bbox.top);
      u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
      u.ctx.stroke();
    }
    above(u, marks.map((m) => m.label), marks.map((m) => u.valToPos(m.at, "x", true)));
    const spans = chart.spans || [];
    above(u, spans.map((s) => s.label), spans.map((s) => u.valToPos((s.from + s.to) / 2, "x", true)));
    u.ctx.restore();
  };

  const draw = (box) => {
    const chart = JSON.parse(box.dataset.chart);
    const font = "12px " + getComputedStyle(document.body).fontFamily;
    const paper = root.classList.contains("paper");
    const width = paper ? Math.min(box.clientWidth, narrow) : box.clientWidth;
    const axis = { stroke: color("muted"), font, ticks: { show: false } };
    const measure = document.createElement("canvas").getContext("2d");
    measure.font = font;
    const inside = (x) => x / (chart.x.most || chart.at[chart.at.length - 1]) * (width - 80); // about
    const labelled = [...marksOf(chart), ...(chart.spans || []).map((s) => ({ at: (s.from + s.to) / 2, label: s.label }))];
    const lines = Math.max(-1, ...rows((label) => measure.measureText(label).width, labelled.map((l) => l.label), labelled.map((l) => inside(l.at)))) + 1;
    return new uPlot({
      width,
      height: Math.round(Math.min(Math.max(width * 0.55, 190), 300)),
      padding: [8 + 15 * lines, 26, 0, 4],
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: chart.x.log ? { time: false, distr: 3 } : { time: false, range: (u, min, max) => [Math.min(min, 0), chart.x.most || max] },
        y: { range: (u, min, max) => [0, chart.y.most || Math.max(max * 1.06, 1e-3)] },
      },
      axes: [
        { ...axis, grid: { show: false }, values: labels(chart.x), size: 26, space: 62 },
        {
          ...axis, grid: { stroke: color("rule"), width: 1 }, values: labels(chart.y), space: 32,
          size: (u, values) => Math.ceil(Math.max(24, ...(values || []).map((v) => measure.measureText(v).width))) + 12,
        },
      ],
      series: [{}, ...chart.lines.map((line) => ({ ...look(line.look), points: { show: chart.at.length < 3 } }))],
      hooks: { drawClear: [shade(chart)], draw: [mark(chart)] },
    }, [chart.at, ...chart.lines.map((line) => line.values)], box);
  };

  const all = () => {
    plots.forEach((plot) => plot.destroy());
    plots = [...document.querySelectorAll(".plot")].map(draw);
  };
  all();
  addEventListener("resize", all);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all);
  for (const [event, paper] of [["beforeprint", true], ["afterprint", false]]) {
    addEventListener(event, () => {
      root.classList.toggle("paper", paper);
      all();
    });
  }
})();
