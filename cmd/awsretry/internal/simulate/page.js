"use strict";
// Draws the charts of the page with uPlot, in the colors and dashes that the style sheet has for their lines.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const gap = 8; // pixels between a label and what it is for
  const narrow = 330; // the width of a chart on paper, of which two are side by side
  let plots = [];

  // overTime has a line for each variant, or for each of the functions of an object.
  const overTime = (name, unit, values) => {
    const per = data.seconds > 240 ? 60 : 1;
    const longest = data.variants.reduce((a, b) => b.Bins.length > a.Bins.length ? b : a, data.variants[0]);
    const end = (v, b) => Math.min(b.From / 1e9 + v.Width, data.seconds);
    const line = (v, value) => longest.Bins.map((_, i) => v.Bins[i] ? value(v.Bins[i], end(v, v.Bins[i]) - v.Bins[i].From / 1e9) : null);
    return {
      name, unit, x: per > 1 ? "minutes of the run" : "seconds of the run", most: data.seconds / per,
      at: longest.Bins.map((b) => end(longest, b) / per),
      lines: values instanceof Function ? data.variants.map((v, i) => ({ look: "v" + i, values: line(v, values) })) :
        Object.entries(values.of).map(([look, value]) => ({ look, values: line(values, value) })),
      spans: (data.phases || []).map((p) => ({ from: p.From / 1e9 / per, to: p.To / 1e9 / per, label: p.Label })),
    };
  };

  const rates = {
    offered: (b, s) => b.Offered / s, begun: (b, s) => b.Begun / s, sent: (b, s) => b.Sent / s,
    throttled: (b, s) => b.Throttled / s, accepted: (b, s) => b.Accepted / s, limit: (b) => b.Allowed,
  };

  // ratesOf has the same scale for all variants. A limit far above is left out.
  const ratesOf = () => {
    const charts = data.variants.map((v) => overTime(v.Name, "a second", { ...v, of: rates }));
    const most = (lines) => Math.max(...lines.flatMap((l) => l.values.filter((x) => x !== null)));
    const top = Math.max(...charts.map((c) => most(c.lines.slice(0, -1))));
    return charts.map((c) => ({ ...c, top: 1.06 * top, lines: c.lines.filter((l) => most([l]) <= 3 * top) }));
  };

  // within has the shares of all calls of a variant that end well or badly within a time.
  const within = (name, of) => {
    const lines = data.variants.filter((v) => v[of].Count).map((v) => [
      v[of].Times.map((t) => Math.max(t, 1e-3)), v[of].Times.map((_, i, all) => 100 * v[of].Count / v.Calls * (i + 1) / all.length)]);
    const [at, ...joined] = lines.length ? uPlot.join(lines) : [[0.001, 1]];
    const times = data.variants.flatMap((v) => [...(v.Ok.Times || []), ...(v.Bad.Times || [])]);
    const decadeOf = (round, t) => 10 ** round(Math.log10(Math.max(t, 1e-3)));
    return {
      name, unit: "% of all calls", x: "time from the beginning of a call to its end", top: 100, at,
      log: [decadeOf(Math.floor, Math.min(...times)), decadeOf(Math.ceil, Math.max(...times, 0.01))],
      lines: data.variants.map((v, i) => ({ look: "v" + i, values: v[of].Count ? joined.shift() : at.map(() => null) })),
    };
  };

  const against = (name, unit, value) => ({
    name, unit, x: "% of attempts that fail", at: data.variants[0].Curve.map((p) => 100 * p.Share),
    lines: data.variants.map((v, i) => ({ look: "v" + i, values: v.Curve.map(value) })),
    marks: data.variants.map((v, i) => ({ at: 100 * v.DrainsAt, look: "v" + i, label: short(100 * v.DrainsAt) + " %" })).filter((m) => m.at > 0),
  });

  const pictures = {
    curve: () => [against("Attempts", "per call", (p) => p.AttemptsPerCall), against("Failed calls", "%", (p) => 100 * p.FailedShare)],
    latency: () => [within("Calls that succeed", "Ok"), within("Calls that fail", "Bad")],
    rates: ratesOf,
    troubles: () => [overTime("Failed calls", "a second", (b, s) => b.Failed / s), overTime("Waiting calls", "calls", (b) => b.Waiting)],
    state: () => [overTime("Retry quota", "tokens", (b) => b.Quota), overTime("Send rate", "attempts a second", (b) => b.SendRate || null)],
  };

  // look returns the look of a class of lines.
  const look = (name) => {
    const line = document.querySelector(".probe path");
    line.setAttribute("class", "line " + name);
    const style = getComputedStyle(line);
    const dash = style.strokeDasharray === "none" ? [] : style.strokeDasharray.split(/[ ,]+/).map(parseFloat);
    return { stroke: style.stroke, width: parseFloat(style.strokeWidth), dash };
  };
  const color = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();
  const short = (v) => v === null ? "" : v >= 1e6 ? +(v / 1e6).toPrecision(4) + "M" : v >= 1e4 ? +(v / 1e3).toPrecision(4) + "k" : String(+v.toPrecision(3));
  const decade = (v) => v === null || Math.abs(Math.log10(v) - Math.round(Math.log10(v))) > 1e-6 ? "" : v < 1 ? +(v * 1e3).toPrecision(1) + " ms" : v + " s";

  // rows puts labels into rows in which they do not overlap. at has the middle of each, in pixels.
  const rows = (measure, labels, at) => {
    const ends = [];
    return labels.map((label, i) => {
      const half = measure(label) / 2 + gap;
      const row = [...ends, -Infinity].findIndex((end) => end <= at[i] - half);
      ends[row] = at[i] + half;
      return row;
    });
  };

  // labelsOf returns the labels above a chart, from left to right, each text once.
  const labelsOf = (chart) => [...(chart.marks || []), ...(chart.spans || []).map((s) => ({ at: (s.from + s.to) / 2, label: s.label }))]
    .filter((m, i, all) => all.findIndex((o) => o.label === m.label) === i).sort((a, b) => a.at - b.at);

  const shade = (chart) => (u) => {
    u.ctx.fillStyle = color("shade");
    for (const s of chart.spans || []) {
      const from = u.valToPos(s.from, "x", true);
      u.ctx.fillRect(from, u.bbox.top, u.valToPos(s.to, "x", true) - from, u.bbox.height);
    }
  };

  // mark draws the marks, and the labels over the plot.
  const mark = (chart, font) => (u) => {
    const pixel = devicePixelRatio;
    const { left, top, width, height } = u.bbox;
    u.ctx.save();
    for (const m of chart.marks || []) {
      const x = u.valToPos(m.at, "x", true);
      u.ctx.strokeStyle = look(m.look).stroke;
      u.ctx.lineWidth = 1.5 * pixel;
      u.ctx.setLineDash([3 * pixel, 3 * pixel]);
      u.ctx.beginPath();
      u.ctx.moveTo(x, top);
      u.ctx.lineTo(x, top + height);
      u.ctx.stroke();
    }
    Object.assign(u.ctx, { textAlign: "center", textBaseline: "bottom", fillStyle: color("text"), font: 12 * pixel + "px " + font });
    const labels = labelsOf(chart);
    const measure = (label) => u.ctx.measureText(label).width;
    const at = labels.map((m) => u.valToPos(m.at, "x", true)).map((x, i) => {
      const half = measure(labels[i].label) / 2;
      return Math.min(Math.max(x, left + half), left + width - half);
    });
    rows((label) => measure(label) / pixel, labels.map((m) => m.label), at.map((x) => x / pixel))
      .forEach((row, i) => u.ctx.fillText(labels[i].label, at[i], top - (3 + 15 * row) * pixel));
    u.ctx.restore();
  };

  const draw = (chart, box) => {
    const family = getComputedStyle(document.body).fontFamily;
    const width = root.classList.contains("paper") ? Math.min(box.clientWidth, narrow) : box.clientWidth;
    const measure = document.createElement("canvas").getContext("2d");
    measure.font = "12px " + family;
    const axis = { stroke: color("muted"), font: measure.font, ticks: { show: false } };
    const widthOf = (text) => measure.measureText(text).width;
    const labels = labelsOf(chart);
    const end = chart.most || chart.at[chart.at.length - 1];
    const lines = 1 + Math.max(-1, ...rows(widthOf, labels.map((m) => m.label), labels.map((m) => m.at / end * (width - 80)))); // about
    return new uPlot({
      width,
      height: Math.round(Math.min(Math.max(width * 0.55, 190), 300)),
      padding: [8 + 15 * lines, 26, 0, 4],
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: chart.log ? { time: false, distr: 3, range: () => chart.log } : { time: false, range: (u, min, max) => [Math.min(min, 0), chart.most || max] },
        y: { range: (u, min, max) => [0, chart.top || max * 1.06 || 1] },
      },
      axes: [
        { ...axis, grid: { show: false }, values: (u, splits) => splits.map(chart.log ? decade : short), size: 26, space: 62 },
        {
          ...axis, grid: { stroke: color("rule"), width: 1 }, values: (u, splits) => splits.map(short), space: 32,
          size: (u, values) => Math.ceil(Math.max(24, ...(values || []).map(widthOf))) + 12,
        },
      ],
      series: [{}, ...chart.lines.map((line) => ({ ...look(line.look), spanGaps: !!chart.log, points: { show: chart.at.length < 3 } }))],
      hooks: { drawClear: [shade(chart)], draw: [mark(chart, family)] },
    }, [chart.at, ...chart.lines.map((line) => line.values)], box);
  };

  // drawable tells a chart from one that applies to no variant.
  const drawable = (chart) => chart.lines.some((line) => line.values.some((v) => v !== null));

  // element adds an element with a text to another.
  const element = (to, name, text, attributes) => {
    const made = document.createElement(name);
    made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) {
      made.setAttribute(key, value);
    }
    to.append(made);
    return made;
  };

  const charts = [...document.querySelectorAll("[data-picture]")].flatMap((picture) => {
    const applies = pictures[picture.dataset.picture]().filter(drawable);
    if (applies.length === 0) {
      element(picture, "p", "No call ended in the time that counts.", {});
    }
    return applies.map((chart) => {
      const panel = element(picture, "div", "", {});
      element(panel, "p", chart.name, { class: "name" });
      element(panel, "p", chart.unit, { class: "axis" });
      const box = element(panel, "div", "", { class: "plot", role: "img", "aria-label": chart.name + ", " + chart.unit + ", against " + chart.x });
      element(panel, "p", chart.x, { class: "axis x" });
      return [chart, box];
    });
  });

  const all = () => {
    plots.forEach((plot) => plot.destroy());
    plots = charts.map(([chart, box]) => draw(chart, box));
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
