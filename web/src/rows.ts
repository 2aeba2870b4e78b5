// SPDX-License-Identifier: Apache-2.0
// Rows that hold memory, as a table: what the search finds of them, in the order of the column that is chosen, their sum below.
import { count, figure, h, part, scroll, short, size } from "./dom";
import { isHeap } from "./model";
import { textOf } from "./source";
import { set, state } from "./state";

// `ever`: what was handed out so far. `frames`: of a stack, the innermost first; `label` has them all.
export type Line = { label: string; size: number; objects: number; ever?: number; everBytes?: number; evidence?: string; frames?: string[] };

const ROWS_MAX = 50; // and of what holds nothing any more no row, where the rows are in the order of what they hold
const orders: { [key: string]: (a: Line, b: Line) => number } = { size: (a, b) => b.size - a.size, objects: (a, b) => b.objects - a.objects, ever: (a, b) => (b.ever ?? 0) - (a.ever ?? 0),
  each: (a, b) => b.size / (b.objects || 1) - a.size / (a.objects || 1), label: (a, b) => a.label < b.label ? -1 : 1 };

// A head that orders the table by its column, the other way round where it is the one already.
function head(key: string, text: string, cls = "n"): HTMLElement {
  const [by, back] = [state.sort.replace("-", ""), state.sort.startsWith("-")], is = by === key;
  return h("th", { class: cls, scope: "col", "aria-sort": is ? ((key === "label") !== back ? "ascending" : "descending") : null },
    h("button", { type: "button", id: "by-" + key, title: "order by " + text, click: () => set({ sort: is && !back ? "-" + key : key }) }, text, h("span", { "aria-hidden": "true" }, is ? ((key === "label") !== back ? " ▲" : " ▼") : "")));
}

const text = (label: string): HTMLElement | null => textOf(label) ? h("code", {}, textOf(label)!) : null;

function name(r: Line): HTMLElement {
  const [inner, ...callers] = r.frames ?? [r.label];
  return h("th", { class: "name", scope: "row", title: r.frames ? inner : r.label }, short(inner), text(inner), callers.length > 0 &&
    h("details", {}, h("summary", {}, callers.length === 1 ? "1 caller" : `${callers.length} callers`), h("ol", { class: "callers" }, ...callers.map(c => h("li", { title: c }, short(c), text(c))))));
}

export function table(rows: Line[], total: number, title: string, id: string): HTMLElement {
  const q = state.q.toLowerCase(), order = orders[state.sort.replace("-", "")] ?? orders.size, back = state.sort.startsWith("-") ? -1 : 1;
  const shown = rows.filter(r => !q || r.label.toLowerCase().includes(q)).sort((a, b) => back * order(a, b)), held = order === orders.size && back > 0 ? shown.filter(r => r.size).length : ROWS_MAX;
  const nr = state.all ? shown.length : Math.min(ROWS_MAX, held);
  const evidence = rows.some(r => r.evidence), ever = rows.some(r => r.ever), sum = (of: Line[]) => of.reduce((a, r) => a + r.size, 0);
  return scroll(title, h("table", { id }, h("thead", {}, h("tr", {}, head("label", title, "name"), head("size", "MiB"), h("th", { class: "n", scope: "col" }, "of all"),
    head("objects", "objects"), head("each", "each"), ever && head("ever", isHeap(state.place) ? "calls so far" : "ever allocated"), ever && h("th", { class: "n", scope: "col" }, isHeap(state.place) ? "each call" : "each, ever"), evidence && h("th", { scope: "col" }, "evidence"))),
    h("tbody", {}, ...shown.slice(0, nr).map(r => h("tr", { "data-label": r.label }, name(r), figure(r.size), h("td", { class: "n" }, part(r.size, total)),
      h("td", { class: "n" }, count(r.objects)), h("td", { class: "n" }, r.objects ? size(r.size / r.objects) : "–"), ever && h("td", { class: "n", "data-ever": r.ever ?? 0, "data-ever-bytes": r.everBytes ?? 0 }, count(r.ever ?? 0)), ever && h("td", { class: "n" }, r.ever ? size(r.everBytes! / r.ever) : "–"), evidence && h("td", {}, r.evidence ?? ""))),
      shown.length > nr && h("tr", {}, h("th", { class: "name", scope: "row" }, h("button", { type: "button", id: "all-rows", click: () => set({ all: true }) }, `${count(shown.length - nr)} more`)), figure(sum(shown.slice(nr)))),
      h("tr", { class: "total" }, h("th", { scope: "row" }, q ? "sum of what was found" : "sum"), figure(sum(shown))))));
}
