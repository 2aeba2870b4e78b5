// SPDX-License-Identifier: Apache-2.0
// The source of the program, where the machine that made the page had it: the text of a frame, and files whose lines hold memory.
import { end, page } from "./data";
import { steps } from "./axis";
import { figure, h, mib, s, scroll, short, time } from "./dom";
import { isElsewhere, measure, moments, reportNow, sizeOf } from "./model";
import { set, state } from "./state";

type Line = { file: string; line: number };
type Sums = Map<number, number>; // by line

const label = /^(.*?\.\w+):(\d+)(?: in |$)/;
export function lineOf(text: string): Line | undefined {
  const found = label.exec(text);
  return found ? { file: found[1], line: +found[2] } : undefined;
}

const texts = new Map<string, Map<number, string>>();
for (const f of page.sources) {
  const by = new Map<number, string>();
  for (const [first, ...lines] of f.lines) lines.forEach((text, i) => by.set(first as number + i, text as string));
  texts.set(f.file, by);
}
// The text of the line that a frame or a label names; undefined where it is not there.
export function textOf(name: string): string | undefined {
  const at = lineOf(name);
  return at && texts.get(at.file)?.get(at.line)?.trim();
}

const own = page.lines.map(lineOf);

// What the lines of each file hold of the place, of some rows of a moment.
function sums(rows: number[][]): Map<string, Sums> {
  const out = new Map<string, Sums>();
  for (const row of rows) {
    const at = row[0] === state.place && row[1] >= 0 ? own[page.stacks[row[1]][0]] : undefined, size = sizeOf(row);
    if (!at || !size) continue;
    if (!out.has(at.file)) out.set(at.file, new Map());
    const of = out.get(at.file)!;
    of.set(at.line, (of.get(at.line) ?? 0) + size);
  }
  return out;
}

const rowsAt = (label: string): number[][] => page.moments.find(m => m.at === label)?.rows ?? [];
const whole = (of: Sums | undefined): number => [...of?.values() ?? []].reduce((a, b) => a + b, 0);

function curve(t: number[], bytes: number[], most: number): SVGElement {
  const end = page.time.account.to_ns, x = (at: number) => 120 * (at - state.from) / (state.to - state.from), y = (b: number) => 18 - 17 * b / most;
  return s("svg", { class: "spark", viewBox: "0 0 120 19", "aria-hidden": "true" }, s("path", { d: `M${x(t[0]).toFixed(1)} 18L${steps(t, bytes, end, x, y).slice(1)}V18Z` }));
}

// The files that have lines with memory of their own, the heaviest first.
export function sourceFiles(): { file: string; size: number }[] {
  const most = new Map<string, number>();
  for (const { moment } of moments(state.place))
    for (const [file, of] of sums(moment.rows)) most.set(file, Math.max(most.get(file) ?? 0, whole(of)));
  return page.sources.filter(f => f.own && most.has(f.file)).map(f => ({ file: f.file, size: most.get(f.file)! })).sort((a, b) => b.size - a.size);
}

function fileTable(file: string, rows: number[][]): HTMLElement {
  const peak = sums(rowsAt(reportNow() === end ? "peak" : reportNow().at.label)).get(file), last = sums(rowsAt("end")).get(file), now = sums(rows).get(file);
  const all = moments(state.place), over = all.map(m => sums(m.moment.rows).get(file)), t = all.map(m => m.t);
  const held = new Set(over.flatMap(o => [...o?.keys() ?? []])), text = texts.get(file) ?? new Map<number, string>();
  const numbers = [...new Set([...text.keys()].filter(n => near(n, held)).concat([...held]))].sort((a, b) => a - b);
  const most = Math.max(1, ...over.flatMap(o => [...o?.values() ?? []])), isOther = isElsewhere() || state.span !== "moment";
  const cells: HTMLElement[] = [];
  const blank = () => h("td", { class: "n" });
  numbers.forEach((n, i) => {
    if (i && n > numbers[i - 1] + 1) cells.push(h("tr", { class: "gap" }, h("td", { colspan: isOther ? 6 : 5 }, "⋮")));
    const bytes = over.map(o => o?.get(n) ?? 0), has = held.has(n);
    cells.push(h("tr", { "data-line": n, class: has ? "held" : "" }, h("th", { class: "n", scope: "row" }, String(n)), isOther && (has ? figure(now?.get(n) ?? 0) : blank()), has ? figure(peak?.get(n) ?? 0) : blank(), has ? figure(last?.get(n) ?? 0) : blank(),
      h("td", { title: has ? `${mib(Math.max(...bytes))} MiB at most, of the kept moments at ${time(t[bytes.indexOf(Math.max(...bytes))])}` : null }, has && curve(t, bytes, most)), h("td", { class: "code" }, text.get(n) ?? "")));
  });
  return scroll("source", h("table", { id: "source" }, h("thead", {}, h("tr", {}, h("th", { class: "n", scope: "col" }, "line"), isOther && h("th", { class: "n", scope: "col" }, "now"), h("th", { class: "n", scope: "col" }, "peak, MiB"), h("th", { class: "n", scope: "col" }, "end"),
    h("th", { scope: "col" }, "over time"), h("th", { scope: "col" }, "source"))), h("tbody", {}, ...cells)));
}

const near = (n: number, held: Set<number>): boolean => { for (let i = n - 4; i <= n + 4; i++) if (held.has(i)) return true; return false; };

// `rows`: what is held at the moment, or of the range, that is looked at.
export function sourceView(rows: number[][]): HTMLElement[] {
  const files = sourceFiles(), chosen = files.find(f => f.file === state.file) ?? files[0];
  if (!chosen) return [h("p", { class: "soft" }, "No line of a file that this page has holds memory here.")];
  const known = page.sources.find(f => f.file === chosen.file)!;
  return [h("div", { class: "bar-row controls" }, h("label", { class: "pick" }, "file ", h("select", { id: "file", change: (e: any) => set({ file: e.target.value }) },
    ...files.map(f => h("option", { value: f.file, selected: f === chosen }, `${short(f.file)} · ${mib(f.size)} MiB at most`))))),
  h("p", { class: "soft", id: "source-of" }, `${chosen.file}. What each line asked for itself${measure() === "tensors" ? ", in live tensors" : ""}; the curves show the range above, to one scale.`),
  known.leads_to && h("p", { class: "soft" }, `Its name is a link to ${known.leads_to}, which is what was read.`),
  known.missing && h("p", { class: "bad" }, `There is no text: ${known.missing}.`), known.changed && h("p", { class: "bad" }, "The file was changed after the recording began: these may not be the lines that ran."),
  fileTable(chosen.file, rows)].filter(Boolean) as HTMLElement[];
}

// Why there is none of a recording that could have some.
export const sourceWhy = (): HTMLElement | null => page.source_why ? h("p", { class: "soft", id: "source-why" }, `No source is shown: ${page.source_why}. tare report --html FILE --source puts in what the machine that makes the page has under the names in the recording.`) : null;
