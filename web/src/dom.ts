// SPDX-License-Identifier: Apache-2.0
// Elements, and how figures are written. Texts may be anything that a program was called: they only ever become text.

type Child = Node | string | null | undefined | false;
type Attrs = { [name: string]: string | number | boolean | null | undefined | ((e: any) => void) };

// What is not plain, the list of src/base/text.c: controls, and what reorders or hides text around it.
const odd = /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffd-\uffff]|[\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
export const plain = (text: string): string => text.replace(odd, "?");

function fill(e: Element, attrs: Attrs, children: Child[]): void {
  for (const [name, value] of Object.entries(attrs)) {
    if (value == null || value === false) continue;
    if (typeof value === "function") e.addEventListener(name, value);
    else e.setAttribute(name, value === true ? "" : plain(String(value)));
  }
  for (const child of children)
    if (child || child === "") e.append(typeof child === "string" ? plain(child) : child);
}

// In place of what an element has.
export function put(e: Element, ...children: Child[]): void {
  e.replaceChildren();
  fill(e, {}, children);
}

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attrs: Attrs = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  fill(e, attrs, children);
  return e;
}

export function s(tag: string, attrs: Attrs = {}, ...children: Child[]): SVGElement {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(e, attrs, children);
  return e;
}

const number = new Intl.NumberFormat("en-US");
const tenth = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
export const count = (n: number): string => number.format(n);
export function mib(bytes: number | null | undefined): string {
  if (bytes == null) return "–";
  const text = tenth.format(bytes / 1048576);
  return text === "-0.0" ? "0.0" : text;
}
// "64 B", "1.5 KiB", "12.3 MiB": what is too small for MiB has its own unit.
export function size(bytes: number): string {
  if (bytes >= 1048576 / 10) return mib(bytes) + " MiB";
  return bytes >= 1024 ? tenth.format(bytes / 1024) + " KiB" : count(Math.round(bytes)) + " B";
}
// "+1.0", "-1.0".
export function change(bytes: number): string {
  const text = mib(Math.abs(bytes));
  return text === "0.0" ? text : (bytes > 0 ? "+" : "-") + text;
}
// "45 %"; of what is more than ten times the whole, as a damaged file may say, how many times.
export const part = (a: number, b: number): string => !(b > 0) ? "–" : Math.abs(a) < 10 * b ? Math.round(100 * a / b) + " %" : count(Math.round(a / b)) + " times";

// "1.93 s", "44 ms": as many digits as tell two neighbours of `step` apart. All of an axis, of STEPS of them, are in one unit.
export const STEPS = 500;
export function time(ns: number, step = 0): string {
  const units: [number, string][] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
  const most = Math.max(Math.abs(ns), STEPS * step), [size, unit] = units.find(([u]) => most >= u) ?? units[most ? 3 : 0];
  let digits = Math.abs(ns) / size >= 100 ? 0 : Math.abs(ns) / size >= 10 ? 1 : 2;
  if (step > 0) digits = Math.min(6, Math.max(0, Math.ceil(Math.log10(size / step))));
  return (ns / size).toFixed(digits) + " " + unit;
}

// "/home/me/train.py:87 in forward" without its folders.
export const short = (text: string): string => text.replace(/(^| in )(\S*\/)(?=[^/\s])/g, "$1");

// A cell with a figure: what a test, or a reader's tool, takes from it is the exact one.
export const figure = (bytes: number | null | undefined, tag: "td" | "span" = "td"): HTMLElement =>
  h(tag, { class: "n", "data-bytes": bytes ?? "", title: bytes == null ? "not known" : count(bytes) + " bytes" }, mib(bytes));

export const scroll = (label: string, ...children: Child[]): HTMLElement =>
  h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "table: " + label }, ...children);

export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return h("section", { id, "aria-labelledby": id + "-h" }, h("h2", { id: id + "-h" }, title), ...children);
}

// One of several, as a row of buttons.
export function tabs(label: string, options: [string, string][], chosen: string, choose: (value: string) => void): HTMLElement {
  return h("span", { class: "tabs", role: "group", "aria-label": label },
    ...options.map(([value, text]) => h("button", { type: "button", "aria-pressed": String(value === chosen), "data-value": value,
      click: () => choose(value) }, text)));
}
