// SPDX-License-Identifier: Apache-2.0
// How a row of the ledger is known: what was read, which calls, which lines, which other tool shows the same, what would make it less.
import { Account, CPU, Evidence, From, Kind, Row, Tool, accounts, deviceOf, page, peak, peakOf, view } from "./data";
import { count, figure, h, mib, scroll, short, time } from "./dom";

const words: { [evidence: string]: string } = {
  exact: "Exact", weighed: "Measured", inferred: "By a rule", witness: "By somebody else's word",
};

const rows = new Map<string, Evidence>(page.evidence.rows.map(r => [r.device + " " + r.path, r]));
export const evidenceOf = (place: number, path: string): Evidence | undefined => rows.get(place + " " + path);
export const kindOf = (e: Evidence): Kind => page.evidence.kinds[e.kind];

const pidOf = (path: string): number => Number(/^process:(\d+)/.exec(path)?.[1] ?? -1);
export function toolsOf(pid: number, place: number): Tool[] {
  const known = page.explained.find(p => p.pid === pid)?.tools ?? [];
  // A tool's sums are of all GPUs: of several, none shows what one of them has.
  const gpus = peak.devices.filter(d => !d.heap && !(d.imported && d.integrated));
  return gpus.length > 1 && gpus.some(d => d.index === place) ? [] : known;
}

// What would save something of a row: the advice that is about it, or about its whole account where no row is what the advice is about.
export function adviceOf(place: number, r: Account): Row[] {
  const all = peak.advice.filter(a => a.device === place && a.account === r.account && (a.pid == null || a.pid === pidOf(r.path)));
  const of = evidenceOf(place, r.path), isTop = !accounts(peakOf(place), place).some(o => o.account === r.account && r.path.startsWith(o.path + "/"));
  return all.filter(a => of?.residue ? of.residue === a.advice : isTop && !page.evidence.rows.some(o => o.device === place && o.residue === a.advice && pidOf(o.path) === pidOf(r.path)) || isTop && r.leaf);
}

export function givenBack(place: number, r: Account): Row | undefined {
  const residue = evidenceOf(place, r.path)?.residue;
  return residue ? peak.residue.find(o => o.device === place && o.residue === residue) : undefined;
}
const when: { [key: string]: string } = { now: "by", later: "when something else has gone first:", end: "only with", none: "not by this program:" };
export const givenBackBy = (r: Row): string => `${when[String(r.gives_back)] ?? "by"} ${r.call}`;

// What the tensors of a row are for. A category's name may hold a '/', which a path has in another form.
export const categoryOf = (r: Account): string => decodeURIComponent(r.path.slice(r.path.lastIndexOf("/") + 1));
const said = new Map(page.evidence.categories.map(c => [c.category, c]));
export const aboutCategory = (r: Account): string => said.get(categoryOf(r))?.what ?? "";
export const lessOfCategory = (r: Account): string => { const less = said.get(categoryOf(r))?.less; return less ? less + "." : ""; };
// What gives back any tensor says little of one category.
export const isOfAnyTensor = (back: Row): boolean => back.residue === "tensors";

// Lines of a category, of those tensors that the page has; `known`: what these come to.
export function categoryLines(place: number, r: Account): { lines: From[]; known: number } {
  const by = new Map<string, From>(), pid = pidOf(r.path), category = categoryOf(r);
  for (const t of view("tensor", peakOf(place).at.label)?.rows ?? []) {
    if ((t.device ?? CPU) !== place || t.category !== category || (t.pid != null && t.pid !== pid)) continue;
    const line = String(t.line || "no line"), was = by.get(line) ?? { line, bytes: 0, count: 0 };
    was.bytes += Number(t.bytes);
    was.count += 1;
    by.set(line, was);
  }
  const lines = [...by.values()].sort((a, b) => b.bytes - a.bytes);
  return { lines, known: lines.reduce((a, l) => a + l.bytes, 0) };
}

function linesOf(e: Evidence): HTMLElement | null {
  if (!e.lines.length) return null;
  return scroll("lines of the row", h("table", { class: "of-row" }, h("tbody", {},
    ...e.lines.map(l => h("tr", { "data-from": l.line }, figure(l.bytes), h("td", { class: "n" }, `${count(l.count)} ×`), h("td", { class: "name", title: l.line }, short(l.line)))),
    e.more_lines > 0 && h("tr", { class: "dim", "data-from": "" }, figure(e.more_bytes), h("td", {}), h("td", { class: "name" }, `${count(e.more_lines)} other lines`)))));
}

function callsOf(r: Account, e: Evidence): HTMLElement | null {
  const mine = page.calls.rows?.filter(c => c.account === r.account) ?? [];
  if (!mine.length || e.is_category || /\/(tensors|cached|partly|held)$/.test(r.path)) return null;
  return scroll("calls of the driver", h("table", { class: "of-row" }, h("tbody", {}, ...mine.slice(0, 8).map(c => h("tr", { "data-call": String(c.call) }, h("td", { class: "n" }, `${count(Number(c.calls))} ×`),
    h("td", { class: "name" }, String(c.call)), h("td", { class: "n" }, time(Number(c.driver_ns)))))),
  mine.length > 8 && h("caption", {}, `the longest 8 of ${mine.length}`)));
}

function toolWords(place: number, r: Account, kind: Kind): string[] {
  const tools = toolsOf(pidOf(r.path), place), found = kind.same.split(" ").map(w => tools.find(t => t.word === w && t.bytes != null)), out: string[] = [];
  // The tool's figure is of the whole process, which may have several such rows.
  for (const t of found) if (t) out.push(t.bytes === r.bytes ? `${t.tool} shows the same: ${t.prints}.` : `${t.tool} shows ${t.prints} of the process: ${mib(t.bytes)} MiB, which this is a part of.`);
  if (out.length) return out;
  const whole = tools.find(t => t.word === "nvidia-smi" && t.bytes != null), d = deviceOf(peak, place);
  if (place !== CPU && !d?.heap && whole && pidOf(r.path) >= 0) return [`None shows it by itself. It is in what nvidia-smi shows of the process: ${whole.prints}.`];
  return ["None shows it by itself."];
}

function less(place: number, r: Account, kind: Kind): HTMLElement[] {
  const back = givenBack(place, r);
  return [...adviceOf(place, r).map(a => h("p", {}, h("b", { "data-bytes": Number(a.saves_bytes) }, mib(Number(a.saves_bytes)) + " MiB"), ` ${a.known}: ${a.finding}. ${a.less ?? ""}`)),
    kind.less && h("p", {}, kind.less), back && !(kind.less && isOfAnyTensor(back)) && h("p", {}, `Given back ${givenBackBy(back)}.`)].filter(Boolean) as HTMLElement[];
}

// Calls are known by account: what a part of one has of them is not told apart.
function ofAll(place: number, r: Account): string {
  const top = accounts(peakOf(place), place).find(o => o.account === r.account && r.path.startsWith(o.path + "/"));
  return top ? ` for all of “${top.label}”` : "";
}

const part = (title: string, ...children: (Node | string | null | undefined | false)[]): HTMLElement[] => children.some(Boolean) ? [h("dt", {}, title), h("dd", {}, ...children)] : [];

function list(...parts: HTMLElement[][]): HTMLElement {
  return h("dl", { class: "known" }, ...parts.flat());
}

// A category with its lines in place of none.
export function withLines(place: number, r: Account, e: Evidence): Evidence {
  if (!e.is_category) return e;
  const { lines } = categoryLines(place, r), rest = lines.slice(5);
  return { ...e, lines: lines.slice(0, 5), more_lines: rest.length, more_bytes: rest.reduce((a, l) => a + l.bytes, 0) };
}

const bounds = (r: Account): HTMLElement | null => r.contended && r.low != null ? h("p", {}, `Between ${mib(r.low)} and ${mib(r.high)} MiB: other calls that only the counter can size ran at the same time.`) : null;
const ruleOf = (rule: string): string => ` Rule “${rule}” of docs/LEDGER.md.`;

// A row of the tree.
export function known(place: number, r: Account): HTMLElement {
  const e = evidenceOf(place, r.path), word = words[r.evidence ?? ""] ?? "Not known";
  if (!e) return list(part("How it is known", `${word}.`), part("In numbers", bounds(r)));
  const kind = kindOf(e), lines = linesOf(e);
  if (e.is_category) return list(part("What it is", `Live tensors of PyTorch: ${aboutCategory(r)} (docs/CATEGORIES.md). Their bytes are what PyTorch's allocator reported.`),
    part("How it is known", r.evidence === "witness" ? "What they are for the program said: a look through its objects found them." : "What they are for was inferred, from when they came and went and where they were made."),
    part("Where it comes from, MiB", linesOf(withLines(place, r, e)), categoryLines(place, r).known < r.bytes && h("p", { class: "soft" }, `Of the largest tensors of the page, which have ${mib(categoryLines(place, r).known)} of ${mib(r.bytes)} MiB.`)),
    part("What would make it less", ...less(place, r, { ...kind, less: lessOfCategory(r) })));
  return list(part("What it is", kind.why), part("How it is known", h("p", {}, `${word}: `, kind.said, ruleOf(kind.rule)), bounds(r)),
    part(`Calls of the driver${ofAll(place, r)}, in the whole recording`, callsOf(r, e)), part("Where it comes from, MiB", lines),
    part("Other tools", ...toolWords(place, r, kind).map(t => h("p", {}, t))), part("What would make it less", ...less(place, r, kind)));
}

// The rows that are no part of the tree.
export function knownSum(place: number, which: string): HTMLElement {
  const d = deviceOf(peak, place)!;
  if (which === "unexplained") return list(part("What it is", "What is in use, less all rows above. No row is made larger or smaller for it."), part("How it is known", "By difference."),
    part("Other tools", h("p", {}, "None has such a row.")));
  if (which === "need") return list(part("What it is", "What is in use without what was taken because there was room (rows with ~)."), part("How it is known", "By difference."));
  const shown = page.explained.flatMap(p => p.tools).find(t => t.word === "nvidia-smi-used" && t.bytes === d.used_bytes);
  return list(part("What it is", d.heap ? "All that programs asked for of the heap and of mappings." : "All that is in use on the GPU, of all processes."),
    part("How it is known", (d.heap ? "The sum of its blocks." : d.used_evidence === "inferred" ? "There was no counter: it is the sum of what was computed." : d.imported ? "A program printed it." :
      `Measured: ${d.nvml ? "NVML's counter" : "the driver's counter (cuMemGetInfo)"}, last read at or before this moment, and what was computed of calls since.`) + ruleOf(d.heap ? "heap blocks" : "used")),
    part("Other tools", shown && h("p", {}, `${shown.tool} shows the same: ${shown.prints}.`)));
}
