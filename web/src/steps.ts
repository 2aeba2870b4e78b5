// SPDX-License-Identifier: Apache-2.0
// Steps laid over one another: what each had at most, in their order, and the course of each from its begin; the one that is chosen is the range of everything else.
import { ticks } from "./axis";
import { CPU, Report, Row, page, peak } from "./data";
import { STEPS, change, count, figure, h, mib, s, scroll, section, tabs, time } from "./dom";
import { set, state, whole } from "./state";
import { steps as line, between } from "./axis";
import { plainTable } from "./more";
import { room } from "./shell";

export type Step = { step: number; begin_ns: number; ns: number; peak_used_bytes: number | null; peak_tensor_bytes: number };
type Curves = { axis_ns: number; used: (number | null)[][]; live: (number | null)[][]; by_time?: Bands; by_part?: Bands };
type Bands = { used: (number | null)[][]; live: (number | null)[][] };
type Training = { program: string; device: number | null; pid: number; steps: number; steps_by: string; each: Step[]; first: Row | null; steady: Row | null };
type Drawn = { of: Training; curves: Curves | undefined; live: boolean; first: number; most: number; grew: number; chosen: number };

const STRIP = 90, HEIGHT = 240, LEFT = 64;
let WIDTH = 1000;

const trainings = (peak as unknown as { training: Training[] }).training;

// The training of the place that is looked at.
function index(): number {
  const at = trainings.findIndex(t => (t.device ?? CPU) === state.place);
  return at >= 0 ? at : 0;
}

const value = (d: Drawn, i: number): number => d.live ? d.of.each[i].peak_tensor_bytes : d.of.each[i].peak_used_bytes ?? 0;

function drawn(): Drawn {
  const i = index(), of = trainings[i], curves = page.steps[i], live = of.device == null || state.measure === "tensors";
  const d: Drawn = { of, curves: curves && curves.used.length === of.each.length ? curves : undefined, live, first: 0, most: 0, grew: -1, chosen: of.each.findIndex(e => e.step === state.step) };
  for (let k = 1; k < of.each.length; k++) {
    if (value(d, k) > value(d, d.most)) d.most = k;
    if (value(d, k) > value(d, k - 1) && (d.grew < 0 || value(d, k) - value(d, k - 1) > value(d, d.grew) - value(d, d.grew - 1))) d.grew = k;
  }
  return d;
}

// What differs: the first, the one with most, the one that grew; and the one that is looked at.
function told(d: Drawn): { i: number; name: string; line: string }[] {
  const out: { i: number; name: string; line: string }[] = [], add = (i: number, name: string, line: string) => { if (i >= 0 && i < d.of.each.length && !out.some(o => o.i === i)) out.push({ i, name, line }); };
  add(d.chosen, `step ${d.of.each[d.chosen]?.step}, chosen`, "c2");
  add(d.first, "the first", "c0");
  add(d.most, `step ${d.of.each[d.most]?.step}, the most`, "c1");
  if (d.grew > 0) add(d.grew, `step ${d.of.each[d.grew].step}, grew most`, "c5");
  return out;
}

function choose(d: Drawn, i: number): void {
  const e = d.of.each[Math.min(d.of.each.length - 1, Math.max(0, i))], from = Math.max(whole.from_ns, e.begin_ns), to = Math.min(whole.to_ns, e.begin_ns + e.ns);
  set({ step: e.step, place: d.of.device ?? CPU, ...(to - from >= 10 ? { from, to, t: String(mostOf(from, to)) } : {}), span: "most", path: "" });
}

// The moment of the plot with most in use in there.
function mostOf(from: number, to: number): number {
  const panel = whole.panels.find(p => (p.device ?? CPU) === state.place);
  let at = from, most = -1;
  panel?.t_ns.forEach((t, k) => { if (t >= from && t < to && panel.used_bytes[k] > most) { most = panel.used_bytes[k]; at = t; } });
  return at;
}

function slider(d: Drawn, id: string, label: string, svg: SVGElement, at: (px: number) => number): HTMLElement {
  const last = d.of.each.length - 1, jump = Math.max(1, Math.round(last / 20)), e = d.of.each[d.chosen];
  return h("div", { class: "plot", id, tabindex: 0, role: "slider", "aria-label": label, "aria-valuemin": 1, "aria-valuemax": d.of.steps, "aria-valuenow": e?.step ?? 1,
    "aria-valuetext": e ? `step ${e.step}: ${mib(value(d, d.chosen))} MiB, ${time(e.ns)}` : "no step is chosen",
    keydown: (event: KeyboardEvent) => {
      const to = { ArrowLeft: d.chosen - 1, ArrowRight: d.chosen + 1, PageDown: d.chosen - jump, PageUp: d.chosen + jump, Home: 0, End: last }[event.key];
      if (to == null) return;
      event.preventDefault();
      choose(d, to);
    },
    click: (event: MouseEvent) => { const r = svg.getBoundingClientRect(), i = at((event.clientX - r.left) / r.width * WIDTH); if (i >= 0) choose(d, i); } }, svg as any);
}

// The most of each step, in their order. Not from 0: what differs is small beside what is always there.
function strip(d: Drawn): HTMLElement {
  const all = d.of.each, values = all.map((_, i) => value(d, i)), high = values.reduce((a, b) => Math.max(a, b), 1), low = values.reduce((a, b) => Math.min(a, b), high);
  const floor = high - low > high / 4 || high === low ? 0 : Math.max(0, low - (high - low) / 3), y = (b: number) => STRIP * (1 - (b - floor) / (high - floor || 1) * .95), width = (WIDTH - LEFT) / all.length, bar = Math.min(24, width > 4 ? width * .8 : width);
  const colour = (i: number) => i === d.chosen ? "var(--ink)" : i === d.first ? "var(--c0)" : i === d.most ? "var(--bad)" : i === d.grew ? "var(--c5)" : "var(--c8)";
  const marks = [low, high].filter((b, i, a) => a.indexOf(b) === i);
  const svg = s("svg", { viewBox: `0 -6 ${WIDTH} ${STRIP + 26}`, "aria-hidden": "true" }, ...marks.flatMap(v => [s("path", { class: "grid", d: `M${LEFT} ${y(v).toFixed(1)}H${WIDTH}` }), s("text", { x: LEFT - 6, y: y(v) + 4, "text-anchor": "end", class: "soft" }, mib(v))]),
    ...all.map((e, i) => s("rect", { x: (LEFT + width * i + (width - bar) / 2).toFixed(1), y: y(values[i]).toFixed(1), width: bar.toFixed(2), height: Math.max(1, STRIP - y(values[i])).toFixed(1), style: `fill:${colour(i)}` }, s("title", {}, `step ${e.step}: ${mib(values[i])} MiB, ${time(e.ns)}`))),
    s("text", { x: LEFT, y: STRIP + 15, class: "soft" }, "step 1"), s("text", { x: WIDTH, y: STRIP + 15, class: "soft", "text-anchor": "end" }, `step ${count(all[all.length - 1].step)}`));
  return slider(d, "step-strip", "step", svg, px => Math.floor((px - LEFT) / width));
}

type Plot = { x: (part: number, ns: number) => number; y: (b: number) => number; axis: number };

// Parts of a step as times and bytes; what is not known begins no line.
function curveOf(row: (number | null)[], ns: number, p: Plot): string {
  const n = row.length, t: number[] = [], bytes: number[] = [];
  row.forEach((b, i) => { if (b != null && p.x(i / n, ns) < WIDTH) { t.push(i / n); bytes.push(b); } });
  return line(t, bytes, 1, part => Math.min(WIDTH, p.x(part, ns)), p.y);
}

function overlay(d: Drawn): HTMLElement | false {
  const curves = d.curves, all = d.of.each;
  if (!curves) return false;
  const rows = d.live ? curves.live : curves.used, byPart = state.parts, longest = told(d).reduce((a, o) => Math.max(a, all[o.i].ns), 0), bands = (byPart ? curves.by_part : curves.by_time)?.[d.live ? "live" : "used"];
  const axis = byPart ? 1 : state.long ? Math.max(longest, curves.axis_ns) : curves.axis_ns * 1.15, bytes = rows.flat().filter((b): b is number => b != null);
  if (!bytes.length) return false;
  const high = bytes.reduce((a, b) => Math.max(a, b), 1), low = bytes.reduce((a, b) => Math.min(a, b), high), floor = low < high / 3 ? 0 : Math.max(0, low - (high - low) / 8);
  const p: Plot = { axis, x: (part, ns) => LEFT + (WIDTH - LEFT) * (byPart ? part : part * ns / axis), y: b => HEIGHT * (1 - (b - floor) / (high - floor || 1) * .96) };
  const span = byPart ? 1 : curves.axis_ns, parts = rows[0].length;
  const area = (a: number, b: number, opacity: number) => {
    const known = bands![a].map((v, i) => i).filter(i => bands![a][i] != null), t = known.map(i => i / parts);
    return s("path", { d: between(t, known.map(i => bands![a][i]!), known.map(i => bands![b][i]!), 1, part => Math.min(WIDTH, LEFT + (WIDTH - LEFT) * part * (byPart ? 1 : span / axis)), p.y), style: `fill:var(--c8);opacity:${opacity}` });
  };
  const median = () => curveOf(bands![2], byPart ? 1 : span, p), pieces = WIDTH < 500 ? 2 : 5;
  const at = (i: number) => floor ? floor + (high - floor) * i / 4 : 0, grid = floor ? [0, 1, 2, 3, 4].map(at) : ticks(high);
  const svg = s("svg", { viewBox: `0 -4 ${WIDTH} ${HEIGHT + 26}`, "aria-hidden": "true" }, ...grid.flatMap(v => [s("path", { class: "grid", d: `M${LEFT} ${p.y(v).toFixed(1)}H${WIDTH}` }), s("text", { x: LEFT - 6, y: p.y(v) + 4, "text-anchor": "end", class: "soft" }, mib(v))]),
    ...Array.from({ length: pieces + 1 }, (_, i) => s("text", { x: LEFT + (WIDTH - LEFT) * i / pieces, y: HEIGHT + 16, class: "soft", "text-anchor": i === 0 ? "start" : i === pieces ? "end" : "middle" }, byPart ? `${100 * i / pieces} %` : time(axis * i / pieces, axis / STEPS))),
    ...(bands ? [area(0, 4, .25), area(1, 3, .45), s("path", { class: "step-line median", d: median() }, s("title", {}, "the median of the others"))] : all.map((e, i) => s("path", { class: "step-line other", d: curveOf(rows[i], e.ns, p) }, s("title", {}, `step ${e.step}`)))),
    ...told(d).reverse().map(o => s("path", { class: "step-line " + o.line, "data-step": all[o.i].step, d: curveOf(rows[o.i], all[o.i].ns, p) }, s("title", {}, o.name))));
  const nearest = (px: number, py: number) => all.map((e, i) => ({ i, part: (byPart ? (px - LEFT) / (WIDTH - LEFT) : (px - LEFT) / (WIDTH - LEFT) * axis / (e.ns || 1)) })).filter(o => o.part >= 0 && o.part < 1)
    .map(o => ({ i: o.i, far: Math.abs(p.y(rows[o.i][Math.floor(o.part * parts)] ?? -1e18) - py) })).reduce((a, b) => b.far < a.far ? b : a, { i: -1, far: Infinity }).i;
  const name = h("span", { class: "soft", id: "step-near" });
  const box = h("div", { class: "plot", id: "step-plot", "aria-hidden": "true",
    click: (e: MouseEvent) => { const i = nearest(...place(e)); if (i >= 0) choose(d, i); },
    pointermove: (e: PointerEvent) => {
      const i = nearest(...place(e));
      over.setAttribute("d", i < 0 ? "" : curveOf(rows[i], all[i].ns, p));
      name.textContent = i < 0 ? "" : `Step ${count(all[i].step)}: ${mib(value(d, i))} MiB at most, ${time(all[i].ns)}. A click chooses it.`;
    },
    pointerleave: () => { over.setAttribute("d", ""); name.textContent = ""; } }, svg as any);
  const over = svg.appendChild(s("path", { class: "step-line over", d: "" }));
  const place = (e: MouseEvent): [number, number] => { const r = svg.getBoundingClientRect(); return [(e.clientX - r.left) / r.width * WIDTH, (e.clientY - r.top) / r.height * (HEIGHT + 26) - 4]; };
  return h("div", {}, h("div", { class: "bar-row controls" }, tabs("axis", [["time", "time since its begin"], ["part", "each step's own length"]], byPart ? "part" : "time", v => set({ parts: v === "part" })),
    !byPart && longest > curves.axis_ns * 1.15 && h("button", { type: "button", "aria-pressed": String(state.long), click: () => set({ long: !state.long }) }, "as long as the longest")),
    h("p", { class: "keys" }, ...told(d).map(o => h("span", {}, h("span", { class: "line " + o.line }), o.name)), ...(bands ? [h("span", {}, h("span", { class: "line median" }), "median of the others"), h("span", {}, h("span", { class: "key", style: "background-color:var(--c8);opacity:.55" }), "eight of ten, and all of them")] : [h("span", {}, h("span", { class: "line other" }), "the others")])), box, h("p", { class: "controls" }, name), floor > 0 && h("p", { class: "soft" }, `The axis begins at ${mib(floor)} MiB, not at 0.`));
}

function table(d: Drawn): HTMLElement {
  const middle = [...d.of.each.slice(1)].map(e => e).sort((a, b) => (d.live ? a.peak_tensor_bytes - b.peak_tensor_bytes : (a.peak_used_bytes ?? 0) - (b.peak_used_bytes ?? 0)));
  const typical = middle.length ? (d.live ? middle[middle.length >> 1].peak_tensor_bytes : middle[middle.length >> 1].peak_used_bytes ?? 0) : 0;
  const row = (i: number, name: string) => { const e = d.of.each[i]; return h("tr", { "data-step": e.step }, h("th", { scope: "row" }, h("button", { type: "button", "aria-pressed": String(i === d.chosen), click: () => choose(d, i) }, name)), h("td", { class: "n" }, time(e.begin_ns)), h("td", { class: "n" }, time(e.ns)),
    d.of.device != null && figure(e.peak_used_bytes), figure(e.peak_tensor_bytes), h("td", { class: "n", "data-bytes": value(d, i) - typical, title: count(value(d, i) - typical) + " bytes" }, change(value(d, i) - typical))); };
  const head = (text: string, n = true) => h("th", { scope: "col", class: n ? "n" : "" }, text), last = d.of.each.length - 1, rows = told(d);
  if (!rows.some(o => o.i === last)) rows.push({ i: last, name: `step ${d.of.each[last].step}, the last`, line: "" });
  return scroll("steps that differ", h("table", { id: "t-step" }, h("thead", {}, h("tr", {}, head("MiB", false), head("at"), head("time"), d.of.device != null && head(d.of.device === 1000 ? "peak of the heap" : "peak of the GPU"), head("peak of tensors"), head("beside the median"))), h("tbody", {}, ...rows.map(o => row(o.i, o.name)))));
}

const words: { [by: string]: string } = { phases: "by phases that are called steps", optimizer: "by the optimizer", optimizers: "of several optimizers", backward: "by backward passes" };

export function stepsSection(): HTMLElement | false {
  if (!page.time.account.panels.length) return false;
  if (!trainings.length) return section("steps", "Steps", h("p", { class: "soft" }, "No steps are known: the program ran no optimizer of PyTorch at least twice, and has no phases that are called “step”. tare.phase(\"step\"), or NVTX ranges of such names, tell them."));
  WIDTH = Math.max(280, room());
  const d = drawn(), kept = d.of.each.length, chosen = d.of.each[d.chosen];
  if (!kept) return section("steps", "Steps", h("p", { class: "soft" }, `${count(d.of.steps)} steps; when they were is not known any more.`), usual(d.of));
  const growth = kept > 1 && d.grew > 0 ? `; it grew most at step ${count(d.of.each[d.grew].step)}, which had ${mib(value(d, d.grew) - value(d, d.grew - 1))} MiB above the one before it${kept < d.of.steps ? " here" : ""}` : "";
  return section("steps", "Steps", trainings.length > 1 && h("label", { class: "pick controls" }, "of ", h("select", { change: (e: any) => set({ place: trainings[+e.target.value].device ?? CPU, step: 0 }) }, ...trainings.map((t, i) => h("option", { value: i, selected: i === index() }, `${t.program} (pid ${t.pid})`)))),
    h("p", { id: "steps-now", role: "status" }, `${d.of.program}: ${count(d.of.steps)} steps, ${words[d.of.steps_by] ?? ""}${kept < d.of.steps ? `; of each ${count(Math.ceil(d.of.steps / kept))} in a row the page has the one with most` : ""}. `,
      h("b", {}, d.live ? "Live tensors" : d.of.device === 1000 ? "The heap" : "The GPU"), " had at most ", h("b", { "data-bytes": value(d, d.most) }, mib(value(d, d.most))), ` MiB in step ${d.of.each[d.most].step}; the first step had ${mib(value(d, 0))}${growth}.`,
      chosen ? ` Step ${chosen.step} is chosen: everything on the page is of its time.` : " Click a step, or use the arrow keys: everything on the page is of its time then."),
    h("div", { class: "bar-row controls" }, d.of.device != null && d.of.device !== 1000 && tabs("what is counted", [["bytes", "memory of the GPU"], ["tensors", "live tensors"]], d.live ? "tensors" : "bytes", measure => set({ measure })),
      chosen && h("button", { type: "button", click: () => set({ step: 0, from: whole.from_ns, to: whole.to_ns, t: "peak", span: "moment" }) }, "no step")),
    h("h3", {}, "What each had at most, MiB"), strip(d), h("h3", {}, "Laid over one another, MiB"), overlay(d) || h("p", { class: "soft" }, "Their courses are not known: the events of that time are gone."), table(d), usual(d.of));
}

function usual(t: Training): HTMLElement | false {
  return !!t.first && h("details", {}, h("summary", {}, "The first beside the median of the others"), plainTable([{ step: "the first", ...t.first }, ...(t.steady ? [{ step: "median of the others", ...t.steady }] : [])], ["step", "ns", "driver_ns", "allocations", "allocated_bytes", "peak_used_bytes", "peak_tensor_bytes"], "t-steps"));
}
