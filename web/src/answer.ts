// SPDX-License-Identifier: Apache-2.0
// The answer first: the worst moment in a sentence, from what nvidia-smi shows to what the program asked for, and what to do about it.
import { ASKED_FOR, Account, CPU, Device, LEAST, Row, accounts, deviceOf, page, peak, peakOf, placeName, places } from "./data";
import { count, h, mib, part, section, short, size, time } from "./dom";
import { panelOf, peakTime } from "./model";
import { preferred } from "./stack";
import { state } from "./state";

type Part = { label: string; bytes: number; net: boolean; elastic: boolean };

// "allocations: demo": who has it says little without what it is.
function nameOf(r: Account, rows: Account[]): string {
  const above = rows.find(o => o.path === r.path.slice(0, r.path.lastIndexOf("/")));
  return above && above.account === r.account && !/\/tensors$/.test(above.path) ? above.label + ": " + r.label : r.label;
}

// What counts: leaves, the same of several processes together. Live tensors stand as what they are for.
export function parts(place: number): Part[] {
  const by = new Map<string, Part>(), rows = accounts(peakOf(place), place);
  const tensors = rows.some(r => /\/tensors\//.test(r.path));
  const isLeaf = (r: Account): boolean => r.leaf || (place === CPU && !rows.some(o => o.path.startsWith(r.path + "/")));
  for (const r of rows) {
    if (!isLeaf(r)) continue;
    const net = place === CPU || (tensors ? /\/tensors(\/|$)/.test(r.path) : ASKED_FOR.test(r.account));
    const label = nameOf(r, rows), key = label + (net ? "+" : "");
    const was = by.get(key) ?? { label, bytes: 0, net, elastic: !!r.elastic };
    was.bytes += r.bytes;
    by.set(key, was);
  }
  const unexplained = deviceOf(peak, place)?.unexplained_bytes;
  if (unexplained) by.set("unexplained", { label: "unexplained", bytes: unexplained, net: false, elastic: false });
  return [...by.values()].filter(p => p.bytes).sort((a, b) => Number(a.net) - Number(b.net) || b.bytes - a.bytes);
}

export function used(place: number): number {
  return deviceOf(peak, place)?.used_bytes ?? panelOf(page.time.account, place)?.peak_used_bytes
    ?? parts(place).reduce((a, p) => a + p.bytes, 0);
}

// Of the card that the program was to see, where there is one (--vram, --card).
function leftOf(place: number, d: Device | undefined): HTMLElement | null {
  if (d?.total_bytes == null || d.used_bytes == null || place === 1000)
    return null;
  const free = d.card?.free_bytes ?? d.total_bytes - (d.reserved_bytes ?? 0) - d.used_bytes;
  const total = d.card?.total_bytes ?? d.total_bytes;
  return h("span", { class: "soft", "data-left": free }, ` ${mib(free)} MiB of ${mib(total)}${d.card ? " (--vram)" : ""} were left.`);
}

function sentence(place: number): HTMLElement {
  const all = parts(place), most = [...all].sort((a, b) => b.bytes - a.bytes)[0], d = deviceOf(peak, place);
  const whole = used(place), t = peakTime(place);
  const left = leftOf(place, d);
  return h("p", { class: "lead", "data-place": place }, h("b", { "data-bytes": whole }, mib(whole) + " MiB"), ` at most, ${t ? "at " + time(t) + ", " : ""}`,
    place === CPU ? "in tensors on the CPU" : (deviceOf(peak, place)?.heap ? "in " : "on ") + placeName(place), most ? `: most of it is ${most.label}, ` : ".",
    most && h("b", { "data-bytes": most.bytes }, mib(most.bytes) + " MiB"), most ? ` (${part(most.bytes, whole)}).` : "",
    place === CPU ? resident() : null, d?.heap ? firstLine(place, whole) : null,
    left);
}

// Of a heap the library that asked is the interpreter, or the program: the line says more.
function firstLine(place: number, whole: number): HTMLElement | null {
  const by = new Map<number, number>();
  for (const r of page.moments.find(m => m.at === "peak")?.rows ?? [])
    if (r[0] === place && r[1] >= 0) by.set(page.stacks[r[1]][0], (by.get(page.stacks[r[1]][0]) ?? 0) + r[2]);
  const [line, bytes] = [...by].sort((a, b) => b[1] - a[1])[0] ?? [-1, 0];
  return bytes > 0 ? h("span", {}, ` ${short(page.lines[line])} asked for most, `, h("b", { "data-bytes": bytes, "data-line": page.lines[line] }, mib(bytes) + " MiB"), ` (${part(bytes, whole)}).`) : null;
}

// What the processes had in all: tensors are a part of it.
function resident(): HTMLElement | null {
  const most = peak.host.filter(p => p.peak_rss_bytes != null);
  return most.length ? h("span", { class: "soft" }, ` Resident at most: ${most.slice(0, 4).map(p => `${p.name} ${mib(Number(p.peak_rss_bytes))} MiB`).join(", ")}${most.length > 4 ? " …" : "."}`) : null;
}

function fall(place: number): HTMLElement {
  const all = parts(place), whole = used(place), rows: HTMLElement[] = [];
  let left = whole;
  const scale = Math.max(whole, all.reduce((a, p) => a + Math.max(0, p.bytes), 0)) || 1;
  const bar = (from: number, bytes: number, colour: string, hatch = false) => h("div", { class: "track" },
    h("i", { class: hatch ? "hatch" : "", style: `left:${100 * Math.max(0, from) / scale}%;width:${100 * Math.abs(bytes) / scale}%;background-color:${colour}` }));
  const row = (label: string, track: HTMLElement, bytes: number, total = false) => rows.push(
    h("span", { class: total ? "total" : "" }, label), track, h("span", { class: "n" + (total ? " total" : ""), "data-bytes": bytes, "data-part": label }, mib(bytes)));
  row(place === CPU ? "tensors" : "used", bar(0, whole, "var(--ink)"), whole, true);
  const net = all.filter(p => p.net);
  for (const p of all.filter(p => !p.net)) {
    left -= p.bytes;
    row((p.elastic ? "~ " : "- ") + p.label, bar(left, p.bytes, p.label === "unexplained" ? "var(--c8)" : "var(--c3)", p.elastic), p.bytes);
  }
  if (all.length > net.length) row("= asked for", bar(0, left, "var(--ink)"), left, true);
  let from = 0;
  for (const p of net) {
    row(p.label, bar(from, p.bytes, `var(--c${preferred[p.label] ?? 5})`, p.elastic), p.bytes);
    from += p.bytes;
  }
  return h("div", { class: "fall" }, ...rows);
}

const text = (row: Row, key: string): string => row[key] == null ? "" : String(row[key]);

function todo(): HTMLElement[] {
  const out: HTMLElement[] = [];
  const item = (...of: (Node | string | null | false)[]) => out.push(h("li", {}, ...of));
  for (const o of peak.out_of_memory)
    item(h("b", { class: "bad" }, "Memory ran out"), ` at ${time(Number(o.t_ns))}: ${mib(Number(o.asked_bytes))} MiB were asked for`,
      o.source ? ` by ${short(text(o, "source"))}` : "", Number(o.count) > 1 ? `, ${count(Number(o.count))} times` : "", `: ${text(o, "why")}.`);
  for (const g of peak.growth)
    item(h("b", { class: "bad" }, "It grows"), `: ${text(g, "what")}, by ${g.bytes_per_step != null ? `${size(Number(g.bytes_per_step))} a step` : `${size(Number(g.bytes_per_second))} a second`}, `,
      `${size(Number(g.bytes))} so far`, g.line ? ", from " : "", g.line ? h("span", { title: text(g, "line") }, short(text(g, "line"))) : "", ` (${Math.round(100 * Number(g.confidence))} % sure).`);
  for (const a of peak.advice)
    item(h("b", { "data-bytes": Number(a.saves_bytes) }, mib(Number(a.saves_bytes)) + " MiB"), ` ${text(a, "known")}: ${text(a, "finding")}. `, h("span", { class: "soft" }, text(a, "less")));
  return out;
}

export function answer(): HTMLElement {
  const large = places.filter(p => used(p) >= LEAST), told = large.length ? large : places.filter(p => used(p) > 0), items = todo();
  const sentences = told.length ? told.map(sentence) : [h("p", { class: "lead" }, "No memory was recorded: the program used no GPU, and no tensors on the CPU.", resident())];
  const complaints = [...peak.degraded.map(d => h("p", { class: "bad" }, "! " + d)),
    ...peak.losses.map(l => h("p", { class: "bad" }, `! records are missing, ${l.records == null ? "nobody knows how many" : count(Number(l.records))}: ${text(l, "why")}`))];
  return section("answer", "The worst moment", ...sentences, ...complaints,
    told.length > 0 && h("h3", {}, "From what is used to what was asked for, MiB"), told.length > 0 && fall(state.place),
    h("h3", {}, "What to do"), items.length ? h("ul", { class: "todo" }, ...items) : h("p", { class: "soft" }, "Nothing stands out that would make it less."),
    ...peak.notes.map(n => h("p", { class: "soft" }, n)));
}
