// SPDX-License-Identifier: Apache-2.0
// The largest tensors, graphs, phases, ranks, steps of training.
import { CPU, Row, peak, view } from "./data";
import { count, figure, h, scroll, section, short, time } from "./dom";
import { reportNow } from "./model";
import { sizes } from "./sizes";
import { state } from "./state";

const heads: { [key: string]: string } = { t_ns: "at", ns: "time", label: "name", bytes: "", pin_source: "pinned by", own_bytes: "own", born_ns: "born" };
const head = (key: string): string => heads[key] ?? key.replace(/_(bytes|ns)$/, "").replace(/_/g, " ");

function cell(key: string, value: unknown): HTMLElement {
  if (/bytes$/.test(key)) return figure(value as number | null);
  if (value == null || value === "") return h("td", {}, "–");
  if (/_ns$|^ns$/.test(key)) return h("td", { class: "n" }, time(Number(value)));
  if (/^(pid|device|rank|number|generation)$/.test(key)) return h("td", { class: "n" }, String(value));
  if (typeof value === "number") return h("td", { class: "n" }, count(value));
  if (typeof value === "boolean") return h("td", {}, value ? "yes" : "no");
  return h("td", { class: "name", title: String(value) }, /^(label|line|pin_source)$/.test(key) ? short(String(value)) : String(value));
}

// Rows of a view as --json has them: sizes in MiB, and nothing where no row has something.
export function plainTable(rows: Row[], keys: string[], id: string): HTMLElement {
  const shown = keys.filter(k => rows.some(r => r[k] != null));
  return scroll(id, h("table", { id }, h("thead", {}, h("tr", {}, ...shown.map(k => h("th", { scope: "col", class: rows.some(r => typeof r[k] === "number") ? "n" : "name" }, (head(k) + (/bytes$/.test(k) ? ", MiB" : "")).replace(/^, /, ""))))),
    h("tbody", {}, ...rows.map(r => h("tr", {}, ...shown.map(k => cell(k, r[k])))))));
}

const FIRST = 20;
const tables: [string, string, string, string[]][] = [
  ["tensor", "largest", "The largest tensors", ["label", "bytes", "category", "shape", "module", "line", "born_ns", "evidence"]],
  ["phase", "phases", "Phases", ["path", "device", "count", "ns", "bytes", "peak_bytes", "own_bytes", "resident_change_bytes"]],
  ["stream", "streams", "Streams", ["label", "bytes", "live_bytes", "stuck_bytes", "segments"]],
];

function other([by, id, title, keys]: typeof tables[0]): HTMLElement | false {
  const found = view(by, reportNow().at.label) ?? view(by, "peak"), rows = found?.rows ?? [];
  const mine = by === "tensor" ? rows.filter(r => (r.device ?? CPU) === state.place) : rows, top = [...mine];
  if (by === "tensor") top.sort((a, b) => Number(b.bytes) - Number(a.bytes));
  if (!top.length) return false;
  const known = keys.filter(k => rows.some(r => k in r)), shown = known.length > 2 ? known : Object.keys(rows[0]).filter(k => typeof rows[0][k] !== "object" || rows[0][k] == null);
  return section(id, title, plainTable(top.slice(0, FIRST), shown, "t-" + by),
    top.length > FIRST && h("details", {}, h("summary", {}, `${count(top.length - FIRST)} more${by === "tensor" && top.length >= 400 ? ", of those that the page has" : ""}`), plainTable(top.slice(FIRST), shown, "more-" + by)), ...(by === "tensor" ? sizes(found!.at, state.place) : []));
}

export const others = tables.map(t => () => other(t));
