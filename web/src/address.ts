// SPDX-License-Identifier: Apache-2.0
// What is looked at stands in the address of the page, so that a link leads there: members of an object, those that are not as by default.
import { watched } from "./live";

export type Address<T> = { state: T; set: (change: Partial<T>) => void; onChange: (f: () => void) => void };

// `mend`: puts right what an address says that cannot be.
export function address<T extends object>(defaults: T, mend: (state: T) => void): Address<T> {
  const read = (): T => {
    const state = { ...defaults };
    for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
      if (!Object.prototype.hasOwnProperty.call(defaults, key)) continue;
      const was = (defaults as any)[key];
      (state as any)[key] = typeof was === "number" ? (isFinite(+value) ? +value : was) : typeof was === "boolean" ? value === "1" : value;
    }
    mend(state);
    return state;
  };
  const state = read(), listeners: (() => void)[] = [];
  const write = (): void => {
    const out = new URLSearchParams();
    for (const [key, value] of Object.entries(state))
      if (value !== (defaults as any)[key]) out.set(key, typeof value === "boolean" ? (value ? "1" : "0") : String(value));
    history.replaceState(null, "", "#" + out);
  };
  addEventListener("hashchange", () => {
    if (document.getElementById(location.hash.slice(1))) return; // a link to a section
    Object.assign(state, read());
    listeners.forEach(f => f());
  });
  return { state: watched(state), onChange: f => { listeners.push(f); }, set: change => {
    Object.assign(state, change);
    write();
    listeners.forEach(f => f());
  } };
}
