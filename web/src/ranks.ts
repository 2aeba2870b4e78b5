// SPDX-License-Identifier: Apache-2.0
// Ranks of one job side by side: what each has at the peak of its GPU and at the end, by what they differ, and in which row.
import { Account, Row, end, peak, view } from "./data";
import { count, figure, h, mib, scroll, section, time } from "./dom";
import { set, state } from "./state";

type Rank = { key: string; name: string; host: string; bytes: number; need: number; parts: number[]; end: number; rows: Row[]; leaves: Map<string, number> };
type Difference = { row: string; label: string; bytes: number[]; spread: number };

const PARTS: [string, string, number][] = [["context_bytes", "context", 6], ["code_bytes", "kernel code", 2], ["allocation_bytes", "allocations", 5],
  ["pool_bytes", "pools", 1], ["graph_bytes", "graphs", 4], ["rest_bytes", "the rest", 8]];
const FIRST = 24, COLUMNS = 8, SMALL = 2 * 1048576; // a page of the driver more or less

const keyOf = (r: Row): string => `${r.rank}/${r.pid}/${r.host ?? ""}`;
const sum = (list: number[]): number => list.reduce((a, b) => a + b, 0);

// Rows of a rank on several GPUs are one rank.
function ranks(): Rank[] {
  const rows = view("rank", "peak")?.rows ?? [], by = new Map<string, Rank>(), jobs = new Set(rows.map(r => r.job)).size > 1, again = rows.some(r => Number(r.attempt) > 0);
  for (const r of rows) {
    const name = `rank ${r.rank}` + (jobs && r.job ? ` of ${r.job}` : "") + (again ? `, attempt ${r.attempt}` : "");
    const rank: Rank = by.get(keyOf(r)) ?? { key: keyOf(r), name, host: String(r.host ?? ""), bytes: 0, need: 0, parts: PARTS.map(() => 0), end: 0, rows: [], leaves: new Map() };
    rank.bytes += Number(r.bytes);
    rank.need += Number(r.need_bytes);
    PARTS.forEach(([key], i) => { rank.parts[i] += Number(r[key]); });
    rank.rows.push(r);
    by.set(rank.key, rank);
  }
  const all = [...by.values()];
  addLeaves(all, peak.devices.flatMap(d => d.accounts), (rank, a) => { rank.leaves.set(rowOf(a), (rank.leaves.get(rowOf(a)) ?? 0) + a.bytes); });
  addLeaves(all, end.devices.flatMap(d => d.accounts), (rank, a) => { rank.end += a.bytes; });
  return all;
}

// "process:431/allocations/libc10_cuda" of each process is one row, which is called by the labels on the way to it.
const rowOf = (a: Account): string => a.path.slice(a.path.indexOf("/") + 1);

function labels(): Map<string, string> {
  const own = new Map<string, string>();
  for (const d of peak.devices) for (const a of d.accounts) own.set(rowOf(a), a.label);
  const label = (row: string): string => {
    const above = row.slice(0, Math.max(0, row.lastIndexOf("/")));
    return (above ? label(above) + " · " : "") + (own.get(row) ?? row.slice(above.length));
  };
  return new Map([...own.keys()].map(row => [row, label(row)]));
}

// A process that a rank started counts for the rank, as in its row.
function addLeaves(all: Rank[], accounts: Account[], add: (rank: Rank, a: Account) => void): void {
  for (const a of accounts as (Account & { rank: number | null; pid: number })[]) {
    if (!a.leaf || a.rank == null) continue;
    const of = all.filter(r => r.rows[0].rank === a.rank), rank = of.find(r => r.rows[0].pid === a.pid) ?? of[of.length - 1];
    if (rank) add(rank, a);
  }
}

function differences(all: Rank[]): Difference[] {
  const called = labels(), rows = [...new Set(all.flatMap(r => [...r.leaves.keys()]))];
  return rows.map(row => {
    const bytes = all.map(r => r.leaves.get(row) ?? 0);
    return { row, label: called.get(row) ?? row, bytes, spread: bytes.reduce((a, b) => Math.max(a, b)) - bytes.reduce((a, b) => Math.min(a, b)) };
  }).sort((a, b) => b.spread - a.spread);
}

function sentence(all: Rank[]): HTMLElement {
  const i = (view("rank", "peak") as unknown as { imbalance?: Row | null })?.imbalance, failed = all.find(r => r.rows.some(x => x.failed_first));
  const said: (Node | string)[] = [`${count(all.length)} rank${all.length > 1 ? "s" : ""}. `];
  const bytes = (n: unknown) => h("b", { "data-bytes": Number(n) }, mib(Number(n)));
  if (i && Number(i.most_bytes) - Number(i.least_bytes) <= SMALL) said.push("Balanced: each has ", bytes(i.least_bytes), " to ", bytes(i.most_bytes), " MiB at the peak of its GPU.");
  else if (i) said.push(`At the peak of its GPU rank ${i.most_rank} has most, `, bytes(i.most_bytes), ` MiB; rank ${i.least_rank} least, `, bytes(i.least_bytes), "; the median is ", bytes(i.median_bytes),
    `. They differ most in ${PARTS.find(([key]) => key === i.part)?.[1] ?? "nothing"}, by `, bytes(Math.abs(Number(i.part_bytes))), " MiB.");
  if (failed) said.push(h("span", { class: "bad" }, ` ${failed.name} failed first: ${ended(failed.rows[0])}.`));
  return h("p", { id: "ranks-now", role: "status" }, ...said);
}

const ended = (r: Row): string => String(r.end) + (r.code != null ? " " + r.code : "") + (r.oom_killer ? " (OOM killer)" : "");

function choose(rank: Rank): void {
  const home = rank.rows.reduce((a, b) => Number(b.bytes) > Number(a.bytes) ? b : a);
  set({ rank: rank.key, path: "", ...(home.device != null ? { place: Number(home.device) } : {}) });
}

function bars(all: Rank[], high: number): HTMLElement {
  const shown = PARTS.map((_, i) => i).filter(i => all.some(r => r.parts[i]));
  return h("div", {}, h("p", { class: "keys" }, ...shown.map(i => h("span", {}, h("span", { class: "key", style: `background-color:var(--c${PARTS[i][2]})` }), PARTS[i][1]))),
    h("div", { class: "fall", role: "group", "aria-label": "ranks: a button shows its GPU in everything else" }, ...all.flatMap(r => {
      let at = 0;
      const parts = shown.map(i => {
        const left = at;
        at += r.parts[i];
        return h("i", { style: `left:${100 * left / high}%;width:${100 * Math.max(0, r.parts[i]) / high}%;background-color:var(--c${PARTS[i][2]})`, title: `${r.name}, ${PARTS[i][1]}: ${mib(r.parts[i])} MiB` });
      });
      return [h("button", { type: "button", "data-rank": r.key, "aria-pressed": String(state.rank === r.key), "aria-label": `${r.name}: ${mib(r.bytes)} MiB`, click: () => choose(r) }, r.name), h("div", { class: "track" }, ...parts), figure(r.bytes, "span")];
    })));
}

function table(all: Rank[]): HTMLElement {
  const hosts = new Set(all.map(r => r.host)).size > 1, shown = PARTS.filter(([key]) => all.some(r => r.rows.some(x => x[key])));
  const head = (text: string, n = true) => h("th", { scope: "col", class: n ? "n" : "" }, text);
  const row = (r: Rank, x: Row, i: number) => h("tr", { "data-rank": r.key, "data-device": x.device == null ? "" : Number(x.device) }, h("th", { scope: "row" }, i ? "" : r.name), hosts && h("td", {}, r.host),
    h("td", { class: "n" }, x.device == null ? "–" : String(x.device)), figure(Number(x.bytes)), figure(Number(x.need_bytes)), ...shown.map(([key]) => figure(Number(x[key]))), figure(x.device_used_bytes as number | null),
    h("td", { class: "n" }, x.t_ns == null ? "–" : time(Number(x.t_ns))), i ? h("td", {}) : figure(r.end), h("td", { class: x.failed_first ? "bad" : "" }, ended(x) + (x.failed_first ? ", first" : "")));
  return scroll("ranks", h("table", { id: "t-ranks" }, h("thead", {}, h("tr", {}, head("MiB", false), hosts && head("host", false), head("GPU"), head("at its peak"), head("of it needed"), ...shown.map(([, name]) => head(name)), head("used on the GPU"), head("when"), head("at the end"), head("how it ended", false))),
    h("tbody", {}, ...all.flatMap(r => r.rows.map((x, i) => row(r, x, i))))));
}

// Who differs, and in which row: of few ranks each has a column, of many the least and the most are named.
function differ(all: Rank[]): HTMLElement | false {
  if (all.length < 2) return false;
  const rows = differences(all), told = rows.filter(d => d.spread > 0), same = rows.filter(d => !d.spread), few = all.length <= COLUMNS, head = (text: string) => h("th", { class: "n", scope: "col" }, text);
  const at = (d: Difference, bytes: number) => all[d.bytes.indexOf(bytes)].name.replace("rank ", "");
  const middle = (d: Difference) => { const s = [...d.bytes].sort((a, b) => a - b), n = s.length; return Math.floor((s[(n - 1) >> 1] + s[n >> 1]) / 2); };
  const cells = (d: Difference) => {
    const low = d.bytes.reduce((a, b) => Math.min(a, b)), high = d.bytes.reduce((a, b) => Math.max(a, b));
    return few ? d.bytes.map(b => figure(b)) : [figure(low), h("td", { class: "n" }, at(d, low)), figure(middle(d)), figure(high), h("td", { class: "n" }, at(d, high))];
  };
  return h("div", {}, h("h3", {}, "In which row they differ"), told.length ? scroll("rows in which ranks differ", h("table", { id: "t-differ" }, h("thead", {}, h("tr", {}, h("th", { class: "name", scope: "col" }, "at the peak of each, MiB"),
    ...(few ? all.map(r => head(r.name)) : [head("least"), head("rank"), head("median"), head("most"), head("rank")]), head("apart"))),
    h("tbody", {}, ...told.slice(0, FIRST).map(d => h("tr", { "data-row": d.row }, h("th", { class: "name", scope: "row" }, d.label), ...cells(d), figure(d.spread)))))) : false,
    h("p", { class: "soft" }, told.length > FIRST ? `${count(told.length - FIRST)} more rows differ by at most ${mib(told[FIRST].spread)} MiB. ` : "",
      same.length ? `${count(same.length)} row${same.length > 1 ? "s are" : " is"} the same in all ranks: ${mib(sum(same.map(d => d.bytes[0])))} MiB.` : ""));
}

export function ranksSection(): HTMLElement | false {
  const all = ranks(), high = Math.max(1, ...all.map(r => r.bytes));
  if (!all.length) return false;
  return section("ranks", "Ranks", sentence(all), bars(all.slice(0, FIRST), high), all.length > FIRST && h("details", {}, h("summary", {}, `${count(all.length - FIRST)} more`), bars(all.slice(FIRST), high)),
    differ(all), h("details", {}, h("summary", {}, "Every rank as a table"), table(all)));
}
