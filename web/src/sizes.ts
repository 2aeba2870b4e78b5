// SPDX-License-Identifier: Apache-2.0
// How large live tensors are: a bar for each power of two, as wide as what they have together, and how many there are.
import { CPU, page } from "./data";
import { count, h, mib } from "./dom";

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const sizeName = (n: number): string => `${2 ** (n % 10)} ${UNITS[Math.floor(n / 10)]}`;

export function sizes(at: string, place: number): HTMLElement[] {
  const all = page.sizes.find(s => s.at === at && (s.device ?? CPU) === place)?.sizes ?? [];
  if (!all.length) return [];
  const most = Math.max(...all.map(([, , bytes]) => bytes), 1);
  return [h("h3", {}, `All live tensors at the ${at}, by their size`), h("div", { class: "fall", id: "sizes" }, ...all.flatMap(([n, tensors, bytes]) => [
    h("span", {}, `from ${sizeName(n)}`), h("div", { class: "track" }, h("i", { style: `left:0;width:${100 * bytes / most}%;background-color:var(--c0)` })),
    h("span", { class: "n", "data-power": n, "data-count": tensors, "data-bytes": bytes }, `${count(tensors)} ${tensors === 1 ? "tensor" : "tensors"}, ${mib(bytes)} MiB`)]))];
}
