// SPDX-License-Identifier: Apache-2.0
// Both recordings over time on one plot: what was used, or one part of it; a cursor that reads both, a range to look into.
import { drag, steps, ticks } from "./axis";
import { changeCell } from "./compare_change";
import { endOf, isOne, kind, nameOf, panelOf, set, sides, state } from "./compare_data";
import type { Band, Panel } from "./data";
import { figure, h, mib, plain, put, s, scroll, section, short, tabs, time } from "./dom";
import { follow, live } from "./live";
import { room } from "./shell";
import { indexAt } from "./stack";

const HEIGHT = 260, LEFT = 64, PARTS = 1e6;
let WIDTH = 1000;

type Curve = { side: number; panel: Panel; end: number; t: number[]; bytes: number[]; now: number | null };

const bandOf = (panel: Panel, key: string): Band | undefined => panel.bands.find(b => b.key === key);
const none: Panel = { device: null, t_ns: [], used_bytes: [], bands: [], bounds: [] };
const compared = (): number[] => [0, state.pair];
// Of one recording there is one course, with two dots.
const drawn = (all: Curve[]): Curve[] => isOne() ? all.slice(0, 1) : all;
const called = (c: Curve): string => isOne() ? short(sides[c.side].source.replace(/\/+$/, "")) : nameOf(c.side);
const unit = (side: number, t: number): number => state.run ? PARTS * t / (endOf(side) || 1) : t;

function curve(side: number): Curve {
  const panel = panelOf(side, kind()) ?? none, bytes = state.what ? bandOf(panel, state.what)?.bytes ?? panel.t_ns.map(() => 0) : panel.used_bytes;
  const t = panel.t_ns.map(at => unit(side, at)), at = sides[side].at === "peak" && panel.peak_t_ns != null ? panel.peak_t_ns : sides[side].t_ns;
  return { side, panel, end: unit(side, endOf(side)), t, bytes, now: at == null ? null : unit(side, at) };
}

const at = (c: Curve, bytes: number[], u: number): number | null => u > c.end || !c.t.length ? null : bytes[indexAt(c.t, u)] ?? 0;
const mostOf = (c: Curve): number => Math.max(0, ...c.bytes, state.what ? bandOf(c.panel, state.what)?.peak_bytes ?? 0 : c.panel.peak_used_bytes ?? 0);
const whole = (all: Curve[]): number => Math.max(1, ...all.map(c => c.end));
const written = (u: number, step = 0): string => state.run ? `${(100 * u / PARTS).toFixed(step && step < PARTS / 100 ? 2 : 0)} %` : time(u, step);

const cursor = (): number | null => state.t === "" ? null : +state.t;

function plot(all: Curve[]): HTMLElement {
  const from = state.from, to = state.to || whole(all), most = Math.max(1, ...all.map(mostOf));
  const x = (u: number): number => LEFT + (WIDTH - LEFT) * (Math.min(to, Math.max(from, u)) - from) / (to - from), y = (b: number): number => HEIGHT * (1 - b / most * .96);
  const back = (px: number): number => from + (to - from) * Math.min(1, Math.max(0, (px - LEFT) / (WIDTH - LEFT))), parts = WIDTH < 500 ? 2 : 5;
  const lines = drawn(all).map((c, k) => s("path", { class: "curve c" + k, "data-side": c.side, d: steps(c.t, c.bytes, c.end, x, y) }, s("title", {}, called(c))));
  const dots = all.filter(c => c.now != null && c.now >= from && c.now <= to && c.t.length).map(c => s("circle", { class: "dot c" + all.indexOf(c), cx: x(c.now!), cy: y(Math.max(...c.bytes.slice(Math.max(0, indexAt(c.t, c.now!)), indexAt(c.t, c.now!) + 1), 0)), r: 4 },
    s("title", {}, `${nameOf(c.side)}: the instant that is compared, ${written(c.now!)}`)));
  const svg = s("svg", { viewBox: `0 -4 ${WIDTH} ${HEIGHT + 26}`, "aria-hidden": "true" },
    ...ticks(most).flatMap(v => [s("path", { class: "grid", d: `M${LEFT} ${y(v).toFixed(1)}H${WIDTH}` }), s("text", { class: "soft", x: LEFT - 6, y: y(v) + 4, "text-anchor": "end" }, mib(v))]),
    ...Array.from({ length: parts + 1 }, (_, i) => s("text", { class: "soft", x: LEFT + (WIDTH - LEFT) * i / parts, y: HEIGHT + 16, "text-anchor": i === 0 ? "start" : i === parts ? "end" : "middle" }, written(from + (to - from) * i / parts, (to - from) / 500))),
    ...lines, ...dots, live(() => {
      const at = cursor();
      return s("path", { class: "cursor", d: at != null && at >= from && at <= to ? `M${x(at).toFixed(1)} 0V${HEIGHT}` : "" });
    }));
  const points = [...new Set(all.flatMap(c => c.t))].sort((a, b) => a - b);
  const move = (key: string): void => {
    const now = cursor(), i = now == null ? 0 : indexAt(points, now), last = points.length - 1, jump = Math.max(1, Math.round(last / 20));
    const to = { ArrowLeft: i - 1, ArrowRight: i + 1, PageDown: i - jump, PageUp: i + jump, Home: 0, End: last }[key];
    if (to != null && last >= 0) set({ t: String(points[Math.min(last, Math.max(0, to))]) });
  };
  const box = h("div", { class: "plot", id: "plot", tabindex: 0, role: "slider", "aria-label": "moment", "aria-valuemin": 0, "aria-valuemax": Math.round(whole(all)),
    keydown: (e: KeyboardEvent) => {
      if (e.key === "+" || e.key === "-") zoom(e.key === "+" ? .5 : 2, whole(all));
      else if (/^(Arrow(Left|Right)|Page(Up|Down)|Home|End)$/.test(e.key)) move(e.key);
      else return;
      e.preventDefault();
    } }, svg as any);
  follow(() => {
    const now = cursor();
    box.setAttribute("aria-valuenow", String(Math.round(now ?? 0)));
    box.setAttribute("aria-valuetext", plain(now == null ? "no moment" : `${written(now)}: ${drawn(all).map(c => `${called(c)} ${mib(at(c, c.bytes, now))} MiB`).join(", ")}`));
  });
  drag(box, svg, back, x, HEIGHT, WIDTH, () => s("rect", { class: "sel", y: 0, width: 0 }), u => set({ t: String(Math.round(u)) }), (a, b) => set({ from: Math.round(a), to: Math.round(b) }));
  return box;
}

function zoom(factor: number, end: number): void {
  const from = state.from, to = state.to || end, middle = state.t === "" ? (from + to) / 2 : Math.min(to, Math.max(from, +state.t)), half = (to - from) * factor / 2;
  const next = [Math.max(0, Math.round(middle - half)), Math.min(end, Math.round(middle + half))];
  if (next[1] - next[0] >= 10) set(next[0] === 0 && next[1] === Math.round(end) ? { from: 0, to: 0 } : { from: next[0], to: next[1] });
}

// Each band of both: a click draws that band alone.
function legend(all: Curve[]): HTMLElement {
  const bands = new Map<string, string>(), now = cursor();
  for (const c of all) for (const b of c.panel.bands) bands.set(b.key, b.label);
  const value = (c: Curve, key: string) => {
    const band = key ? bandOf(c.panel, key) : undefined, bytes = key ? band?.bytes ?? c.t.map(() => 0) : c.panel.used_bytes;
    return now == null ? Math.max(0, ...bytes, key ? band?.peak_bytes ?? 0 : c.panel.peak_used_bytes ?? 0) : at(c, bytes, now);
  };
  const row = (key: string, label: string) => {
    const [a, b] = all.map(c => c.t.length ? value(c, key) : null);
    return h("tr", { "data-band": key || "used", class: key ? "" : "total" }, h("th", { class: "name", scope: "row" }, h("button", { type: "button", "aria-pressed": String(state.what === key), click: () => set({ what: key }) }, label)), figure(a),
      ...(isOne() ? [] : [figure(b), a == null || b == null ? h("td", { class: "n" }, "–") : changeCell(b - a)]));
  };
  const head = (c: Curve, k: number) => h("th", { class: "n", scope: "col" }, h("span", { class: "line c" + k }), called(c));
  return scroll("both", h("table", { id: "legend" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, now == null ? "most, MiB" : `at ${written(now)}, MiB`), ...drawn(all).map(head), isOne() ? null : h("th", { class: "n", scope: "col" }, "change"))),
    h("tbody", {}, row("", "used"), ...[...bands].map(([key, label]) => row(key, label)).sort((a, b) => figures(b) - figures(a)))));
}

const figures = (row: HTMLElement): number => Math.max(...[...row.querySelectorAll<HTMLElement>("td[data-bytes]")].slice(0, 2).map(c => Number(c.dataset.bytes)));

export function curvesSection(): HTMLElement {
  WIDTH = Math.max(280, room() >= 928 ? room() - 27 * 16 - 24 : room());
  const all = compared().map(curve), zoomed = state.to > 0, missing = all.filter(c => !c.t.length);
  const said = missing.map(c => h("p", { class: "soft" }, sides[c.side].time.account ? `${nameOf(c.side)} has no course of time here.` : `${nameOf(c.side)} is a saved report: it has no course of time.`));
  if (missing.length === all.length) return section("time", isOne() ? "Over time" : "Both over time", ...said);
  const now = h("p", { class: "soft", id: "now", role: "status" });
  follow(() => put(now, `${state.what ? [...all[0].panel.bands, ...all[1].panel.bands].find(b => b.key === state.what)?.label ?? "nothing" : "What is used"}, MiB. ` + (state.t === "" ? `Dots are the instants that are compared. Click or use the arrow keys to read ${isOne() ? "it" : "both"}, drag or + and - to look closer.` : `Cursor at ${written(+state.t)}.`)));
  return section("time", isOne() ? "Over time" : "Both over time", h("div", { class: "bar-row controls" }, isOne() ? null : tabs("axis", [["time", "seconds"], ["run", "each run's own length"]], state.run ? "run" : "time", v => set({ run: v === "run", t: "", from: 0, to: 0 })),
    h("span", { class: "tabs", role: "group", "aria-label": "zoom" }, h("button", { type: "button", click: () => zoom(.5, whole(all)) }, "zoom in"), h("button", { type: "button", click: () => zoom(2, whole(all)), disabled: !zoomed }, "zoom out"),
      h("button", { type: "button", click: () => set({ from: 0, to: 0 }), disabled: !zoomed }, "all of it")),
    live<ChildNode>(() => state.t !== "" ? h("button", { type: "button", click: () => set({ t: "" }) }, "no cursor") : document.createComment(""))),
    now,
    ...said, h("div", { class: "two" }, plot(all), live(() => legend(all))));
}
