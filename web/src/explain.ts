// SPDX-License-Identifier: Apache-2.0
// The worst moment explained: each row, where it comes from and what to do; and what other tools show of it, as tare explain says.
import { Account, CPU, Row, Tool, accounts, page, peakOf, placeName, peak } from "./data";
import { figure, h, mib, scroll, section, short, tabs } from "./dom";
import { aboutCategory, adviceOf, evidenceOf, givenBack, givenBackBy, isOfAnyTensor, kindOf, lessOfCategory, withLines } from "./evidence";
import { goTo } from "./ledger";
import { set, state } from "./state";

const LEAST = 52429; // less is 0.0 MiB

// On a phone its rows are blocks (page.css), which are no table by themselves: so its parts say what they are.
const text = (head: string, ...children: (Node | string | null | undefined | false)[]): HTMLElement => h("td", { class: "name", role: "cell", "data-head": head }, ...children);
const lineOf = (attrs: { [name: string]: string }, ...cells: HTMLElement[]): HTMLElement => {
  cells.forEach((c, i) => c.setAttribute("role", i ? "cell" : "rowheader"));
  return h("tr", { role: "row", ...attrs }, ...cells);
};
const wide = (id: string, heads: string[], rows: HTMLElement[]): HTMLElement => h("table", { id, class: "wide", role: "table" }, h("thead", { role: "rowgroup" }, h("tr", { role: "row" },
  ...heads.map((t, i) => h("th", { scope: "col", role: "columnheader", class: i === 1 || i === 2 ? "n" : "name" }, t)))), h("tbody", { role: "rowgroup" }, ...rows));

// The smallest rows that count; on the CPU, where none does, those that have no other below.
function leaves(): Account[] {
  const all = accounts(peakOf(state.place), state.place);
  const isEnd = (r: Account): boolean => r.leaf || (state.place === CPU && !all.some(o => o.path.startsWith(r.path + "/")));
  return all.filter(r => isEnd(r) && Math.abs(r.bytes) >= LEAST).sort((a, b) => b.bytes - a.bytes);
}

// What no leaf has: of a row that has parts.
function otherAdvice(): [Account, Row][] {
  return accounts(peakOf(state.place), state.place).filter(r => !r.leaf && evidenceOf(state.place, r.path)).flatMap(r => adviceOf(state.place, r).map(a => [r, a] as [Account, Row]));
}

function saves(all: Row[]): HTMLElement {
  const bytes = all.reduce((a, r) => a + Number(r.saves_bytes), 0);
  return all.length ? h("td", { class: "n saves", "data-bytes": bytes, title: String(all[0].known) }, mib(bytes) + (all.some(r => r.known === "at most") ? " at most" : "")) : h("td", { class: "n" }, "–");
}

// "heap, as asked for: python3.11": a library says little without what it has. Categories of tensors say enough.
function nameOf(r: Account): string {
  const above = accounts(peakOf(state.place), state.place).find(o => o.path === r.path.slice(0, r.path.lastIndexOf("/")));
  return above && above.account === r.account && !evidenceOf(state.place, r.path)?.is_category && !/\/(tensors|cached|partly|held)$/.test(r.path) && state.place !== CPU ? `${above.label}: ${r.label}` : r.label;
}

// What was said of an account above is not said again.
let said = new Set<string>();
function once(text: string): string {
  const is = said.has(text);
  said.add(text);
  return is ? "" : text;
}

function rowOf(r: Account, advice: Row[]): HTMLElement {
  const found = evidenceOf(state.place, r.path), e = found && withLines(state.place, r, found), kind = e && kindOf(e), back = givenBack(state.place, r), line = e?.lines[0];
  const todo = [...advice.map(a => `${a.finding}. ${a.less ?? ""}`), !advice.length && kind ? (e.is_category ? lessOfCategory(r) : kind.less) : "", back && !(e?.is_category && isOfAnyTensor(back)) ? `Given back ${givenBackBy(back)}.` : ""].filter(Boolean);
  return lineOf({ "data-explained": r.path }, h("th", { class: "name", scope: "row" }, h("button", { type: "button", title: "how it is known", click: () => goTo(r.path) }, nameOf(r))), figure(r.bytes), saves(advice),
    text("where it comes from", e?.is_category ? `Tensors: ${aboutCategory(r)}.` : once(kind?.why || kind?.said || ""), line && h("span", { class: "soft" }, ` Most of it: ${short(line.line)}, ${mib(line.bytes)} MiB.`)),
    text("what to do", todo.length ? todo.join(" ") : "–"));
}

function byRow(): HTMLElement {
  const all = leaves(), others = otherAdvice();
  said = new Set();
  if (!all.length) return h("p", { class: "soft" }, "There is no row of 0.1 MiB or more.");
  return scroll("each row explained", wide("t-explained", ["row", "MiB", "could save, MiB", "where it comes from", "what to do"],
    [...others.map(([r, a]) => rowOf(r, [a])), ...all.map(r => rowOf(r, adviceOf(state.place, r)))]));
}

const alike = (a: Tool, b: Tool | undefined): boolean => !!b && a.formula === b.formula && a.leaves_out === b.leaves_out && a.counts_twice === b.counts_twice;

// What is said of several that follow one another stands once.
function toolRow(t: Tool, i: number, all: Tool[]): HTMLElement {
  let span = 1;
  while (alike(t, all[i + span])) span++;
  const cells = i && alike(t, all[i - 1]) ? [] : [["is the sum of", t.formula], ["leaves out", t.leaves_out], ["counts twice", t.counts_twice]].map(([head, of]) => text(head, of));
  if (span > 1) cells.forEach(c => c.setAttribute("rowspan", String(span)));
  return lineOf({ "data-tool": t.word }, h("th", { class: "name", scope: "row" }, t.tool), figure(t.bytes), h("td", { class: "n" }, t.prints ?? ""), ...cells);
}

function tools(): HTMLElement[] {
  if (!page.explained.length) return [h("p", { class: "soft" }, "The recording has no process of which other tools would show something.")];
  const chosen = page.explained.find(p => p.pid === state.process) ?? page.explained[0], known = chosen.tools.filter(t => t.bytes != null), unknown = chosen.tools.filter(t => t.bytes == null);
  const reasons = new Map<string, string[]>();
  for (const t of unknown) reasons.set(t.not_known_because ?? "", [...reasons.get(t.not_known_because ?? "") ?? [], t.tool]);
  const more = peak.host.length > page.explained.length ? h("p", { class: "soft" }, `The page has ${page.explained.length} processes; tare explain REC --pid PID has any.`) : null;
  return [page.explained.length > 1 ? h("div", { class: "bar-row controls" }, tabs("of which process", page.explained.map(p => [String(p.pid), p.title.replace(/ · .*/, "")]), String(chosen.pid), v => set({ process: Number(v) }))) : null,
    h("p", { class: "soft" }, chosen.title + ". What it would have shown, of which parts that is the sum, what it leaves out and what it counts twice."),
    known.length ? scroll("other tools", wide("t-tools", ["tool", "MiB", "as it prints", "is the sum of", "leaves out", "counts twice"], known.map(toolRow))) : h("p", { class: "soft" }, "Of this process nothing is known that a tool would show."),
    chosen.do_not_add.length ? h("ul", { class: "todo" }, ...chosen.do_not_add.map(p => h("li", {}, `Do not add ${p.one} and ${p.other}: ${p.why}.`))) : null,
    unknown.length ? h("details", {}, h("summary", {}, `${unknown.length} tools of which nothing is known`), h("ul", { class: "todo" }, ...[...reasons].map(([why, names]) => h("li", {}, `${names.join(", ")}: ${why}.`)))) : null, more].filter(Boolean) as HTMLElement[];
}

export function explained(): HTMLElement {
  return section("explain", "Explained", h("h3", {}, `Each row at the peak of ${placeName(state.place)}`), byRow(), h("h3", {}, "What other tools show at the peak"), ...tools());
}
