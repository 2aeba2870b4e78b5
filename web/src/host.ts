// SPDX-License-Identifier: Apache-2.0
// The host's side: what processes had resident, over time and of what, and what they asked for: the heap by line, pinned memory, tensors.
import { Account, Host, Row, end, page, peak } from "./data";
import { between, steps, ticks } from "./axis";
import { STEPS, count, figure, h, mib, s, scroll, section, short, time } from "./dom";
import { evidenceOf } from "./evidence";
import { live } from "./live";
import { cursor } from "./model";
import { plainTable } from "./more";
import { room } from "./shell";
import { set, state } from "./state";

const LEFT = 54, HEIGHT = 150, LEAST = 52429;
// In host_moments, the colour, and what it is called there and in the report.
const parts: { at: number; colour: number; label: string; key: string }[] = [{ at: 4, colour: 2, label: "files and libraries", key: "file_bytes" },
  { at: 5, colour: 7, label: "shared memory", key: "shmem_bytes" }, { at: 3, colour: 0, label: "anonymous: heap, stacks, what was mapped", key: "anon_bytes" }];

type Known = { label: string; key: string; a: number | null; b: number | null; note: string; device?: number; path?: string };

const later = (p: Host): Host | undefined => end.host.find(e => e.pid === p.pid && e.generation === p.generation);
const bytesOf = (p: Host | undefined, key: string): number | null => p && p[key] != null ? Number(p[key]) : null;

// Rows of the heap of a process, which is a device of its own.
function heapRows(p: Host): Known[] {
  const out: Known[] = [], of = (r: Account, key: string): boolean => r.path === `process:${p.pid}${Number(p.generation) ? "." + p.generation : ""}/${key}`;
  for (const d of peak.devices.filter(d => d.heap))
    for (const key of ["heap", "mapped"]) {
      const now = d.accounts.find(r => of(r, key)), then = end.devices.find(e => e.index === d.index)?.accounts.find(r => of(r, key));
      if (now || then) out.push({ label: (now ?? then)!.label, key, a: now?.bytes ?? 0, b: then?.bytes ?? 0, note: (now ?? then)!.evidence ?? "", device: d.index, path: (now ?? then)!.path });
    }
  return out;
}

function asked(p: Host): Known[] {
  const e = later(p), tensors = (of: Host | undefined, key: string): number | null => of?.accounts.find(r => r.account === key && r.path.split("/").length === 2)?.bytes ?? null;
  const out = heapRows(p);
  for (const [key, label] of [["tensors", "tensors on the CPU (in the heap, too)"], ["mapped", "tensors in shared memory and mapped files"]]) out.push({ label, key: "tensors " + key, a: tensors(p, key), b: tensors(e, key), note: "exact" });
  for (const [key, label] of [["pinned_bytes", "pinned: cudaHostAlloc, pin_memory()"], ["registered_bytes", "registered: cudaHostRegister"]]) out.push({ label, key, a: bytesOf(p, key), b: bytesOf(e, key), note: "exact" });
  return out.filter(r => Math.max(r.a ?? 0, r.b ?? 0) >= LEAST);
}

function table(p: Host): HTMLElement {
  const e = later(p), whole = Math.max(1, bytesOf(p, "rss_bytes") ?? 0, bytesOf(e, "rss_bytes") ?? 0);
  const row = (r: Known, colour = 8, cls = "") => h("tr", { class: cls, "data-host": r.key }, h("th", { class: "name", scope: "row" }, r.label),
    h("td", { class: "bar", "aria-hidden": "true" }, cls !== "total" && h("span", { class: "track" }, h("i", { style: `width:${Math.min(100, 100 * Math.max(0, r.a ?? 0) / whole)}%;background-color:var(--c${colour})` }))), figure(r.a), figure(r.b), h("td", {}, r.note));
  const said = (label: string, key: string): Known => ({ label, key, a: bytesOf(p, key), b: bytesOf(e, key), note: "the kernel" });
  const group = (title: string) => h("tr", {}, h("th", { colspan: 5, scope: "colgroup", class: "soft" }, title));
  const known = asked(p);
  return scroll(`host memory of ${p.name}, pid ${p.pid}`, h("table", { "data-process": p.pid }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "MiB"), h("th", { class: "bar", "aria-hidden": "true" }), h("th", { class: "n", scope: "col" }, "at the peak"), h("th", { class: "n", scope: "col" }, "at the end"), h("th", { scope: "col" }, "who says so"))),
    h("tbody", {}, row(said("resident", "rss_bytes"), 8, "total"), ...parts.filter(q => (bytesOf(p, q.key) ?? bytesOf(e, q.key)) != null).map(q => row(said(q.label, q.key), q.colour)), Math.max(bytesOf(p, "swap_bytes") ?? 0, bytesOf(e, "swap_bytes") ?? 0) > 0 && row(said("swapped out", "swap_bytes"), 3),
      known.length > 0 && group("Asked for, touched or not: no part of the sum above"), ...known.map(r => row(r, r.key === "heap" ? 5 : r.key === "mapped" ? 4 : 1)))));
}

// ---- over time ----

type Course = { t: number[]; rows: (number | null)[][] };
function courseOf(p: Host): Course {
  const out: Course = { t: [], rows: [] };
  for (const m of page.host_moments) {
    const row = m.rows.find(r => r[0] === p.pid && r[1] === p.generation);
    if (row?.[2] != null) { out.t.push(m.t_ns); out.rows.push(row); }
  }
  return out;
}

function curve(p: Host, c: Course): HTMLElement {
  const WIDTH = Math.max(280, room());
  const whole = page.time.account, most = Math.max(1, ...c.rows.map(r => r[2]!)), known = parts.filter(q => c.rows.every(r => r[q.at] != null));
  const x = (t: number) => LEFT + (WIDTH - LEFT) * (t - whole.from_ns) / (whole.to_ns - whole.from_ns || 1), y = (b: number) => HEIGHT * (1 - b / most * .95);
  let below = c.t.map(() => 0);
  const drawn = known.map(q => {
    const low = below;
    below = low.map((b, i) => b + c.rows[i][q.at]!);
    return s("path", { class: "edge", d: between(c.t, low, below, whole.to_ns, x, y), style: `fill:var(--c${q.colour})` }, s("title", {}, q.label));
  });
  const rss = c.rows.map(r => r[2]!), top = rss.indexOf(most), clock = (t: number) => time(t, (whole.to_ns - whole.from_ns) / STEPS);
  const svg = s("svg", { viewBox: `0 -6 ${WIDTH} ${HEIGHT + 26}`, role: "img", "aria-label": `Resident memory of ${p.name} over time: ${mib(rss[0])} MiB at ${clock(c.t[0])}, ${mib(most)} at ${clock(c.t[top])}, ${mib(rss[rss.length - 1])} at ${clock(c.t[c.t.length - 1])}` },
    ...ticks(most).map(v => s("g", {}, s("path", { class: "grid", d: `M${LEFT} ${y(v)}H${WIDTH}` }), s("text", { class: "soft", x: LEFT - 6, y: y(v) + 4, "text-anchor": "end" }, mib(v).replace(/\.0$/, "")))),
    ...drawn, s("path", { d: steps(c.t, rss, whole.to_ns, x, y), style: "fill:none;stroke:var(--ink)" }), live(() => s("path", { class: "cursor", d: cursor() >= whole.from_ns && cursor() <= whole.to_ns ? `M${x(cursor()).toFixed(1)} 0V${HEIGHT}` : "" })),
    s("text", { class: "soft", x: LEFT, y: HEIGHT + 16 }, clock(whole.from_ns)), s("text", { class: "soft", x: WIDTH, y: HEIGHT + 16, "text-anchor": "end" }, clock(whole.to_ns)));
  const cells = (r: (number | null)[]) => [2, 3, 4, 5, 6].map(i => figure(r[i]));
  return h("div", {}, h("p", { class: "keys soft" }, ...known.map(q => h("span", {}, h("span", { class: "key", style: `background-color:var(--c${q.colour})` }), q.label))), svg as any,
    h("details", {}, h("summary", {}, `The ${c.t.length} moments of this curve`), scroll("resident memory over time", h("table", { "data-course": p.pid }, h("thead", {}, h("tr", {}, ...["at", "resident", "anonymous", "files", "shared", "swapped out"].map((t, i) => h("th", { scope: "col", class: i ? "n" : "" }, t + (i ? ", MiB" : ""))))),
      h("tbody", {}, ...c.t.map((t, i) => h("tr", { "data-t": t }, h("th", { scope: "row", class: "n" }, clock(t)), ...cells(c.rows[i]))))))));
}

// ---- of what ----

function heapLines(r: Known): HTMLElement | null {
  const e = evidenceOf(r.device!, r.path!);
  if (!e?.lines.length) return null;
  return h("div", {}, h("h4", {}, `Lines of “${r.label}” at the peak`), scroll("lines of " + r.label, h("table", { "data-lines": r.path! }, h("tbody", {}, ...e.lines.map(l => h("tr", {}, figure(l.bytes), h("td", { class: "n" }, count(l.count) + " ×"), h("td", { class: "name", title: l.line }, short(l.line)))),
    e.more_lines > 0 && h("tr", { class: "dim" }, figure(e.more_bytes), h("td", {}), h("td", { class: "name" }, `${count(e.more_lines)} other lines`))))));
}

function goToHeap(device: number): void {
  set({ place: device, path: "", row: "", by: "stack" });
  const title = document.getElementById("where-h")!;
  title.tabIndex = -1;
  title.scrollIntoView();
  title.focus({ preventScroll: true });
}

function of(p: Host): (HTMLElement | null)[] {
  const heap = heapRows(p), pinned = (p.pinned as { lines?: Row[] } | null)?.lines ?? [];
  return [...heap.map(heapLines), heap.length ? h("p", { class: "controls" }, h("button", { type: "button", click: () => goToHeap(heap[0].device!) }, "the heap by stack and over time")) : null,
    pinned.length ? h("div", {}, h("h4", {}, "Pinned memory by line"), plainTable(pinned, Object.keys(pinned[0]).filter(k => typeof pinned[0][k] !== "object" || pinned[0][k] == null), "t-pinned-" + p.pid)) : null];
}

function processOf(p: Host): HTMLElement {
  const c = courseOf(p), most = bytesOf(p, "peak_rss_bytes"), now = bytesOf(p, "rss_bytes"), e = bytesOf(later(p), "rss_bytes");
  return h("div", { "data-of": p.pid }, h("h3", {}, `${p.name} (pid ${p.pid})`),
    now == null && e == null ? h("p", { class: "soft" }, "What it had resident was not read: it was too short, or the recording is of another tool.") :
      h("p", {}, h("b", { "data-bytes": now ?? "" }, mib(now) + " MiB"), " resident at the peak", most != null ? ", " : ".", most != null && h("b", { "data-bytes": most }, mib(most) + " MiB"), most != null ? " at most in its life." : ""),
    c.t.length > 1 && curve(p, c), table(p), ...of(p));
}

const FIRST = 4;
export function host(): HTMLElement | false {
  const all = [...peak.host, ...end.host.filter(e => !peak.host.some(p => p.pid === e.pid && p.generation === e.generation)).map(e => ({ ...e, rss_bytes: null, anon_bytes: null, file_bytes: null, shmem_bytes: null, swap_bytes: null, pinned_bytes: null, registered_bytes: null, accounts: [] }))];
  if (!all.length) return false;
  all.sort((a, b) => (bytesOf(b, "rss_bytes") ?? 0) - (bytesOf(a, "rss_bytes") ?? 0));
  const hasHeap = peak.devices.some(d => d.heap), shared = peak.shared;
  return section("host", "Memory of the host", ...all.slice(0, FIRST).map(processOf), all.length > FIRST && h("details", {}, h("summary", {}, `${count(all.length - FIRST)} more processes`),
    plainTable(all.slice(FIRST) as unknown as Row[], ["name", "pid", "rss_bytes", "anon_bytes", "file_bytes", "shmem_bytes", "swap_bytes", "peak_rss_bytes", "pinned_bytes", "registered_bytes"], "t-host")),
    shared.length > 0 && h("div", {}, h("h3", {}, "Tensors in shared memory and mapped files, each once"), plainTable(shared, ["line", "pid", "bytes", "count"], "t-shared")),
    !hasHeap && h("p", { class: "soft" }, "What the heap consists of was not recorded; tare run --host=sample records it, by line and stack."),
    h("p", { class: "soft" }, "Resident memory is what the kernel says of each process, so what two share is in both. Which files and libraries it is, and stacks of threads, tare weigh PID says while the program runs."));
}
