// SPDX-License-Identifier: Apache-2.0
// Who asked for it: an icicle of stacks or a table, of the moment, of the worst in the range, or of what the range left behind.
import { CPU, page, view } from "./data";
import { folded } from "./fold";
import { count, h, mib, part, section, tabs } from "./dom";
import { Node, REST, ROOT, frameName, icicle } from "./icicle";
import { Stacks, hasTensors, measure, objectsOf, reportNow, sizeOf, stacksNow } from "./model";
import { Line, table } from "./rows";
import { sourceFiles, sourceView, sourceWhy } from "./source";
import { set, state } from "./state";
import { clock } from "./time";

function framesOf(row: number[]): number[] {
  if (row[1] < 0) return [REST];
  const all = page.stacks[row[1]].slice(1).reverse(), kept = state.fold ? folded(all) : all;
  return state.up ? [...kept].reverse() : kept;
}

function tree(stacks: Stacks): Node {
  const root: Node = { frame: ROOT, size: 0, objects: 0, children: new Map() };
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

// Stacks that are the same once they are folded are one. The innermost frame is where memory was asked for: it leads, whichever way round the icicle is.
function stackLines(stacks: Stacks): Line[] {
  const by = new Map<string, Line>();
  for (const row of stacks.rows) {
    if (!sizeOf(row)) continue;
    const names = framesOf(row).map(frameName), frames = state.up ? names : names.reverse(), label = frames.join(" < ");
    const was = by.get(label) ?? { label, size: 0, objects: 0, frames };
    was.size += sizeOf(row);
    was.objects += objectsOf(row);
    by.set(label, was);
  }
  return [...by.values()];
}

const lineOf = (line: number): Line => ({ label: line < 0 ? "smaller ones" : page.lines[line], size: 0, objects: 0 });

function addEver(to: Line, number = 0, bytes = 0): void {
  to.ever = (to.ever ?? 0) + number;
  to.everBytes = (to.everBytes ?? 0) + bytes;
}

function lines(stacks: Stacks): Line[] {
  const by = new Map<number, Line>();
  for (const row of stacks.rows) {
    const line = row[1] < 0 ? REST : page.stacks[row[1]][0], was = by.get(line) ?? lineOf(line);
    was.size += sizeOf(row);
    was.objects += objectsOf(row);
    if (measure() === "tensors" && state.span !== "left") addEver(was, row[6], row[7]);
    by.set(line, was);
  }
  for (const [, line, number, bytes] of stacks.calls ?? []) {
    if (!by.has(line)) by.set(line, lineOf(line));
    addEver(by.get(line)!, number, bytes);
  }
  return [...by.values()].filter(l => l.size || l.ever);
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
  if (!page.moments.some(m => m.rows.length)) return section("where", "Who asked for it", h("p", { class: "soft" }, "Nobody: no memory was recorded."));
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
    else if (state.show === "table") parts.push(table(stackLines(stacks), stacks.total, "stack", "stacks"));
    else parts.push(icicle(root));
    if (state.path && state.by === "stack") parts.unshift(h("p", { class: "controls" }, h("button", { type: "button", click: () => set({ path: "" }) }, "back to everything")));
  } else {
    words = all!.title;
    parts.push(all!.rows.length ? table(all!.rows, all!.rows.reduce((a, r) => a + r.size, 0), state.by, "rows") : h("p", { class: "soft" }, all!.note ?? "There is none."));
  }
  return section("where", "Who asked for it", controls, ofStacks && more, h("p", { class: "soft", id: "where-now", role: "status", "data-bytes": ofStacks ? stacks.total : "" }, words + "."), ...(parts as HTMLElement[]), state.by === "stack" || state.by === "line" ? sourceWhy() : null);
}
