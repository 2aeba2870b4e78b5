// SPDX-License-Identifier: Apache-2.0
// Who asked for it: an icicle of stacks or a table, of the moment, of the worst in the range, or of what the range left behind.
import { CPU, page, view } from "./data";
import { folded, foldedName } from "./fold";
import { count, figure, h, mib, part, scroll, section, short, tabs } from "./dom";
import { Stacks, hasTensors, measure, objectsOf, reportNow, sizeOf, stacksNow } from "./model";
import { sourceFiles, sourceView, sourceWhy, textOf } from "./source";
import { set, state } from "./state";
import { clock } from "./time";

type Node = { frame: number; size: number; objects: number; children: Map<number, Node> };

const REST = -1, ROW = 23, DEPTH_MAX = 80, ROWS_MAX = 200;
export const frameName = (frame: number): string => frame === REST ? "smaller ones" : foldedName(frame);

function framesOf(row: number[]): number[] {
  if (row[1] < 0) return [REST];
  const all = page.stacks[row[1]].slice(1).reverse(), kept = state.fold ? folded(all) : all;
  return state.up ? [...kept].reverse() : kept;
}

function tree(stacks: Stacks): Node {
  const root: Node = { frame: -2, size: 0, objects: 0, children: new Map() };
  for (const row of stacks.rows) {
    let at = root;
    const size = sizeOf(row), objects = objectsOf(row);
    if (size <= 0) continue;
    root.size += size;
    root.objects += objects;
    for (const frame of framesOf(row)) {
      if (!at.children.has(frame)) at.children.set(frame, { frame, size: 0, objects: 0, children: new Map() });
      at = at.children.get(frame)!;
      at.size += size;
      at.objects += objects;
    }
  }
  return root;
}

// How much of what is shown goes through a frame that has these letters.
function found(stacks: Stacks): { size: number; stacks: number } {
  const q = state.q.toLowerCase();
  let size = 0, hits = 0;
  for (const row of stacks.rows)
    if (sizeOf(row) > 0 && framesOf(row).some(f => frameName(f).toLowerCase().includes(q))) {
      size += sizeOf(row);
      hits++;
    }
  return { size, stacks: hits };
}

function subtree(root: Node): Node[] {
  const way = [root];
  for (const number of state.path.split(".").filter(Boolean)) {
    const next = way[way.length - 1].children.get(+number);
    if (!next) break;
    way.push(next);
  }
  return way;
}

const pathOf = (way: Node[]): string => way.slice(1).map(n => n.frame).join(".");

function icicle(root: Node): HTMLElement {
  const way = subtree(root), top = way[way.length - 1], cells: HTMLElement[] = [], q = state.q.toLowerCase();
  let depth = 0;
  const cell = (node: Node, level: number, left: number, width: number, path: string, above: boolean) => {
    const name = node.frame === -2 ? "everything" : frameName(node.frame), share = part(node.size, root.size);
    const hit = q && node.frame !== -2 && name.toLowerCase().includes(q);
    const text = node.frame < 0 ? undefined : textOf(name);
    const hue = node.frame < 0 ? 8 : [...short(name).split(":")[0].split(" ")[0]].reduce((a, c) => (a * 31 + c.charCodeAt(0)) >>> 0, 7) % 8;
    cells.push(h("button", { type: "button", class: (hit ? "hit" : "") + (above ? " above" : ""), "data-frame": name, "data-bytes": node.size, "data-level": level,
      style: `left:${left.toFixed(3)}%;width:${width.toFixed(3)}%;top:${level * ROW}px;background-color:color-mix(in srgb, var(--c${hue}) 30%, var(--paper))`,
      title: `${name}\n${text ? text + "\n" : ""}${mib(node.size)} MiB (${share}), ${count(node.objects)} objects`,
      "aria-label": `${name}: ${mib(node.size)} MiB, ${share}`, click: () => set({ path }) }, width > 1.2 ? short(name) + (width > 12 ? ` · ${mib(node.size)}` : "") : "", width > 20 && text ? h("code", {}, text) : null));
    depth = Math.max(depth, level);
  };
  way.slice(0, -1).forEach((n, i) => cell(n, i, 0, 100, pathOf(way.slice(0, i + 1)), true));
  const draw = (node: Node, level: number, left: number, width: number, path: string) => {
    cell(node, level, left, width, path, false);
    if (level > DEPTH_MAX) return;
    let at = left;
    for (const child of [...node.children.values()].sort((a, b) => b.size - a.size)) {
      const own = width * child.size / node.size;
      if (own >= .2) draw(child, level + 1, at, own, path ? path + "." + child.frame : String(child.frame));
      at += own;
    }
  };
  if (top.size > 0) draw(top, way.length - 1, 0, 100, pathOf(way));
  const box = h("div", { class: "ice", id: "ice", role: "group", "aria-label": "stacks: each button is a frame, as wide as what it holds", style: `height:${(depth + 1) * ROW}px` }, ...cells);
  box.addEventListener("keydown", e => {
    const at = cells.indexOf(document.activeElement as HTMLElement);
    const level = (i: number) => Number(cells[i]?.dataset.level);
    const go = e.key === "ArrowDown" ? at + 1 : e.key === "ArrowUp" ? cells.slice(0, at).map((_, i) => i).reverse().find(i => level(i) === level(at) - 1)
      : e.key === "ArrowRight" ? cells.findIndex((_, i) => i > at && level(i) === level(at)) : e.key === "ArrowLeft" ? cells.slice(0, at).map((_, i) => i).reverse().find(i => level(i) === level(at)) : undefined;
    if (at < 0 || go == null || !cells[go]) return;
    e.preventDefault();
    cells[go].focus();
  });
  return box;
}

type Line = { label: string; size: number; objects: number; evidence?: string };

function table(rows: Line[], total: number, head: string, id: string): HTMLElement {
  const q = state.q.toLowerCase(), shown = rows.filter(r => !q || r.label.toLowerCase().includes(q)).sort((a, b) => b.size - a.size);
  const evidence = rows.some(r => r.evidence);
  return scroll(head, h("table", { id }, h("thead", {}, h("tr", {}, h("th", { class: "name", scope: "col" }, head), h("th", { class: "n", scope: "col" }, "MiB"), h("th", { class: "n", scope: "col" }, "of all"),
    h("th", { class: "n", scope: "col" }, "objects"), evidence && h("th", { scope: "col" }, "evidence"))),
    h("tbody", {}, ...shown.slice(0, ROWS_MAX).map(r => h("tr", { "data-label": r.label }, h("th", { class: "name", scope: "row", title: r.label }, short(r.label), textOf(r.label) ? h("code", {}, textOf(r.label)!) : null), figure(r.size), h("td", { class: "n" }, part(r.size, total)),
      h("td", { class: "n" }, count(r.objects)), evidence && h("td", {}, r.evidence ?? ""))),
      shown.length > ROWS_MAX && h("tr", {}, h("th", { class: "name", scope: "row" }, `${count(shown.length - ROWS_MAX)} more`), figure(shown.slice(ROWS_MAX).reduce((a, r) => a + r.size, 0))),
      h("tr", { class: "total" }, h("th", { scope: "row" }, q ? "sum of what was found" : "sum"), figure(shown.reduce((a, r) => a + r.size, 0))))));
}

function lines(stacks: Stacks): Line[] {
  const by = new Map<number, Line>();
  for (const row of stacks.rows) {
    const line = row[1] < 0 ? REST : page.stacks[row[1]][0], was = by.get(line) ?? { label: line < 0 ? "smaller ones" : page.lines[line], size: 0, objects: 0 };
    was.size += sizeOf(row);
    was.objects += objectsOf(row);
    by.set(line, was);
  }
  return [...by.values()].filter(l => l.size);
}

// What is known at the peak and at the end only.
function viewLines(by: string): { rows: Line[]; title: string; note?: string } {
  const at = reportNow().at.label, found = view(by, at);
  const rows = (found?.rows ?? []).filter(r => (r.device ?? CPU) === state.place).map(r => ({ label: String(by === "module" ? r.module ?? r.label : r.label), size: Number(by === "module" ? r.own_bytes : r.bytes) || 0,
    objects: Number(by === "module" ? r.own_count : r.count) || 0, evidence: r.evidence == null ? undefined : String(r.evidence) })).filter(r => r.size);
  return { rows, title: `at the ${at}; it is known at the peak and at the end`, note: found?.note };
}

function groups(): [string, string][] {
  const out: [string, string][] = [["stack", "stack"], ["line", "line"]];
  if (sourceFiles().length) out.push(["source", "source"]);
  for (const by of ["module", "category", "library", "owner", "account"]) if (view(by, "peak")?.rows.length || view(by, "end")?.rows.length) out.push([by, by]);
  return out;
}

function searchBox(): HTMLElement {
  return h("label", { class: "pick" }, "search ", h("input", { type: "search", id: "q", value: state.q, autocomplete: "off", input: (e: any) => set({ q: e.target.value }) }));
}

export function whereSection(): HTMLElement {
  const stacks = stacksNow(clock), ofStacks = state.by === "stack" || state.by === "line" || state.by === "source", all = ofStacks ? null : viewLines(state.by);
  const controls = h("div", { class: "bar-row controls" }, tabs("grouped by", groups(), state.by, by => set({ by })), state.by !== "source" && searchBox());
  const more = h("div", { class: "bar-row controls" }, tabs("of what time", [["moment", "the moment"], ["most", "worst in the range"], ["left", "what the range left behind"]], state.span, span => set({ span })),
    state.place !== CPU && hasTensors(state.place) && tabs("what is counted", [["tensors", "live tensors"], ["bytes", "memory of the driver"]], measure(), value => set({ measure: value, path: "" })),
    state.by === "stack" && tabs("shown as", [["icicle", "icicle"], ["table", "table"]], state.show, show => set({ show })),
    state.by === "stack" && h("button", { type: "button", "aria-pressed": String(state.up), click: () => set({ up: !state.up, path: "" }) }, "upside down"),
    state.by === "stack" && h("button", { type: "button", "aria-pressed": String(state.fold), click: () => set({ fold: !state.fold, path: "" }) }, "imports and runtime folded"));
  const parts: (Node | HTMLElement | false)[] = [];
  let words = "";
  if (ofStacks) {
    const root = tree(stacks), hits = state.q ? found(stacks) : null;
    words = `${stacks.title}: ${mib(stacks.total)} MiB`;
    if (hits) words += `. “${state.q}” is in ${count(hits.stacks)} stacks, which hold ${mib(hits.size)} MiB (${part(hits.size, stacks.total)})`;
    if (state.by === "source") parts.push(...sourceView(stacks.rows));
    else if (state.by === "line") parts.push(table(lines(stacks), stacks.total, "line", "lines"));
    else if (state.show === "table") parts.push(table(stacks.rows.filter(r => sizeOf(r)).map(r => ({ label: framesOf(r).map(frameName).join(" < "), size: sizeOf(r), objects: objectsOf(r) })), stacks.total, "stack", "stacks"));
    else parts.push(icicle(root));
    if (state.path && state.by === "stack") parts.unshift(h("p", { class: "controls" }, h("button", { type: "button", click: () => set({ path: "" }) }, "back to everything")));
  } else {
    words = all!.title;
    parts.push(all!.rows.length ? table(all!.rows, all!.rows.reduce((a, r) => a + r.size, 0), state.by, "rows") : h("p", { class: "soft" }, all!.note ?? "There is none."));
  }
  return section("where", "Who asked for it", controls, ofStacks && more, h("p", { class: "soft", id: "where-now", role: "status", "data-bytes": ofStacks ? stacks.total : "" }, words + "."), ...(parts as HTMLElement[]), state.by === "stack" || state.by === "line" ? sourceWhy() : null);
}
