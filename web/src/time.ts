// SPDX-License-Identifier: Apache-2.0
// Memory over time: stacked areas, their legend, what happened; a range to look into and a cursor that everything below follows.
import { drag, ticks } from "./axis";
import { CPU, page, peak, placeName, places, Row, Span, view } from "./data";
import { STEPS, figure, h, mib, put, s, scroll, section, short, tabs, time } from "./dom";
import { follow, live } from "./live";
import { cursor, endOf, layers, stackedBy } from "./model";
import { room } from "./shell";
import { Layer, Layers, indexAt } from "./stack";
import { set, state } from "./state";

const HEIGHT = 280, LEFT = 64, LEGEND = 27 * 16, LANE = 16, LANES = 3, OVERVIEW = 34;
const whole = page.time.account;
// As many units as there are pixels, so that text is as large as elsewhere.
let WIDTH = 1000;
function measureWidth(): void {
  WIDTH = Math.max(280, room() >= 928 ? room() - LEGEND - 24 : room());
}
const x = (t: number): number => LEFT + (WIDTH - LEFT) * (t - state.from) / (state.to - state.from);
const back = (px: number): number => state.from + (state.to - state.from) * Math.min(1, Math.max(0, (px - LEFT) / (WIDTH - LEFT)));
const step = (): number => (state.to - state.from) / STEPS;
export const clock = (t: number): string => time(t, step());

const fill = (l: Layer): string => l.elastic ? `url(#hatch${l.colour})` : `var(--c${l.colour})`;

// A state lasts until the next one; sampled moments are joined by lines, because what was between is not kept.
function area(all: Layers, low: number[], high: number[], xOf: (t: number) => number, yOf: (b: number) => number): string {
  const first = Math.max(0, indexAt(all.t, state.from)), up: string[] = [], down: string[] = [];
  for (let i = first; i < all.t.length && (i === first || all.t[i - 1] <= state.to); i++) {
    const from = xOf(Math.max(all.t[i], state.from)).toFixed(1);
    const until = all.sampled ? from : xOf(Math.min(all.t[i + 1] ?? whole.to_ns, state.to)).toFixed(1);
    up.push(`${from} ${yOf(high[i]).toFixed(1)}L${until} ${yOf(high[i]).toFixed(1)}`);
    down.unshift(`${until} ${yOf(low[i]).toFixed(1)}L${from} ${yOf(low[i]).toFixed(1)}`);
  }
  return up.length ? "M" + up.join("L") + "L" + down.join("L") + "Z" : "";
}

function hatches(): SVGElement {
  return s("defs", {}, ...[0, 1, 2, 3, 4, 5, 6, 7, 8].map(i => s("pattern", { id: "hatch" + i, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    s("rect", { width: 6, height: 6, style: `fill:var(--c${i});opacity:.35` }), s("rect", { width: 3, height: 6, style: `fill:var(--c${i})` }))));
}

function axes(most: number, yOf: (b: number) => number): SVGElement[] {
  const out = ticks(most).flatMap(v => [s("path", { class: "grid", d: `M${LEFT} ${yOf(v).toFixed(1)}H${WIDTH}` }),
    s("text", { x: LEFT - 6, y: yOf(v) + 4, "text-anchor": "end", class: "soft" }, mib(v))]);
  const parts = WIDTH < 500 ? 2 : 5;
  for (let i = 0; i <= parts; i++) {
    const t = state.from + (state.to - state.from) * i / parts;
    out.push(s("text", { x: x(t), y: HEIGHT + 16, "text-anchor": i === 0 ? "start" : i === parts ? "end" : "middle", class: "soft" }, clock(t)));
  }
  return out;
}

// Phases in lanes, and what else happened; what does not fit is counted.
function events(top: number): { drawn: SVGElement[]; height: number; hidden: number } {
  const until = new Array(LANES).fill(-Infinity), drawn: SVGElement[] = [];
  let hidden = whole.more_spans, lanes = 0;
  const inside = (a: Span) => a.to_ns >= state.from && a.from_ns <= state.to;
  for (const span of whole.spans.filter(inside).slice(0, 1500)) {
    const left = Math.max(LEFT, x(span.from_ns)), right = Math.min(WIDTH, x(span.to_ns));
    const lane = span.mark ? 0 : until.findIndex(u => u <= left + .5);
    const name = span.name + (span.count > 1 ? " × " + span.count : "");
    if (lane < 0) { hidden += span.count; continue; }
    if (span.mark) {
      drawn.push(s("path", { class: "grid", d: `M${left} ${top}V${HEIGHT}`, "stroke-dasharray": "3 3" }, s("title", {}, name + " at " + clock(span.from_ns))));
      continue;
    }
    until[lane] = Math.max(right, left + 1);
    lanes = Math.max(lanes, lane + 1);
    const chars = Math.floor((right - left - 6) / 6.2);
    drawn.push(s("rect", { class: "phase", x: left, y: top + lane * LANE, width: Math.max(.8, right - left), height: LANE - 2 }, s("title", {}, `${name}: ${clock(span.from_ns)} to ${clock(span.to_ns)}`)));
    if (chars >= 3) drawn.push(s("text", { x: left + 3, y: top + lane * LANE + 11, "font-size": 11 }, name.length > chars ? name.slice(0, chars - 1) + "…" : name));
  }
  return { drawn, height: lanes * LANE, hidden };
}

function marks(): SVGElement[] {
  const out: SVGElement[] = [], shade = (from: number, to: number, name: string, title: string) => {
    const left = Math.max(LEFT, x(from)), right = Math.min(WIDTH, x(to));
    if (right > left) out.push(s("rect", { class: name, x: left, y: 0, width: Math.max(1, right - left), height: HEIGHT }, s("title", {}, title)));
  };
  if (whole.known_ns > state.from) shade(state.from, whole.known_ns, "gone", "events of this time were given up: only sums are known");
  for (const l of peak.losses) shade(Number(l.from_ns), Number(l.to_ns), "loss", "records are missing: " + l.why);
  for (const o of peak.out_of_memory) {
    const t = Number(o.t_ns);
    if ((o.device ?? CPU) === state.place && t >= state.from && t <= state.to)
      out.push(s("path", { class: "oom", d: `M${x(t)} ${HEIGHT}V8m-5 -5l10 10m0-10l-10 10` }, s("title", {}, `out of memory: ${mib(Number(o.asked_bytes))} MiB asked for at ${clock(t)}`)));
  }
  return out;
}

// [from, to] in pixels, in order; what touches is one.
function joined(times: [number, number][]): number[][] {
  const out: number[][] = [];
  for (const [from, to] of times.filter(([from, to]) => to >= state.from && from <= state.to).sort((a, b) => a[0] - b[0])) {
    const left = Math.max(LEFT, x(from)), right = Math.max(left + 1, Math.min(WIDTH, x(to))), last = out[out.length - 1];
    if (last && left <= last[1] + 1) last[1] = Math.max(last[1], right);
    else out.push([left, right]);
  }
  return out;
}

// Where graphs were captured, and steps began: as a strip above the plot, and as ticks below it.
const captures = (): [number, number][] => (view("graph", "peak")?.rows ?? []).filter(g => g.device === state.place && g.state !== "built" && g.begin_ns != null).map(g => [Number(g.begin_ns), Number(g.end_ns ?? g.begin_ns)]);
const begins = (): [number, number][] => peak.training.filter(t => (t.device ?? CPU) === state.place).flatMap(t => (t.each as Row[] ?? []).map((e): [number, number] => [Number(e.begin_ns), Number(e.begin_ns)]));

function beside(): { drawn: SVGElement[]; words: string } {
  const strips = joined(captures()), begun = joined(begins()), drawn: SVGElement[] = [], words: string[] = [];
  if (strips.length) {
    drawn.push(s("path", { class: "captures", d: strips.map(([left, right]) => `M${left.toFixed(1)} -4H${right.toFixed(1)}V0H${left.toFixed(1)}Z`).join("") }));
    words.push("the strip above: CUDA graphs are captured");
  }
  if (begun.length) {
    drawn.push(s("path", { class: "steps", d: begun.map(([left]) => `M${left.toFixed(1)} ${HEIGHT}v5`).join("") }));
    words.push("ticks below: a step begins");
  }
  return { drawn, words: words.join("; ") };
}

function reach(all: Layers): number[][] {
  const out = [all.t.map(() => 0)];
  for (const l of all.layers) {
    const below = out[out.length - 1];
    out.push(l.bytes.map((b, i) => Math.max(0, Math.min(Math.max(all.used[i], 0), below[i] + b))));
  }
  return out;
}

function mostIn(all: Layers): number {
  const first = Math.max(0, indexAt(all.t, state.from)), last = Math.max(first, indexAt(all.t, state.to));
  return Math.max(1, ...all.used.slice(first, last + 1));
}

function overview(all: Layers): SVGElement {
  const most = Math.max(1, ...all.used), span = whole.to_ns - whole.from_ns || 1;
  const xOf = (t: number) => LEFT + (WIDTH - LEFT) * (t - whole.from_ns) / span, yOf = (b: number) => OVERVIEW * (1 - b / most);
  let d = `M${LEFT} ${OVERVIEW}`;
  all.t.forEach((t, i) => { d += `L${xOf(t).toFixed(1)} ${yOf(all.used[i]).toFixed(1)}H${xOf(all.t[i + 1] ?? whole.to_ns).toFixed(1)}`; });
  return s("svg", { viewBox: `0 0 ${WIDTH} ${OVERVIEW}`, "aria-hidden": "true", id: "overview" }, s("path", { d: d + `V${OVERVIEW}Z`, style: "fill:var(--c8)" }),
    s("rect", { class: "sel", x: xOf(state.from), y: 0, width: Math.max(2, xOf(state.to) - xOf(state.from)), height: OVERVIEW }));
}

function move(all: Layers, key: string): void {
  const at = indexAt(all.t, cursor()), last = all.t.length - 1, jump = Math.max(1, Math.round(last / 20));
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, PageDown: at - jump, PageUp: at + jump, Home: 0, End: last }[key];
  if (to != null) set({ t: String(all.t[Math.min(last, Math.max(0, to))]) });
}

export function zoom(factor: number): void {
  const middle = Math.min(state.to, Math.max(state.from, cursor())), half = (state.to - state.from) * factor / 2;
  const from = Math.max(whole.from_ns, Math.round(middle - half)), to = Math.min(whole.to_ns, Math.round(middle + half));
  if (to - from >= 10) set({ from, to });
}

const isIn = (t: number): boolean => t >= state.from && t <= state.to;

function plot(all: Layers): HTMLElement {
  const most = mostIn(all), yOf = (b: number) => HEIGHT * (1 - b / most * .96), bounds = reach(all), happened = events(HEIGHT + 22), also = beside();
  const svg = s("svg", { viewBox: `0 -4 ${WIDTH} ${HEIGHT + 30 + happened.height}`, "aria-hidden": "true" }, hatches(), ...axes(most, yOf),
    ...all.layers.map((l, k) => s("path", { class: "edge", d: area(all, bounds[k], bounds[k + 1], x, yOf), style: `fill:${fill(l)}` }, s("title", {}, l.label))),
    ...marks(), ...also.drawn, ...happened.drawn, live(() => s("path", { class: "cursor", d: isIn(cursor()) ? `M${x(cursor()).toFixed(1)} 0V${HEIGHT}` : "" })));
  const drawn = h("div", { class: "plot", id: "plot", tabindex: 0, role: "slider", "aria-label": "moment", "aria-valuemin": whole.from_ns, "aria-valuemax": whole.to_ns,
    keydown: (e: KeyboardEvent) => {
      if (e.key === "+" || e.key === "-") zoom(e.key === "+" ? .5 : 2);
      else if (/^(Arrow(Left|Right)|Page(Up|Down)|Home|End)$/.test(e.key)) move(all, e.key);
      else return;
      e.preventDefault();
    } }, svg as any);
  follow(() => {
    drawn.setAttribute("aria-valuenow", String(Math.round(cursor())));
    drawn.setAttribute("aria-valuetext", `${clock(cursor())}, ${mib(all.used[indexAt(all.t, cursor())] ?? 0)} MiB`);
  });
  drag(drawn, svg, back, x, HEIGHT, WIDTH, () => s("rect", { class: "sel", y: 0, width: 0 }), at => set({ t: String(Math.round(at)) }),
    (from, to) => { if (to - from >= 10) set({ from: Math.round(from), to: Math.round(to) }); });
  return h("div", {}, drawn, also.words && h("p", { class: "soft", id: "beside" }, also.words[0].toUpperCase() + also.words.slice(1) + "."), happened.hidden > 0 && h("p", { class: "soft" }, `${happened.hidden} more phases are not drawn.`));
}

function legend(all: Layers): HTMLElement {
  const i = indexAt(all.t, cursor()), isPeak = state.t === "peak" && !all.sampled;
  const first = Math.max(0, indexAt(all.t, state.from)), last = Math.max(first, indexAt(all.t, state.to)), ended = Math.max(0, indexAt(all.t, endOf(state.place)));
  const rows = [...all.layers].reverse().map(l => h("tr", { "data-layer": l.key }, h("th", { class: "name", scope: "row", title: l.label },
    h("span", { class: "key" + (l.elastic ? " hatch" : ""), style: `background-color:var(--c${l.colour})` }), (l.elastic ? "~ " : "") + (all.sampled ? short(l.label) : l.label)),
    figure(isPeak ? l.peak : i < 0 ? 0 : l.bytes[i]), figure(l.bytes.slice(first, last + 1).reduce((a, b) => Math.max(a, b), 0)), figure(l.bytes[ended])));
  const sum = (of: (l: Layer) => number) => all.layers.reduce((a, l) => a + of(l), 0);
  rows.push(h("tr", { class: "total", "data-layer": "sum" }, h("th", { scope: "row" }, "sum"), figure(isPeak ? sum(l => l.peak) : i < 0 ? 0 : all.used[i]),
    figure(mostIn(all)), figure(all.used[ended])));
  return scroll("what the colours are", h("table", { id: "legend" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "MiB"), h("th", { class: "n", scope: "col" }, state.t === "peak" ? "at peak" : clock(cursor())),
    h("th", { class: "n", scope: "col" }, "most in range"), h("th", { class: "n", scope: "col" }, "at end"))), h("tbody", {}, ...rows)));
}

export function timeSection(): HTMLElement {
  measureWidth();
  const all = layers(), kinds: [string, string][] = [["account", "what it is for"]];
  if (page.time.category) kinds.push(["category", "tensors by category"]);
  if (page.moments.some(m => m.rows.length)) kinds.push(["line", "line of source"]);
  const zoomed = state.from !== whole.from_ns || state.to !== whole.to_ns;
  const controls = h("div", { class: "bar-row controls" },
    places.length > 1 && h("label", { class: "pick" }, "of ", h("select", { change: (e: any) => set({ place: +e.target.value, path: "" }) },
      ...places.map(p => h("option", { value: p, selected: p === state.place }, placeName(p))))),
    tabs("stacked by", kinds, stackedBy(), layers => set({ layers })),
    live(() => tabs("moment", [["peak", "peak"], ["end", "end"], ...peak.out_of_memory.map((o, i): [string, string] => [String(o.t_ns), "out of memory" + (i ? " " + (i + 1) : "")])].slice(0, 6) as [string, string][], state.t, t => set({ t }))),
    h("span", { class: "tabs", role: "group", "aria-label": "zoom" }, h("button", { type: "button", click: () => zoom(.5) }, "zoom in"), h("button", { type: "button", click: () => zoom(2), disabled: !zoomed }, "zoom out"),
      h("button", { type: "button", click: () => set({ from: whole.from_ns, to: whole.to_ns }), disabled: !zoomed }, "all of it")));
  if (!all.t.length) return section("time", "Over time", h("p", { class: "soft" }, "Nothing was recorded over time."));
  const now = h("p", { class: "soft", id: "now", role: "status" });
  follow(() => put(now, `${placeName(state.place)}, MiB. Cursor at ${clock(cursor())}`, zoomed ? `; range ${clock(state.from)} to ${clock(state.to)}.` : ". Click or use the arrow keys to move it, drag or + and - to look closer.",
    all.sampled ? ` By line at ${all.t.length} moments, of each part of the time the one with most.` : ""));
  return section("time", "Over time", controls, now, h("div", { class: "two" }, h("div", {}, plot(all), zoomed && h("div", {}, overview(all) as any)), live(() => legend(all))));
}
