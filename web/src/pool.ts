// SPDX-License-Identifier: Apache-2.0
// PyTorch's pool: segments in the order of their addresses, the blocks in them by what they are for, the one that pins each; and what other settings would have had.
import { Row, page, view } from "./data";
import { count, h, mib, part, put, s, section, short } from "./dom";
import { plainTable } from "./more";
import { reportNow } from "./model";
import { room } from "./shell";
import { GREY, categoryColours } from "./stack";
import { state } from "./state";

type Block = [number, number, number, number]; // offset, bytes, category, line or -1
type Segment = { address: string; bytes: number; live: number; stuck: number; blocks: number; pin: string | null; pinBytes: number; pinSource: string; kind: string; inside: Block[] };
type Place = { segment: Segment; x: number; y: number; width: number };

const ROW = 22, GAP = 6, ROWS = 14, LEAST = 3;
let colours: Map<string, number> | undefined;

function colourOf(category: number): number {
  colours ??= categoryColours(page.pool.segments.flatMap(x => x.blocks.map(([, bytes, c]): [string, number] => [page.pool.categories[c], bytes])));
  return colours.get(page.pool.categories[category]) ?? GREY;
}

function segments(at: string): Segment[] {
  const inside = new Map(page.pool.segments.filter(b => b.at === at && b.device === state.place).map(b => [b.pid + " " + b.address, b.blocks as Block[]]));
  const number = (a: string): bigint => { try { return BigInt(a); } catch { return 0n; } };
  return (view("pool", at)?.segments ?? []).filter(x => x.device === state.place).map(x => ({ address: String(x.address), bytes: Number(x.bytes), live: Number(x.live_bytes), stuck: Number(x.stuck_bytes), blocks: Number(x.blocks),
    pin: x.pin_address == null ? null : String(x.pin_address), pinBytes: Number(x.pin_bytes ?? 0), pinSource: String(x.pin_source ?? ""), inside: inside.get(x.pid + " " + x.address) ?? [],
    kind: [x.expandable && "expandable", x.for_graphs && "for graphs", x.trial && "of a trial"].filter(Boolean).join(", ") })).sort((a, b) => number(a.address) < number(b.address) ? -1 : 1);
}

// From left to right, a new row where one is full; all to one scale, but for what would be too narrow to be seen.
function layOut(all: Segment[], width: number): { places: Place[]; rows: number; scale: number } {
  const whole = all.reduce((a, x) => a + x.bytes, 0), most = Math.max(...all.map(x => x.bytes)), scale = width / Math.max(most, whole / ROWS), places: Place[] = [];
  let x = 0, y = 0;
  for (const segment of all) {
    const w = Math.max(LEAST, segment.bytes * scale - 2);
    if (x > 0 && x + w > width + .5) { x = 0; y++; }
    places.push({ segment, x, y: y * (ROW + GAP), width: w });
    x += w + 2;
  }
  return { places, rows: y + 1, scale };
}

function offset(address: string | null, of: string): number {
  try { return address == null ? -1 : Number(BigInt(address) - BigInt(of)); } catch { return -1; }
}

function draw(places: Place[], rows: number, width: number, chosen: number): SVGElement {
  const by = new Map<number, string>(), seg: string[] = [], plain: string[] = [], pins: string[] = [];
  for (const p of places) {
    const scale = p.width / p.segment.bytes, top = p.y + .5, high = ROW - 1;
    seg.push(`M${p.x.toFixed(1)} ${top}h${p.width.toFixed(1)}v${high}h${(-p.width).toFixed(1)}z`);
    if (!p.segment.inside.length && p.segment.live) plain.push(`M${p.x.toFixed(1)} ${top}h${(p.segment.live * scale).toFixed(1)}v${high}h${(-p.segment.live * scale).toFixed(1)}z`);
    for (const [from, bytes, category] of p.segment.inside) {
      const w = Math.max(.4, bytes * scale - .3);
      by.set(colourOf(category), (by.get(colourOf(category)) ?? "") + `M${(p.x + from * scale).toFixed(1)} ${top}h${w.toFixed(1)}v${high}h${(-w).toFixed(1)}z`);
    }
    const pin = offset(p.segment.pin, p.segment.address);
    if (pin >= 0 && pin < p.segment.bytes && p.segment.stuck) pins.push(`M${(p.x + (pin + p.segment.pinBytes / 2) * scale).toFixed(1)} ${p.y + ROW}l4 5h-8z`);
  }
  const at = places[chosen];
  return s("svg", { viewBox: `0 -1 ${width} ${rows * (ROW + GAP) + 1}`, "aria-hidden": "true", id: "segs" }, s("path", { class: "segment", d: seg.join("") }), s("path", { d: plain.join(""), style: "fill:var(--c8)" }),
    ...[...by].map(([c, d]) => s("path", { d, style: `fill:var(--c${c})` })), s("path", { class: "outline", d: seg.join("") }), s("path", { class: "pin", d: pins.join("") }),
    at ? s("rect", { class: "chosen", x: at.x, y: at.y, width: at.width, height: ROW }) : null);
}

function words(x: Segment, block?: Block): string {
  const lines = page.pool.lines, name = (b: Block) => `${mib(b[1])} MiB ${page.pool.categories[b[2]]}${b[3] >= 0 ? ", " + short(lines[b[3]]) : ""}`;
  return `${x.address}: ${mib(x.bytes)} MiB${x.kind ? " " + x.kind : ""}, ${mib(x.live)} live in ${count(x.blocks)} blocks, ${mib(x.stuck)} stuck` + (x.stuck && x.pin ? `, pinned by ${mib(x.pinBytes)} MiB of ${short(x.pinSource)}` : "") + (block ? `. Here: ${name(block)}` : "") + ".";
}

// The pointer, or the arrow keys, read a segment and the block in it.
function map(all: Segment[], width: number): HTMLElement {
  const { places, rows } = layOut(all, width), said = h("p", { class: "soft", id: "segment", role: "status" }, "Point at a segment, or use the arrow keys.");
  let chosen = -1, svg = draw(places, rows, width, chosen);
  const box = h("div", { class: "plot", id: "pool-map", tabindex: 0, role: "slider", "aria-label": "segment", "aria-valuemin": 0, "aria-valuemax": Math.max(0, places.length - 1), "aria-valuenow": 0, "aria-valuetext": "no segment" }, svg as any);
  const choose = (i: number, block?: Block): void => {
    put(said, words(places[i].segment, block));
    box.setAttribute("aria-valuenow", String(i));
    box.setAttribute("aria-valuetext", said.textContent!);
    if (i === chosen) return;
    chosen = i;
    svg.querySelector(".chosen")?.remove();
    svg.append(s("rect", { class: "chosen", x: places[i].x, y: places[i].y, width: places[i].width, height: ROW }));
  };
  const read = (e: PointerEvent): void => {
    const r = svg.getBoundingClientRect(), x = (e.clientX - r.left) / r.width * width, y = (e.clientY - r.top) / r.width * width;
    const i = places.findIndex(p => y >= p.y && y < p.y + ROW + GAP && x >= p.x && x <= p.x + p.width);
    if (i < 0) return;
    const at = (x - places[i].x) / places[i].width * places[i].segment.bytes;
    choose(i, places[i].segment.inside.find(b => at >= b[0] && at < b[0] + b[1]));
  };
  box.addEventListener("pointermove", read);
  box.addEventListener("pointerdown", read);
  box.addEventListener("keydown", (e: KeyboardEvent) => {
    const to = { ArrowRight: chosen + 1, ArrowLeft: chosen - 1, Home: 0, End: places.length - 1, ArrowDown: places.findIndex(p => chosen >= 0 && p.y > places[chosen].y && p.x + p.width > places[chosen].x),
      ArrowUp: places.length - 1 - [...places].reverse().findIndex(p => chosen >= 0 && p.y < places[chosen].y && p.x <= places[chosen].x) }[e.key];
    if (to == null) return;
    e.preventDefault();
    if (to >= 0 && to < places.length) choose(to);
  });
  return h("div", {}, box, said);
}

export function pool(): HTMLElement | false {
  const at = reportNow().at.label, all = segments(at);
  if (!all.length) return false;
  const sum = (of: (x: Segment) => number) => all.reduce((a, x) => a + of(x), 0), kinds = new Map<number, number>();
  for (const x of all) for (const b of x.inside) kinds.set(b[2], (kinds.get(b[2]) ?? 0) + b[1]);
  const width = Math.max(280, room()), drawn = [...kinds].sort((a, b) => b[1] - a[1]);
  const inside = [...kinds.values()].reduce((a, b) => a + b, 0);
  return section("pool", "PyTorch's pool", h("p", { class: "soft", "data-bytes": sum(x => x.bytes), "data-live": sum(x => x.live) }, `At the ${at}: ${count(all.length)} segments by address, ${mib(sum(x => x.bytes))} MiB, of which ${mib(sum(x => x.live))} are live and ${mib(sum(x => x.stuck))} are stuck beside them. What has no colour is free; a ▲ stands below the block that pins a segment.`),
    h("p", { class: "keys", id: "pool-keys" }, ...drawn.map(([category, bytes]) => h("span", { "data-category": page.pool.categories[category], "data-bytes": bytes }, h("span", { class: "key", style: `background-color:var(--c${colourOf(category)})` }), `${page.pool.categories[category]} ${mib(bytes)}`)),
      sum(x => x.live) > inside && h("span", {}, h("span", { class: "key", style: "background-color:var(--c8)" }), `not told apart ${mib(sum(x => x.live) - inside)}`)),
    map(all, width), ...settings(), ...stuck());
}

// Before and after: what the same requests would have taken.
function settings(): HTMLElement[] {
  const [was, ...best] = page.pool.settings, most = Math.max(1, ...page.pool.settings.map(c => c.peak_reserved_bytes));
  if (!was || !best.length) return [];
  const row = (c: typeof was, name: string) => [h("span", { class: c === was ? "total" : "" }, name), h("div", { class: "track" }, h("i", { style: `left:0;width:${100 * c.peak_reserved_bytes / most}%;background-color:var(${c === was ? "--ink" : "--c0"})` })),
    h("span", { class: "n" + (c === was ? " total" : ""), "data-bytes": c.peak_reserved_bytes, "data-settings": c.settings }, mib(c.peak_reserved_bytes) + (c.runs_out ? " runs out" : ""))];
  const less = was.peak_reserved_bytes - best[0].peak_reserved_bytes;
  return [h("h3", {}, "The same requests with other settings"), h("p", { class: "soft" }, `The most that PyTorch's allocator had from the driver, MiB, as it was and as PYTORCH_CUDA_ALLOC_CONF would have had it: each replayed, nothing guessed. `
    + (less > 0 ? `The best has ${mib(less)} MiB less (${part(less, was.peak_reserved_bytes)}).` : "None has less.")),
    h("div", { class: "fall", id: "settings" }, ...row(was, "as recorded"), ...best.filter(c => c.settings !== "as recorded").slice(0, 5).flatMap(c => row(c, c.settings || "the defaults")))];
}

function stuck(): HTMLElement[] {
  const rows = (view("pool", reportNow().at.label)?.segments ?? []).filter((x: Row) => x.device === state.place && Number(x.stuck_bytes) > 0).sort((a, b) => Number(b.stuck_bytes) - Number(a.stuck_bytes)).slice(0, 12);
  return rows.length ? [h("h3", {}, "Where most is stuck"), plainTable(rows, ["address", "bytes", "live_bytes", "stuck_bytes", "blocks", "pin_bytes", "pin_source"], "stuck")] : [];
}
