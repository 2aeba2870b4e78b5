// SPDX-License-Identifier: Apache-2.0
// What came and what went: a sentence, the largest changes as bars to both sides of a line, and every row of every view.
import { CPU, Change, isLittle, isOne, largePlaces, nameOf, pairNow, placeOf, places, set, sides, state, views } from "./compare_data";
import { change, count, figure, h, mib, scroll, section, short, tabs } from "./dom";

const FIRST = 10, ROWS_MAX = 300;

// "process:431/allocations/PyTorch" of "train.py: allocations: PyTorch": what a row is, with what stands above it.
function nameOfRow(r: Change, rows: Change[]): string {
  const above = rows.find(o => o.device === r.device && o.path === r.path.slice(0, r.path.lastIndexOf("/")));
  return above && above.account !== "process" && !/\/tensors$/.test(above.path) ? above.label + ": " + r.label : r.label;
}

const totalNow = () => places(state.pair).find(t => placeOf(t) === state.place);

export function lead(): HTMLElement {
  const all = largePlaces(state.pair), first = nameOf(0), other = nameOf(state.pair), pair = views()[0];
  const sentences = all.map(t => {
    const rows = pair.rows.filter(r => r.leaf && r.device === t.device), most = rows[0];
    const more = t.difference_bytes, same = rows.every(r => !r.difference_bytes), where = t.label ? t.label.replace(/^heap/, "the heap") : placeOf(t) === CPU ? "the CPU" : "GPU " + t.device;
    return h("p", { class: "lead", "data-place": placeOf(t) }, `${other} had `, h("b", { "data-bytes": more }, more ? `${mib(Math.abs(more))} MiB ${more > 0 ? "more" : "less"}` : "as much"), `${more ? " than" : " as"} ${first} ${placeOf(t) === CPU ? "in tensors on" : "on"} ${where}: `,
      h("b", { "data-bytes": t.before_bytes }, mib(t.before_bytes)), " → ", h("b", { "data-bytes": t.after_bytes }, mib(t.after_bytes) + " MiB"),
      ...(most?.difference_bytes ? [". The largest change is ", short(nameOfRow(most, pair.rows)), ", ", h("b", { "data-bytes": most.difference_bytes }, change(most.difference_bytes))] : [same ? ", row by row" : ""]), ".");
  });
  const said = (who: string, list: string[], bad: boolean) => list.map(d => h("p", { class: bad ? "bad" : "soft" }, `${bad ? "! " : ""}${who}: ${d}`));
  const simulated = [pair.before, pair.after].some(a => a.simulated);
  return section("answer", "What changed", ...(sentences.length ? sentences : [h("p", { class: "lead" }, "No memory was recorded on either side.")]),
    isOne() ? simulated && h("p", { class: "soft" }, "A GPU was simulated.")
      : h("p", { class: "soft" }, `${first} at ${pair.before.at ?? "an instant"}, ${other} at ${pair.after.at ?? "an instant"}${simulated ? "; a GPU was simulated" : ""}.`),
    ...said(first, pair.before_degraded, true), ...said(other, pair.after_degraded, true), ...said(first, pair.before_notes, false), ...said(other, pair.after_notes, false), bars());
}

// To the right what came, to the left what went, the largest first; the others together.
function bars(): HTMLElement | null {
  const pair = views()[0], rows = pair.rows.filter(r => r.leaf && placeOf(r) === state.place && r.difference_bytes);
  const large = rows.filter(r => !isLittle(r.difference_bytes)).slice(0, FIRST), shown = large.length ? large : rows.slice(0, FIRST), rest = rows.slice(shown.length).reduce((a, r) => a + r.difference_bytes, 0);
  if (!rows.length) return null;
  const most = Math.max(Math.abs(rest), ...shown.map(r => Math.abs(r.difference_bytes)), Math.abs(totalNow()?.difference_bytes ?? 0)) || 1;
  const bar = (label: string, bytes: number, total = false, title = label) => [h("span", { class: total ? "total" : "", title }, label),
    h("div", { class: "track both" }, h("i", { class: bytes < 0 ? "went" : "came", style: `left:${bytes < 0 ? 50 - 50 * -bytes / most : 50}%;width:${50 * Math.abs(bytes) / most}%` })),
    h("span", { class: "n" + (total ? " total" : ""), "data-bytes": bytes, "data-part": label }, change(bytes))];
  return h("div", {}, h("h3", {}, "What came and what went, MiB"), h("div", { class: "fall", id: "bars" }, ...shown.flatMap(r => bar(short(nameOfRow(r, pair.rows)), r.difference_bytes, false, nameOfRow(r, pair.rows))),
    ...(rows.length > shown.length ? bar(`${count(rows.length - shown.length)} more`, rest) : []), ...bar("in all", rows.reduce((a, r) => a + r.difference_bytes, 0), true)));
}

const words: { [key: string]: string } = { "": "the ledger", category: "what tensors are for" };

export function rowsSection(): HTMLElement {
  const pair = pairNow(), q = state.q.toLowerCase(), isTree = !pair.by, sums = pair.by !== "phase";
  const mine = pair.rows.filter(r => placeOf(r) === state.place), found = mine.filter(r => !q || r.label.toLowerCase().includes(q) || r.path.toLowerCase().includes(q));
  const changed = found.filter(r => r.difference_bytes || r.side !== "both"), same = found.length - changed.length;
  const sum = (list: Change[], key: "before_bytes" | "after_bytes") => list.filter(r => r.leaf).reduce((a, r) => a + r[key], 0);
  const counts = (r: Change) => r.side === "both" && r.before_count !== r.after_count ? ` (${count(r.before_count)} → ${count(r.after_count)})` : "";
  const cells = (before: number | null, after: number | null) => [figure(before), figure(after), changeCell((after ?? 0) - (before ?? 0))];
  const row = (r: Change) => h("tr", { "data-path": r.path, class: r.leaf ? "" : "dim" }, h("th", { class: "name", scope: "row", title: r.label }, (isTree ? nameOfRow(r, pair.rows) : short(r.label)) + counts(r) + (r.side === "before" ? ", gone" : r.side === "after" ? ", new" : "")),
    ...cells(r.side === "after" ? null : r.before_bytes, r.side === "before" ? null : r.after_bytes));
  const rest = pair.rest.find(r => placeOf(r) === state.place && !q);
  const body = [...changed.slice(0, ROWS_MAX).map(row)];
  if (changed.length > ROWS_MAX) body.push(h("tr", {}, h("th", { class: "name", scope: "row" }, `${count(changed.length - ROWS_MAX)} more that changed less`), ...cells(sum(changed.slice(ROWS_MAX), "before_bytes"), sum(changed.slice(ROWS_MAX), "after_bytes"))));
  if (same) {
    const list = found.filter(r => !changed.includes(r));
    body.push(h("tr", { class: "dim" }, h("th", { class: "name", scope: "row" }, `${count(same)} that are the same`), ...cells(sum(list, "before_bytes"), sum(list, "after_bytes"))));
  }
  if (rest) body.push(h("tr", { class: "dim" }, h("th", { class: "name", scope: "row" }, `${count(rest.rows)} more that changed less`), ...cells(rest.before_bytes, rest.after_bytes)));
  if (sums) body.push(h("tr", { class: "total" }, h("th", { scope: "row" }, q ? "sum of what was found" : "sum"), ...cells(sum(found, "before_bytes") + (rest?.before_bytes ?? 0), sum(found, "after_bytes") + (rest?.after_bytes ?? 0))));
  return section("rows", "Row by row", h("div", { class: "bar-row controls" },
    tabs("view", views().map(p => [p.by ?? "", words[p.by ?? ""] ?? p.by!] as [string, string]), pair.by ?? "", by => set({ by })),
    h("label", { class: "pick" }, "search ", h("input", { type: "search", id: "q", value: state.q, autocomplete: "off", input: (e: any) => set({ q: e.target.value }) }))),
    mine.length || rest ? scroll("changes", h("table", { id: "changes" }, h("thead", {}, h("tr", {}, h("th", { class: "name", scope: "col" }, "MiB"), h("th", { class: "n", scope: "col" }, nameOf(0)), h("th", { class: "n", scope: "col" }, nameOf(state.pair)), h("th", { class: "n", scope: "col" }, "change"))),
      h("tbody", {}, ...body))) : h("p", { class: "soft" }, "There is none here."),
    isTree && h("p", { class: "soft" }, "Rows in grey hold the rows below them and count once."));
}

export const changeCell = (bytes: number): HTMLElement => h("td", { class: "n" + (bytes ? bytes > 0 ? " came" : " went" : ""), "data-bytes": bytes, title: count(bytes) + " bytes" }, bytes ? change(bytes) : "0.0");

// Which of several recordings, and of several places, the page is about.
export function choose(): HTMLElement | null {
  const all = largePlaces(state.pair);
  if (sides.length < 3 && all.length < 2) return null;
  return h("section", { id: "choose", "aria-label": "what is compared", class: "controls" }, h("div", { class: "bar-row" },
    sides.length > 2 && h("label", { class: "pick" }, `${nameOf(0)} beside `, h("select", { id: "pair", change: (e: any) => set({ pair: +e.target.value, by: "", t: "" }) }, ...sides.slice(1).map((_, i) => h("option", { value: i + 1, selected: i + 1 === state.pair }, nameOf(i + 1))))),
    all.length > 1 && h("label", { class: "pick" }, "on ", h("select", { id: "place", change: (e: any) => set({ place: +e.target.value, what: "" }) }, ...all.map(t => h("option", { value: placeOf(t), selected: placeOf(t) === state.place }, t.label || (placeOf(t) === CPU ? "the CPU" : "GPU " + t.device)))))));
}
