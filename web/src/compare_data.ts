// SPDX-License-Identifier: Apache-2.0
// What the program wrote into a page that compares: the rows are those of tare diff --json, the course of time is that of src/view/page_time.c.
import { address } from "./address";
import type { Panel, Time } from "./data";
import { short } from "./dom";

export type Change = { device: number | null; path: string; after_path: string | null; label: string; account: string | null; leaf: boolean; side: string;
  before_bytes: number; after_bytes: number; difference_bytes: number; before_count: number; after_count: number };
export type Total = { device: number | null; label: string; before_bytes: number; after_bytes: number; difference_bytes: number };
export type Rest = { device: number; rows: number; before_bytes: number; after_bytes: number };
export type At = { source: string; at: string | null; t_ns: number | null; simulated: boolean };
export type Pair = { side: number; by: string | null; before: At; after: At; totals: Total[]; rows: Change[]; rest: Rest[];
  places: (number | null)[][]; // of each total the number in the first and in the other; -1: the CPU, null: not there
   before_degraded: string[]; after_degraded: string[]; before_notes: string[]; after_notes: string[] };
export type Side = { source: string; at: string | null; t_ns: number | null; time: { account?: Time; category?: Time } };

const data = JSON.parse(document.getElementById("data")!.textContent!) as { sides: Side[]; pairs: Pair[] };
export const { sides, pairs } = data;
export const CPU = -1;

// "adam.tare", or all of it where two are called so; and the instant where it is the same recording.
export function nameOf(i: number): string {
  const last = (s: Side): string => short(s.source.replace(/\/+$/, "")), own = sides[i], twin = sides.some((s, k) => k !== i && s.source === own.source);
  const name = sides.some((s, k) => k !== i && s.source !== own.source && last(s) === last(own)) ? own.source : last(own);
  return name + (twin && own.at ? ` at ${own.at}` : "");
}

// Two instants of one recording.
export const isOne = (): boolean => sides[0].source === sides[state.pair].source;

export type State = {
  pair: number; // the recording that the first is compared with
  place: number; // a GPU by its number in the first; -1: the CPU
  by: string; // the view of the rows; "": the ledger
  what: string; // the band of the curves; "": what is used
  t: string; // where the cursor stands, in units of the axis; "": nowhere
  from: number; to: number; // what of the axis is shown; 0 and 0: all of it
  run: boolean; // the axis is each run's own length, not seconds
  q: string;
};

// Less than half of a tenth of a MiB: it would be written as 0.0.
export const isLittle = (bytes: number): boolean => Math.abs(bytes) < 52429;
const hasLittle = (t: Total): boolean => isLittle(t.before_bytes) && isLittle(t.after_bytes);

// Where memory was, on either side. Where there was as good as none comes last.
export function places(side: number): Total[] {
  const all = pairs.find(p => p.side === side)?.totals ?? [];
  return [...all.filter(t => !hasLittle(t)), ...all.filter(hasLittle)];
}
// Those that are told of.
export function largePlaces(side: number): Total[] {
  const all = places(side), large = all.filter(t => !hasLittle(t));
  return large.length ? large : all;
}

const defaults: State = { pair: 1, place: places(1)[0]?.device ?? CPU, by: "", what: "", t: "", from: 0, to: 0, run: false, q: "" };

export const { state, set, onChange } = address(defaults, state => {
  if (!(state.pair >= 1 && state.pair < sides.length && state.pair % 1 === 0)) state.pair = 1;
  if (!places(state.pair).some(p => (p.device ?? CPU) === state.place)) state.place = places(state.pair)[0]?.device ?? CPU;
  if (!(state.from < state.to)) state.from = state.to = 0;
});

export const views = (side = state.pair): Pair[] => pairs.filter(p => p.side === side);
export const pairNow = (): Pair => views().find(p => (p.by ?? "") === state.by) ?? views()[0];
export const placeOf = (row: { device: number | null }): number => row.device ?? CPU;

// The course of a place. GPUs are told by their UUID, so another recording may have another number for it.
export function panelOf(i: number, kind: "account" | "category" = "account"): Panel | undefined {
  const pair = pairs.find(p => p.side === (i || state.pair)), all = (sides[i].time[kind] ?? sides[i].time.account)?.panels ?? [];
  const at = pair?.totals.findIndex(t => (t.device ?? CPU) === state.place) ?? -1, number = at < 0 ? null : pair!.places[at][i ? 1 : 0];
  return number == null ? undefined : all.find(p => (p.device ?? CPU) === number);
}
// Where tensors are known on every side that has a course, they are told apart.
export const kind = (): "account" | "category" => sides.every(s => !s.time.account || s.time.category) ? "category" : "account";
export const endOf = (i: number): number => sides[i].time.account?.to_ns ?? 0;
