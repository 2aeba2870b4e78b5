// SPDX-License-Identifier: Apache-2.0
// Single blocks of PyTorch's allocator over time: each a band as high as it is large and as long as it was there, in the order in which they came.
import { between, drag, ticks } from "./axis";
import { CPU, page } from "./data";
import { count, figure, h, mib, put, s, scroll, section, short, tabs, time } from "./dom";
import { folded, foldedName } from "./fold";
import { follow, live } from "./live";
import { cursor } from "./model";
import { room } from "./shell";
import { GREY, categoryColours, indexAt } from "./stack";
import { set, state } from "./state";
import { clock } from "./time";

const HEIGHT = 260, LEFT = 64, LEAST = .7, FIRST = 10, FRAMES = 6;

type Block = { number: number; from: number; until: number; bytes: number; category: string; stack: number; name: string; shape: string; born: number; gone: number };
// Where a block is at the moments from `first` on.
type Drawn = { block: Block; first: number; low: number[] };
// x: where each moment of the range begins, and where the last ends.
type Picture = { t: number[]; x: number[]; all: number[]; drawn: Drawn[]; reach: number[]; scale: number; smaller: number; colours: Map<string, number> };

const memoryOf = (place: number) => page.blocks.memories.find(m => (m.device ?? CPU) === place);
const blocksOf = (rows: number[][]): Block[] => rows.map(([from, until, bytes, category, stack, name, shape, born, gone], i) =>
  ({ number: i + 1, from, until, bytes, category: page.pool.categories[category], stack, name: page.blocks.names[name] ?? "", shape: page.blocks.shapes[shape] ?? "", born, gone }));

const frames = (b: Block): string[] => folded(page.stacks[b.stack].slice(1).reverse()).map(foldedName).reverse();
const what = (b: Block): string => [b.category, b.name, b.shape].filter(Boolean).join(", ");
const lineOf = (b: Block): string => page.lines[page.stacks[b.stack][0]];
// With as many digits as tell its begin from its end.
function lived(b: Block): string {
  const long = b.gone - b.born, step = b.gone < 0 ? 0 : Math.max(1, long / 10);
  return `${time(b.born, step)} to ${b.gone < 0 ? "the end" : `${time(b.gone, step)} (${time(long)})`}`;
}

// Blocks stand on those that came before them; what would be too low or too narrow to be seen is with all others above them.
function picture(width: number): Picture | undefined {
  const memory = memoryOf(state.place);
  if (!memory) return undefined;
  const first = Math.max(0, indexAt(memory.t_ns, state.from)), last = Math.max(first, indexAt(memory.t_ns, state.to)), t = memory.t_ns.slice(first, last + 1).map(v => Math.max(v, state.from)), all = memory.bytes.slice(first, last + 1);
  const at = state.timed ? [...t, state.to].map(v => (v - state.from) / (state.to - state.from)) : [...t, 0].map((_, i) => i / t.length), x = at.map(v => LEFT + (width - LEFT) * v);
  const scale = HEIGHT * .96 / Math.max(1, ...all), reach = t.map(() => 0), drawn: Drawn[] = [];
  for (const block of blocksOf(memory.rows)) {
    const from = Math.max(block.from - first, 0), until = Math.min(block.until - first, t.length);
    if (from >= until || block.bytes * scale < LEAST || x[until] - x[from] < LEAST) continue;
    drawn.push({ block, first: from, low: reach.slice(from, until) });
    for (let i = from; i < until; i++) reach[i] += block.bytes;
  }
  return { t, x, all, drawn, reach, scale, smaller: memory.smaller, colours: categoryColours(drawn.map(d => [d.block.category, d.block.bytes * d.low.length])) };
}

const top = (p: Picture) => (b: number): number => HEIGHT - b * p.scale;

function outline(p: Picture, d: Drawn): string {
  const at: number[] = [], low: number[] = [];
  d.low.forEach((b, i) => { if (!i || b !== low[low.length - 1]) { at.push(d.first + i); low.push(b); } });
  return between(at, low, low.map(b => b + d.block.bytes), d.first + d.low.length, i => p.x[i], top(p));
}

// One path of each colour and tone: neighbours of one colour are told apart by their tones, and by their edges where they are not too thin for one.
function areas(p: Picture): SVGElement[] {
  const by = new Map<string, string>();
  p.drawn.forEach((d, i) => {
    const key = `${p.colours.get(d.block.category) ?? GREY}${i % 2 ? "t" : "-"}${d.block.bytes * p.scale < 3 ? "-" : "e"}`;
    by.set(key, (by.get(key) ?? "") + outline(p, d));
  });
  return [...by].map(([key, d]) => s("path", { class: key[2] === "e" ? "edge" : null, d, style: `fill:var(--c${key[0]})${key[1] === "t" ? ";fill-opacity:.78" : ""}` }));
}

// When it was at a place of the picture.
function timeAt(p: Picture, px: number): number {
  const part = Math.min(1, Math.max(0, (px - LEFT) / (p.x[p.t.length] - LEFT)));
  return state.timed ? state.from + (state.to - state.from) * part : p.t[Math.min(p.t.length - 1, Math.floor(part * p.t.length))];
}

function axes(p: Picture, width: number): SVGElement[] {
  const parts = width < 500 ? 2 : 5;
  return [...ticks(HEIGHT * .96 / p.scale).flatMap(v => [s("path", { class: "grid", d: `M${LEFT} ${top(p)(v).toFixed(1)}H${width}` }), s("text", { x: LEFT - 6, y: top(p)(v) + 4, "text-anchor": "end", class: "soft" }, mib(v))]),
    ...Array.from({ length: parts + 1 }, (_, i) => LEFT + (width - LEFT) * i / parts).map((px, i) => s("text", { x: px, y: HEIGHT + 16, "text-anchor": i === 0 ? "start" : i === parts ? "end" : "middle", class: "soft" }, clock(timeAt(p, px))))];
}

function words(b: Block): (HTMLElement | string)[] {
  const all = frames(b);
  return [h("b", { "data-bytes": b.bytes }, mib(b.bytes) + " MiB"), ` ${what(b)}. It was there from ${lived(b)}. Asked for by `, h("span", { class: "code" }, all.slice(0, FRAMES).map(short).join(" < ") + (all.length > FRAMES ? ` < ${all.length - FRAMES} more` : "")), ". "];
}

// What is searched for may be in the words of a block, or in a frame of its stack.
const texts = new Map<number, string>();
function isFound(b: Block): boolean {
  if (!texts.has(b.stack)) texts.set(b.stack, [lineOf(b), ...frames(b)].join("\n").toLowerCase());
  return what(b).toLowerCase().includes(state.find.toLowerCase()) || texts.get(b.stack)!.includes(state.find.toLowerCase());
}

const found = (p: Picture): Drawn[] => state.find ? p.drawn.filter(d => isFound(d.block)) : [];

// How many have it, what they are at the cursor, and at most.
function findings(p: Picture): HTMLElement {
  const all = found(p), sums = p.t.map(() => 0), i = Math.max(0, indexAt(p.t, cursor()));
  for (const d of all) for (let k = 0; k < d.low.length; k++) sums[d.first + k] += d.block.bytes;
  const most = sums.reduce((a, b) => Math.max(a, b), 0);
  return h("p", { class: "soft", id: "blocks-found", role: "status" }, ...(state.find ? [`“${state.find}” is in ${count(all.length)} of these blocks, which have `, h("span", { "data-bytes": sums[i] }, mib(sums[i])), " MiB at the cursor and ", h("span", { "data-bytes": most }, mib(most)), " at most."] : []));
}

// The next one in the order in which they came, or the neighbour above or below it in the middle of its time.
function next(p: Picture, chosen: number, key: string): number | undefined {
  const now = p.drawn[chosen], middle = now ? now.first + (now.low.length >> 1) : 0, at = (d: Drawn): number | undefined => d.low[middle - d.first];
  const there = now ? p.drawn.map((d, i) => ({ i, low: at(d) })).filter((d): d is { i: number; low: number } => d.low != null).sort((a, b) => a.low - b.low) : [], place = there.findIndex(d => d.i === chosen);
  const to: { [key: string]: number | undefined } = { ArrowLeft: Math.max(0, chosen - 1), ArrowRight: Math.min(p.drawn.length - 1, chosen + 1), ArrowUp: there[place + 1]?.i ?? chosen, ArrowDown: there[place - 1]?.i ?? chosen, Home: 0, End: p.drawn.length - 1 };
  return to[key];
}

function cursorAt(p: Picture, width: number): string {
  const at = cursor(), i = indexAt(p.t, at);
  return i < 0 || at > state.to ? "" : `M${(state.timed ? LEFT + (width - LEFT) * (at - state.from) / (state.to - state.from) : p.x[i]).toFixed(1)} 0V${HEIGHT}`;
}

function plot(p: Picture, width: number): HTMLElement {
  const n = p.t.length, others = between(p.t.map((_, i) => i), p.reach, p.all.map((b, i) => Math.max(b, p.reach[i])), n, i => p.x[i], top(p));
  const svg = s("svg", { viewBox: `0 -4 ${width} ${HEIGHT + 24}`, "aria-hidden": "true" }, ...axes(p, width), ...areas(p), s("path", { d: others, style: `fill:var(--c${GREY})` }),
    live(() => s("path", { class: "found", d: found(p).map(d => outline(p, d)).join("") })), live(() => s("path", { class: "cursor", d: cursorAt(p, width) })));
  const said = h("p", { id: "block-now", role: "status" });
  const box = h("div", { class: "plot", id: "block-plot", tabindex: 0, role: "slider", "aria-label": "block", "aria-valuemin": 1, "aria-valuemax": Math.max(1, p.drawn.length), "aria-valuenow": 1, "aria-valuetext": "no block is chosen" }, svg as any);
  const kept = (): number => p.drawn.findIndex(d => d.block.number === state.block);
  let shown = -2, pressed = -1;
  const tell = (i: number): void => {
    if (i === shown) return;
    shown = i;
    svg.querySelector(".chosen")?.remove();
    const d = p.drawn[i];
    said.dataset.block = String(d?.block.number ?? 0);
    if (!d) { put(said, h("span", { class: "soft" }, "Point at a block, or use the arrow keys; a click keeps it, a drag looks closer.")); return; }
    const { born, gone } = d.block;
    put(said, ...words(d.block), ...(gone - born >= 10 ? [h("button", { type: "button", class: "controls", click: () => set({ from: born, to: gone, t: String(born) }) }, "look at its time")] : []));
    box.setAttribute("aria-valuenow", String(i + 1));
    box.setAttribute("aria-valuetext", said.textContent!);
    svg.append(s("path", { class: "chosen", d: outline(p, d) }));
  };
  const under = (e: PointerEvent): number => {
    const r = svg.getBoundingClientRect(), px = (e.clientX - r.left) / r.width * width, bytes = (HEIGHT + 4 - (e.clientY - r.top) / r.width * width) / p.scale, i = indexAt(p.x, px);
    return p.drawn.findIndex(d => i >= d.first && bytes >= d.low[i - d.first] && bytes < d.low[i - d.first] + d.block.bytes);
  };
  box.addEventListener("pointermove", e => { const i = under(e); if (i >= 0) tell(i); });
  box.addEventListener("pointerleave", () => tell(kept()));
  box.addEventListener("pointerdown", e => { pressed = under(e); });
  box.addEventListener("keydown", (e: KeyboardEvent) => {
    const to = next(p, shown, e.key);
    if (to == null || !p.drawn.length) return;
    e.preventDefault();
    set({ block: p.drawn[to].block.number });
  });
  drag(box, svg, px => px, px => px, HEIGHT, width, () => s("rect", { class: "sel", y: 0, width: 0 }), () => set({ block: p.drawn[pressed]?.block.number ?? 0 }),
    (a, b) => { const from = Math.round(timeAt(p, a)), to = Math.round(timeAt(p, b)); if (to - from >= 10) set({ from, to }); });
  follow(() => tell(kept()));
  return h("div", {}, box, said);
}

// Blocks that are the same to a reader, as each step has them, are one row.
function alike(p: Picture): Block[][] {
  const by = new Map<string, Block[]>();
  for (const { block } of state.find ? found(p) : p.drawn) {
    const key = [block.bytes, what(block), lineOf(block)].join("\n");
    if (!by.get(key)?.push(block)) by.set(key, [block]);
  }
  return [...by.values()].sort((a, b) => b[0].bytes - a[0].bytes || a[0].number - b[0].number).slice(0, FIRST);
}

function table(p: Picture): HTMLElement {
  const head = (text: string, n = false) => h("th", { scope: "col", class: n ? "n" : "" }, text), cell = (text: string) => h("td", { class: "n" }, text);
  const longest = (all: Block[]): string => all.some(b => b.gone < 0) ? "to the end" : time(Math.max(...all.map(b => b.gone - b.born)));
  return scroll("the largest blocks", h("table", { id: "t-blocks" }, h("thead", {}, h("tr", {}, head("what it is"), head("MiB each", true), head("blocks", true), head("first at", true), head("longest there", true), head("asked for by"))),
    h("tbody", {}, ...alike(p).map(all => h("tr", { "data-block": all[0].number }, h("th", { scope: "row", class: "name" }, h("button", { type: "button", "aria-pressed": String(all.some(b => b.number === state.block)), click: () => set({ block: all[0].number }) }, what(all[0]))),
      figure(all[0].bytes), cell(count(all.length)), cell(clock(all[0].born)), cell(longest(all)), h("td", { class: "name", title: lineOf(all[0]) }, short(lineOf(all[0]))))))));
}

// What those that are drawn come to at the cursor, and what the others do.
function sums(p: Picture): HTMLElement {
  const i = Math.max(0, indexAt(p.t, cursor()));
  return h("p", { class: "soft", id: "blocks-now" }, `${count(p.drawn.length)} blocks of PyTorch's allocator, each as high as it is large and as wide as it was there, on those that came before it. At ${clock(p.t[i])} they are `, h("span", { "data-bytes": p.reach[i], "data-sum": "drawn" }, mib(p.reach[i])),
    " MiB; ", h("span", { "data-bytes": p.all[i] - p.reach[i], "data-sum": "smaller" }, mib(p.all[i] - p.reach[i])), " MiB in grey are of blocks that are too small here, or were there too briefly. Look closer to see more of them" + (p.smaller ? `, but for ${count(p.smaller)} small ones: the page has their sum alone.` : "."));
}

export function blocksSection(): HTMLElement | false {
  const width = Math.max(280, room()), p = picture(width);
  if (!p) return false;
  const key = (colour: number) => h("span", { class: "key", style: `background-color:var(--c${colour})` });
  return section("blocks", "Single blocks", h("div", { class: "bar-row controls" }, tabs("from left to right", [["", "as blocks came and went"], ["1", "by time"]], state.timed ? "1" : "", v => set({ timed: v === "1" })),
      live(() => h("label", { class: "pick" }, "search ", h("input", { type: "search", id: "block-find", value: state.find, autocomplete: "off", input: (e: any) => set({ find: e.target.value }) })))),
    live(() => sums(p)), live(() => findings(p)),
    h("p", { class: "keys" }, ...[...p.colours].map(([name, colour]) => h("span", {}, key(colour), name)), h("span", {}, key(GREY), "smaller ones together")),
    plot(p, width), h("h3", {}, "The largest of them"), live(() => table(p)));
}
