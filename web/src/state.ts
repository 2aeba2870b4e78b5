// SPDX-License-Identifier: Apache-2.0
// What of a recording is looked at.
import { address } from "./address";
import { page, places } from "./data";

export type State = {
  place: number; // index of a device; -1: the CPU
  t: string; // "peak", "end", or nanoseconds since the start
  from: number; to: number; // what of the time is shown
  layers: string; // account, category or line
  file: string; // of source
  by: string; // stack, line, source, module, library, owner, account
  show: string; // icicle or table
  span: string; // the moment, the most of the range, or what it left behind
  measure: string; // memory of the driver, or live tensors
  up: boolean; // innermost frames first
  fold: boolean; // without frames of imports and runtimes
  q: string; // what is searched for
  sort: string; // the column that a table is in the order of; "-" before it: the other way round
  all: boolean; // also the small rows of a table
  row: string; // of the ledger, that is open
  process: number; // whose other tools are shown
  path: string; // the subtree: frames by their numbers, the outermost first
  step: number; // the step that is looked at; 0: none
  parts: boolean; // steps over their own length
  long: boolean; // the time of steps as long as the longest
  timed: boolean; // single blocks by time
  block: number; // the single block that is chosen; 0: none
  find: string; // what is searched for in single blocks
  graph: number; // the same of CUDA graphs
  rank: string; // and of ranks, by number, process and machine
};

export const whole = page.time.account;
const defaults: State = { place: places[0] ?? -1, t: "peak", from: whole.from_ns, to: whole.to_ns, layers: "", by: "stack", file: "",
  show: "icicle", span: "moment", measure: "", up: false, fold: true, q: "", sort: "size", all: false, row: "", process: -1, path: "", step: 0, parts: false, long: false, timed: false, block: 0, find: "", graph: 0, rank: "" };

export const { state, set, onChange } = address(defaults, state => {
  if (!places.includes(state.place)) state.place = defaults.place;
  if (!(state.from < state.to)) [state.from, state.to] = [defaults.from, defaults.to];
});
