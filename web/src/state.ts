// SPDX-License-Identifier: Apache-2.0
// What is looked at: in the address of the page, so that a link leads there.
import { page, places } from "./data";

export type State = {
  place: number; // index of a device; -1: the CPU
  t: string; // "peak", "end", or nanoseconds since the start
  from: number; to: number; // what of the time is shown
  layers: string; // account, category or line
  by: string; // stack, line, module, library, owner, account
  show: string; // icicle or table
  span: string; // the moment, the most of the range, or what it left behind
  measure: string; // memory of the driver, or live tensors
  up: boolean; // innermost frames first
  fold: boolean; // without frames of imports and runtimes
  q: string; // what is searched for
  path: string; // the subtree: frames by their numbers, the outermost first
};

const whole = page.time.account;
const defaults: State = { place: places[0] ?? -1, t: "peak", from: whole.from_ns, to: whole.to_ns, layers: "", by: "stack",
  show: "icicle", span: "moment", measure: "", up: false, fold: true, q: "", path: "" };

function read(): State {
  const state = { ...defaults }, given = new URLSearchParams(location.hash.slice(1));
  for (const [key, value] of given) {
    if (!(key in defaults)) continue;
    const was = (defaults as any)[key];
    (state as any)[key] = typeof was === "number" ? (isFinite(+value) ? +value : was) : typeof was === "boolean" ? value === "1" : value;
  }
  if (!places.includes(state.place)) state.place = defaults.place;
  if (!(state.from < state.to)) [state.from, state.to] = [defaults.from, defaults.to];
  return state;
}

export const state: State = read();
const listeners: (() => void)[] = [];
export const onChange = (f: () => void): void => { listeners.push(f); };

function write(): void {
  const out = new URLSearchParams();
  for (const [key, value] of Object.entries(state))
    if (value !== (defaults as any)[key]) out.set(key, typeof value === "boolean" ? (value ? "1" : "0") : String(value));
  history.replaceState(null, "", "#" + out);
}

export function set(change: Partial<State>): void {
  Object.assign(state, change);
  write();
  listeners.forEach(f => f());
}

addEventListener("hashchange", () => {
  if (document.getElementById(location.hash.slice(1))) return; // a link to a section
  Object.assign(state, read());
  listeners.forEach(f => f());
});
