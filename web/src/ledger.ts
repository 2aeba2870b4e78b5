// SPDX-License-Identifier: Apache-2.0
// The ledger: every row of the tree, at the peak and at the end. A click or Enter on a row says how it is known; it stands in the address.
import { Account, accounts, deviceOf, end, peak, peakOf, placeName } from "./data";
import { figure, h, plain, scroll, section } from "./dom";
import { known, knownSum } from "./evidence";
import { set, state } from "./state";

const toggle = (path: string): void => set({ row: state.row === path ? "" : path });

// Opens a row, and goes there.
export function goTo(path: string): void {
  set({ row: path });
  reveal();
}

function reveal(): void {
  const e = state.row ? [...document.querySelectorAll<HTMLElement>("#books [data-path]")].find(r => r.dataset.path === plain(state.row))?.querySelector("button") : null;
  if (!e) return;
  e.scrollIntoView({ block: "center" });
  e.focus({ preventScroll: true });
}

type Shown = { name: string; path: string; depth: number; a: number | null | undefined; b: number | null | undefined; evidence: string; cls: string; detail: () => HTMLElement };

function drawRow(r: Shown, i: number): HTMLElement[] {
  const isOpen = state.row === r.path, id = "row-" + i;
  const row = h("tr", { class: r.cls, "data-path": r.path }, h("th", { class: "name", scope: "row", style: `--depth:${r.depth}` },
    h("button", { type: "button", id, "aria-expanded": String(isOpen), "aria-controls": isOpen ? "known" : null, title: "how it is known", click: () => toggle(r.path) }, r.name)), figure(r.a), figure(r.b), h("td", {}, r.evidence));
  if (!isOpen) return [row];
  return [row, h("tr", { class: "opened" }, h("td", { colspan: 4 }, h("div", { id: "known", role: "region", "aria-labelledby": id }, r.detail())))];
}

// Rows of two moments, each below its parent, in the order in which they are given.
function inPlace(rows: Account[]): Account[] {
  const known = new Set(rows.map(r => r.path)), below = new Map<string, Account[]>();
  for (const r of rows) {
    const up = r.path.slice(0, Math.max(0, r.path.lastIndexOf("/"))), parent = known.has(up) ? up : "";
    below.set(parent, [...(below.get(parent) ?? []), r]);
  }
  const walk = (parent: string): Account[] => (below.get(parent) ?? []).flatMap(r => [r, ...walk(r.path)]);
  return walk("");
}

export function ledger(): HTMLElement {
  const place = state.place, now = accounts(peakOf(place), place), later = new Map(accounts(end, place).map(r => [r.path, r])), d = deviceOf(peak, place), e = deviceOf(end, place);
  const had = new Map(now.map(r => [r.path, r])), all = inPlace([...now, ...[...later.values()].filter(r => !had.has(r.path))]);
  const rows: Shown[] = all.map((r: Account) => ({ name: (r.elastic ? "~ " : "") + r.label, path: r.path, depth: r.path.split("/").length - 1, a: had.get(r.path)?.bytes ?? 0, b: later.get(r.path)?.bytes ?? 0,
    evidence: (r.evidence ?? "") + (r.contended ? ", contended" : ""), cls: "", detail: () => known(place, r) }));
  const sum = (name: string, path: string, a: number | null | undefined, b: number | null | undefined, cls: string): Shown => ({ name, path, depth: 0, a, b, evidence: "", cls, detail: () => knownSum(place, path) });
  if (d) {
    rows.unshift(sum("used", "used", d.used_bytes, e?.used_bytes, "total"), sum("need, without elastic (~) rows", "need", d.need_bytes, e?.need_bytes, "dim"));
    rows.push(sum("unexplained", "unexplained", d.unexplained_bytes, e?.unexplained_bytes, "total"));
  }
  if (!rows.length) return section("ledger", "The ledger", h("p", { class: "soft" }, "It has no rows: no memory was recorded."));
  return section("ledger", "The ledger", h("p", { class: "soft" }, `${placeName(place)}. Rows marked ~ are elastic: taken because there was room. exact: what was returned; weighed: the driver's counter before and after a call; inferred: by a rule. `,
    h("span", { class: "controls" }, "A click or Enter on a row says how it is known, and what would make it less.")),
    scroll("the ledger", h("table", { id: "books", keydown: (k: KeyboardEvent) => { if (k.key === "Escape" && state.row) set({ row: "" }); } }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "MiB"), h("th", { class: "n", scope: "col" }, "at the peak"), h("th", { class: "n", scope: "col" }, "at the end"), h("th", { scope: "col" }, "evidence"))),
      h("tbody", {}, ...rows.flatMap(drawRow)))));
}

// Whoever comes by a link to a row sees it.
export function revealFirst(): void {
  reveal();
  addEventListener("hashchange", reveal);
}
