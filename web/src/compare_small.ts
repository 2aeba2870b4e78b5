// SPDX-License-Identifier: Apache-2.0
// More than two recordings: each as a small plot, all to one scale; where their names are of two things, such as optimizer and accumulation, as a grid of these.
import { between } from "./axis";
import { endOf, kind, nameOf, panelOf, set, sides, state } from "./compare_data";
import { changeCell } from "./compare_change";
import type { Band, Panel } from "./data";
import { figure, h, mib, s, scroll, section, time } from "./dom";
import { GREY, most, preferred } from "./stack";

const WIDTH = 240, HEIGHT = 100;
const mostOf = (p: Panel | undefined): number => p ? Math.max(0, ...p.used_bytes, p.peak_used_bytes ?? 0) : 0;

// Words of a name, and whether all names differ in just two of them, which then are rows and columns.
function grid(): { rows: string[]; columns: string[]; at: Map<string, number> } | null {
  const names = sides.map((_, i) => nameOf(i).replace(/\.(tare|json)\b/, "").split(/[-_. =,]+/)), n = names[0].length;
  if (names.some(w => w.length !== n)) return null;
  const differ = [...Array(n).keys()].filter(k => names.some(w => w[k] !== names[0][k]));
  if (differ.length !== 2) return null;
  const of = (k: number) => [...new Set(names.map(w => w[k]))].sort((a, b) => a.localeCompare(b, "en", { numeric: true })), at = new Map(names.map((w, i) => [w[differ[0]] + "\n" + w[differ[1]], i]));
  return at.size === sides.length ? { rows: of(differ[0]), columns: of(differ[1]), at } : null;
}

type Shown = { key: string; label: string; elastic: boolean; most: number; colour: number };
const COLOURS = 8;

// The parts that are largest somewhere, each with one colour in all pictures; the others are grey, and together.
function choose(panels: (Panel | undefined)[]): Shown[] {
  const by = new Map<string, Shown>(), taken = new Set<number>();
  for (const b of panels.flatMap(p => p?.bands ?? [])) {
    const was = by.get(b.key) ?? { key: b.key, label: b.label, elastic: b.elastic, most: 0, colour: GREY };
    was.most = Math.max(was.most, b.peak_bytes ?? 0, most(b.bytes));
    by.set(b.key, was);
  }
  const all = [...by.values()].sort((a, b) => b.most - a.most), shown = all.slice(0, COLOURS);
  for (const l of shown) {
    l.colour = preferred[l.key] ?? 0;
    while (taken.has(l.colour)) l.colour = (l.colour + 1) % COLOURS;
    taken.add(l.colour);
  }
  return all;
}

function picture(i: number, long: number, high: number, shown: Shown[]): SVGElement {
  const panel = panelOf(i, kind()), x = (t: number) => WIDTH * t / long, y = (b: number) => HEIGHT * (1 - b / high);
  const svg = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true", preserveAspectRatio: "none" }, s("path", { class: "grid", d: `M0 ${HEIGHT}H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}` }));
  if (!panel) return svg;
  const colour = (b: Band) => shown.find(l => l.key === b.key)?.colour ?? GREY;
  let low = panel.t_ns.map(() => 0);
  for (const grey of [true, false])
    for (const b of panel.bands.filter(b => (colour(b) === GREY) === grey)) {
      const up = low.map((bytes, k) => Math.max(0, Math.min(Math.max(panel.used_bytes[k], 0), bytes + b.bytes[k])));
      svg.append(s("path", { d: between(panel.t_ns, low, up, endOf(i), x, y), style: `fill:var(--c${colour(b)})` }, s("title", {}, b.label)));
      low = up;
    }
  return svg;
}

export function smallSection(): HTMLElement | false {
  if (sides.length < 3) return false;
  const panels = sides.map((_, i) => panelOf(i, kind())), long = Math.max(1, ...sides.map((_, i) => endOf(i))), high = Math.max(1, ...panels.map(mostOf));
  const shown = choose(panels);
  const cell = (i: number | undefined) => i == null ? h("div", {}) : h("button", { type: "button", class: "small", "data-side": i, "data-bytes": mostOf(panels[i]), "aria-pressed": String(i === state.pair), disabled: i === 0,
    "aria-label": `${nameOf(i)}: ${mib(mostOf(panels[i]))} MiB at most${i ? "" : ", what the others are compared with"}`, click: () => set({ pair: i, by: "", t: "" }) },
    h("span", { class: "name" }, nameOf(i)), h("b", {}, mib(mostOf(panels[i]))), picture(i, state.run ? endOf(i) || 1 : long, high, shown) as any);
  const of = grid();
  const body = of ? h("div", { class: "smalls", style: `grid-template-columns:max-content repeat(${of.columns.length},minmax(7rem,15rem))` }, h("span", {}), ...of.columns.map(c => h("b", {}, c)),
    ...of.rows.flatMap(r => [h("b", {}, r), ...of.columns.map(c => cell(of.at.get(r + "\n" + c)))])) : h("div", { class: "smalls free" }, ...sides.map((_, i) => cell(i)));
  const base = mostOf(panels[0]);
  return section("all", "All of them", h("p", { class: "soft" }, `Each to the same scale: ${mib(high)} MiB high, ${state.run ? "as wide as its own length" : `${time(long)} long`}. The figure is the most that was used. A click compares one with ${nameOf(0)}.`),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "recordings" }, body),
    h("p", { class: "keys" }, ...shown.filter(l => l.colour !== GREY).map(l => key(l.label, l.colour)), shown.some(l => l.colour === GREY) && key("all else", GREY)),
    h("details", {}, h("summary", {}, "As a table"), scroll("recordings", h("table", { id: "sides" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "recording"), h("th", { class: "n", scope: "col" }, "most, MiB"), h("th", { class: "n", scope: "col" }, "beside the first"), h("th", { class: "n", scope: "col" }, "lasted"))),
      h("tbody", {}, ...sides.map((_, i) => h("tr", { "data-side": i }, h("th", { class: "name", scope: "row" }, nameOf(i)), figure(panels[i] ? mostOf(panels[i]) : null), i && panels[i] ? changeCell(mostOf(panels[i]) - base) : h("td", { class: "n" }, "–"), h("td", { class: "n" }, sides[i].time.account ? time(endOf(i)) : "–"))))))));
}

const key = (label: string, colour: number): HTMLElement => h("span", {}, h("span", { class: "key", style: `background-color:var(--c${colour})` }), label);
