// SPDX-License-Identifier: Apache-2.0
// What there is at a moment of a place: layers of the plot, rows of stacks.
import { CPU, Moment, Panel, Time, deviceOf, end, page, peakOf, places } from "./data";
import { derived } from "./live";
import { GREY, Layers, layersOf, most } from "./stack";
import { state } from "./state";

export const timeOf = (kind: string): Time => kind === "category" && page.time.category || page.time.account;
export const panelOf = (time: Time, place: number): Panel | undefined => time.panels.find(p => (p.device ?? CPU) === place);

// When the cursor stands there.
export function cursor(): number {
  return state.t === "end" ? endOf(state.place) : state.t === "peak" ? peakTime(state.place) : +state.t;
}

export function peakTime(place: number): number {
  const panel = panelOf(page.time.account, place), report = peakOf(place);
  return (place === CPU ? report.at.t_ns : deviceOf(report, place)?.peak_t_ns) ?? panel?.peak_t_ns ?? timeOfMost(panel);
}

// The end of a recording is its last state, not what is left when its processes are gone.
export const endOf = (place: number): number => deviceOf(end, place)?.t_ns ?? end.at.t_ns ?? page.time.account.to_ns;

function timeOfMost(panel: Panel | undefined): number {
  if (!panel || !panel.t_ns.length) return 0;
  let most = 0;
  panel.used_bytes.forEach((bytes, i) => { if (bytes > panel.used_bytes[most]) most = i; });
  return panel.t_ns[most];
}

// Does a place have live tensors that are known by stack?
const tensorPlaces = new Set(page.moments.flatMap(m => m.rows.filter(r => r[4] > 0).map(r => r[0])));
export const hasTensors = (place: number): boolean => tensorPlaces.has(place);
export const measure = (): string => state.measure || (state.place !== CPU && hasTensors(state.place) ? "tensors" : "bytes");
export const sizeOf = (row: number[]): number => measure() === "tensors" ? row[4] : row[2];
export const isHeap = (place: number): boolean => deviceOf(peakOf(place), place)?.heap === true;
export const objectsOf = (row: number[]): number => measure() === "tensors" ? row[5] : row[3];

// The kept moments of a place, in order of time; "the peak" has a time of each place.
export type At = { t: number; moment: Moment };
const kept = new Map<number, At[]>();
export function moments(place: number): At[] {
  if (kept.has(place)) return kept.get(place)!;
  const t = (m: Moment): number => m.t_ns ?? (m.at === "end" ? endOf(place) : peakTime(m.at === "peak:host" ? CPU : place !== CPU ? place : places[0]));
  const all = page.moments.map(moment => ({ moment, t: t(moment) })).filter(m => m.t >= 0 && m.moment.rows.some(r => r[0] === place) || m.moment.at === "end").sort((a, b) => a.t - b.t);
  kept.set(place, all);
  return all;
}

function lineLayers(place: number): Layers {
  const all = moments(place), by = new Map<number, number[]>();
  all.forEach(({ moment }, i) => {
    for (const row of moment.rows) {
      if (row[0] !== place) continue;
      const line = row[1] < 0 ? -1 : page.stacks[row[1]][0];
      if (!by.has(line)) by.set(line, new Array(all.length).fill(0));
      by.get(line)![i] += sizeOf(row);
    }
  });
  const layers = [...by].map(([line, bytes]) => ({ key: "line " + line, label: line < 0 ? "smaller ones" : page.lines[line], elastic: false,
    colour: line < 0 ? GREY : 0, bytes, peak: most(bytes) })).sort((a, b) => b.peak - a.peak);
  layers.forEach((l, i) => { if (l.colour !== GREY) l.colour = i % 8; });
  const top = layers.slice(0, 8), rest = layers.slice(8);
  if (rest.length) top.push({ key: "small", label: rest.length + " smaller ones", elastic: false, colour: GREY, peak: 0,
    bytes: all.map((_, i) => rest.reduce((a, l) => a + l.bytes[i], 0)) });
  return { t: all.map(m => m.t), used: all.map((_, i) => layers.reduce((a, l) => a + l.bytes[i], 0)), layers: top.reverse(), sampled: true };
}

// What the plot is stacked by. Of a heap accounts say no more than that it is one.
export function stackedBy(): string {
  return state.layers || (state.place === CPU && page.time.category ? "category" : isHeap(state.place) && moments(state.place).length > 2 ? "line" : "account");
}

export function layers(): Layers {
  const kind = stackedBy();
  if (kind === "line") return lineLayers(state.place);
  const panel = panelOf(timeOf(kind), state.place);
  if (!panel) return { t: [], used: [], layers: [], sampled: false };
  return { t: panel.t_ns, used: panel.used_bytes, layers: layersOf(panel), sampled: false };
}

// calls: of the lines of a heap, at the peak and at the end.
export type Stacks = { rows: number[][]; title: string; exact: boolean; total: number; calls?: number[][] };
const ofPlace = (m: Moment): number[][] => m.rows.filter(r => r[0] === state.place);
const total = (rows: number[][]): number => rows.reduce((a, r) => a + sizeOf(r), 0);

const nearest = (t: number): At | undefined =>
  moments(state.place).reduce((best, m) => !best || Math.abs(m.t - t) < Math.abs(best.t - t) ? m : best, undefined as At | undefined);
const nearestNow = derived(() => nearest(+state.t));
const isKept = derived(() => nearestNow()?.t === +state.t);
// Does the cursor stand elsewhere than at the two moments of which everything is known?
export const isElsewhere = derived(() => state.t !== "peak" && state.t !== "end");

// What stacks held at the cursor, at the worst moment of the range, or what they hold more at its end than at its begin.
export function stacksNow(write: (ns: number) => string): Stacks {
  const done = (rows: number[][], title: string, exact: boolean): Stacks => ({ rows, title, exact, total: total(rows) });
  if (state.span === "most") {
    const inside = moments(state.place).filter(m => m.t >= state.from && m.t <= state.to);
    const best = inside.reduce((a, m) => !a || total(ofPlace(m.moment)) > total(ofPlace(a.moment)) ? m : a, undefined as any);
    return best ? done(ofPlace(best.moment), "most of the kept moments in the range, at " + write(best.t), false) : done([], "no moment was kept in this range", false);
  }
  if (state.span === "left") {
    const a = nearest(state.from), b = nearest(state.to), rows = new Map<number, number[]>();
    if (!a || !b) return done([], "no moment was kept", false);
    for (const r of ofPlace(b.moment)) rows.set(r[1], [...r]);
    for (const r of ofPlace(a.moment)) {
      const was = rows.get(r[1]) ?? [r[0], r[1], 0, 0, 0, 0];
      rows.set(r[1], [r[0], r[1], ...[2, 3, 4, 5].map(i => was[i] - r[i])]);
    }
    return done([...rows.values()].filter(r => sizeOf(r) > 0), `more at ${write(b.t)} than at ${write(a.t)}`, false);
  }
  if (!isElsewhere()) {
    const moment = page.moments.find(m => m.at === reportNow().at.label)!;
    return { ...done(ofPlace(moment), "at " + (state.t === "peak" ? "the peak" : "the end"), true), calls: moment.calls?.filter(r => r[0] === state.place) };
  }
  const at = nearestNow();
  return at ? done(ofPlace(at.moment), `at ${write(at.t)}, of ${page.moments.length} kept moments the nearest`, isKept()) : done([], "no moment was kept", false);
}

// "the peak" and "the end" have exact rows of everything; of other moments that what is nearest.
export const reportNow = derived(() => state.t === "end" ? end : peakOf(state.place));
