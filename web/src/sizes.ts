// SPDX-License-Identifier: Apache-2.0
// How large live tensors are, and the blocks of a heap: a bar for each power of two, as wide as what they have together, and how many there are.
import { CPU, deviceOf, page } from "./data";
import { count, h, section, size } from "./dom";
import { isElsewhere, reportNow } from "./model";
import { state } from "./state";

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const sizeName = (n: number): string => `${2 ** (n % 10)} ${UNITS[Math.floor(n / 10)]}`;

export function sizes(at: string, place: number): HTMLElement[] {
  const all = page.sizes.find(s => s.at === at && (s.device ?? CPU) === place)?.sizes ?? [];
  return all.length ? [h("h3", {}, `All live tensors at the ${at}, by their size`), bars(all, "tensor")] : [];
}

// [n, how many have 2^n bytes up to twice as many, their bytes]
function bars(all: [number, number, number][], what: string): HTMLElement {
  const most = Math.max(...all.map(([, , bytes]) => bytes), 1);
  return h("div", { class: "fall", id: "sizes" }, ...all.flatMap(([n, number, bytes]) => [
    h("span", {}, `from ${sizeName(n)}`), h("div", { class: "track" }, h("i", { style: `left:0;width:${100 * bytes / most}%;background-color:var(--c0)` })),
    h("span", { class: "n", "data-power": n, "data-count": number, "data-bytes": bytes }, `${count(number)} ${what}${number === 1 ? "" : "s"}, ${size(bytes)}`)]));
}

// Of a heap: what malloc and its kin handed out, and mappings.
export function heapSizes(): HTMLElement | false {
  const report = reportNow(), all = deviceOf(report, state.place)?.sizes ?? [];
  return all.length > 0 && section("heap-sizes", "Blocks by their size", h("p", { class: "soft" },
    `All blocks of malloc and its kin, and all mappings, at the ${report.at.label}${isElsewhere() ? "; it is known at the peak and at the end" : ""}. A bar is as wide as what blocks of that size hold together.`),
    bars(all.map(({ from_bytes, count, bytes }) => [Math.round(Math.log2(from_bytes)), count, bytes]), "block"));
}
