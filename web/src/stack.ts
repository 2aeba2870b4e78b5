// SPDX-License-Identifier: Apache-2.0
// Layers of memory over time: their colours, the small ones together, and the state at a time.
import type { Panel } from "./data";

export type Layer = { key: string; label: string; elastic: boolean; colour: number; bytes: number[]; peak: number };
export type Layers = { t: number[]; used: number[]; layers: Layer[]; sampled: boolean };

export const GREY = 8;
const LAYERS_MAX = 9, SHARE = 150;

// As in src/view/picture_layers.c, so that a page and a picture have the same colours.
export const preferred: { [key: string]: number } = { tensors: 0, cached: 0, partly: 1, held: 7, allocations: 5, context: 6, code: 2, local: 3, vmm: 4,
  pools: 1, idle: 1, managed: 7, parameter: 6, gradient: 2, "optimizer state": 7, activation: 0, input: 4, temporary: 3, workspace: 1,
  "buffer/state": 5, trial: 3, execs: 4, preallocated: 6, streams: 5 };

// Each category has its own colour, as over time; the one with most chooses first, and a small one that finds none is grey.
export function categoryColours(sizes: [string, number][]): Map<string, number> {
  const sums = new Map<string, number>(), out = new Map<string, number>(), taken = new Set<number>();
  for (const [name, bytes] of sizes) sums.set(name, (sums.get(name) ?? 0) + bytes);
  for (const [name] of [...sums].sort((a, b) => b[1] - a[1])) {
    const wanted = preferred[name] ?? 0, free = [0, 1, 2, 3, 4, 5, 6, 7].map(i => (wanted + i) % GREY).find(i => !taken.has(i)) ?? GREY;
    taken.add(free);
    out.set(name, free);
  }
  return out;
}

// The last of `t` that is not after `at`; -1: none.
export function indexAt(t: number[], at: number): number {
  let low = 0, high = t.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (t[middle] <= at) low = middle + 1; else high = middle;
  }
  return low - 1;
}

export const most = (bytes: number[]): number => bytes.reduce((a, b) => Math.max(a, Math.abs(b)), 0);

// The small ones together, at the bottom, where they move nobody else.
function merge(all: Layer[]): Layer[] {
  const sizes = all.map(l => most(l.bytes.concat(l.peak))), sorted = [...sizes].sort((a, b) => b - a);
  const least = Math.max(all.length > LAYERS_MAX ? sorted[LAYERS_MAX - 2] : 0, (sorted[0] ?? 0) / SHARE);
  const small = all.filter((_, i) => sizes[i] < least);
  if (small.length < 2) return all;
  const sum: Layer = { key: "small", label: small.length + " smaller ones", elastic: false, colour: GREY, peak: 0,
    bytes: all[0].bytes.map((_, i) => small.reduce((a, l) => a + l.bytes[i], 0)) };
  sum.peak = small.reduce((a, l) => a + l.peak, 0);
  return [sum, ...all.filter((_, i) => sizes[i] >= least)];
}

function colour(layers: Layer[]): void {
  const taken = [new Set<number>(), new Set<number>()];
  for (const l of [...layers].reverse()) {
    const of = taken[+l.elastic];
    if (l.colour === GREY) continue;
    l.colour = preferred[l.key] ?? 0;
    for (let i = 0; of.has(l.colour) && i < 8; i++) l.colour = (l.colour + 1) % 8;
    of.add(l.colour);
  }
}

export function layersOf(panel: Panel): Layer[] {
  const all = merge(panel.bands.map(b => ({ key: b.key, label: b.label, elastic: b.elastic, bytes: b.bytes, peak: b.peak_bytes ?? most(b.bytes),
    colour: b.unexplained || b.key === "other" ? GREY : 0 })));
  colour(all);
  return all;
}
