// SPDX-License-Identifier: Apache-2.0
// Stacks as an icicle: each frame as wide as what it holds, in full words below for the one that is pointed at; a click goes into it.
import { foldedName } from "./fold";
import { count, h, mib, part, put, short, size } from "./dom";
import { textOf } from "./source";
import { set, state } from "./state";

export type Node = { frame: number; size: number; objects: number; children: Map<number, Node> };

export const REST = -1, ROOT = -2;
const ROW = 23, DEPTH_MAX = 80;
export const frameName = (frame: number): string => frame === ROOT ? "everything" : frame === REST ? "smaller ones" : foldedName(frame);

function subtree(root: Node): Node[] {
  const way = [root];
  for (const number of state.path.split(".").filter(Boolean)) {
    const next = way[way.length - 1].children.get(+number);
    if (!next) break;
    way.push(next);
  }
  return way;
}

const pathOf = (way: Node[]): string => way.slice(1).map(n => n.frame).join(".");

// What there is to say of a frame.
function words(node: Node, root: Node, above: Node | undefined): string {
  const own = node.size - [...node.children.values()].reduce((a, n) => a + n.size, 0);
  return `${mib(node.size)} MiB, ${part(node.size, root.size)} of all` + (above && above !== root ? `, ${part(node.size, above.size)} of the frame above` : "")
    + (own > 0 && own < node.size ? `, ${mib(own)} in itself` : "") + `; ${count(node.objects)} objects` + (node.objects > 1 ? `, ${size(node.size / node.objects)} each on average` : "");
}

export function icicle(root: Node): HTMLElement {
  const way = subtree(root), top = way[way.length - 1], cells: HTMLElement[] = [], q = state.q.toLowerCase();
  const said = h("p", { class: "soft", id: "frame" }, "Point at a frame to read it, or go from one to another with the arrow keys; a click or Enter goes into it.");
  let depth = 0;
  const cell = (node: Node, level: number, left: number, width: number, path: string, shade: boolean, above: Node | undefined) => {
    const name = frameName(node.frame), text = node.frame < 0 ? undefined : textOf(name), full = words(node, root, above);
    const hit = q && node !== root && name.toLowerCase().includes(q);
    const hue = node.frame < 0 ? 8 : [...short(name).split(":")[0].split(" ")[0]].reduce((a, c) => (a * 31 + c.charCodeAt(0)) >>> 0, 7) % 8;
    const read = () => put(said, h("b", {}, name), h("br"), text ? h("code", {}, text) : "", text ? h("br") : "", full);
    cells.push(h("button", { type: "button", class: (hit ? "hit" : "") + (shade ? " above" : ""), "data-frame": name, "data-bytes": node.size, "data-level": level,
      style: `left:${left.toFixed(3)}%;width:${width.toFixed(3)}%;top:${level * ROW}px;background-color:color-mix(in srgb, var(--c${hue}) 30%, var(--paper))`,
      "aria-label": `${name}: ${full}`, click: () => set({ path }), pointerenter: read, focus: read }, width > 1.2 ? short(name) + (width > 12 ? ` · ${mib(node.size)}` : "") : "", width > 20 && text ? h("code", {}, text) : null));
    depth = Math.max(depth, level);
  };
  way.slice(0, -1).forEach((n, i) => cell(n, i, 0, 100, pathOf(way.slice(0, i + 1)), true, way[i - 1]));
  const draw = (node: Node, level: number, left: number, width: number, path: string, above: Node | undefined) => {
    cell(node, level, left, width, path, false, above);
    if (level > DEPTH_MAX) return;
    let at = left;
    for (const child of [...node.children.values()].sort((a, b) => b.size - a.size)) {
      const own = width * child.size / node.size;
      if (own >= .2) draw(child, level + 1, at, own, path ? path + "." + child.frame : String(child.frame), node);
      at += own;
    }
  };
  if (top.size > 0) draw(top, way.length - 1, 0, 100, pathOf(way), way[way.length - 2]);
  const box = h("div", { class: "ice", id: "ice", role: "group", "aria-label": "stacks: each button is a frame, as wide as what it holds", style: `height:${(depth + 1) * ROW}px` }, ...cells);
  box.addEventListener("keydown", e => go(e, cells));
  return h("div", {}, said, box);
}

// Down and up a stack, right and left along a row; Escape one frame out.
function go(e: KeyboardEvent, cells: HTMLElement[]): void {
  const at = cells.indexOf(document.activeElement as HTMLElement), level = (i: number) => Number(cells[i]?.dataset.level);
  const before = cells.slice(0, Math.max(at, 0)).map((_, i) => i).reverse();
  if (e.key === "Escape" && state.path) {
    e.preventDefault();
    set({ path: state.path.split(".").slice(0, -1).join(".") });
    return;
  }
  const to = e.key === "ArrowDown" ? at + 1 : e.key === "ArrowUp" ? before.find(i => level(i) === level(at) - 1)
    : e.key === "ArrowRight" ? cells.findIndex((_, i) => i > at && level(i) === level(at)) : e.key === "ArrowLeft" ? before.find(i => level(i) === level(at)) : undefined;
  if (at < 0 || to == null || !cells[to]) return;
  e.preventDefault();
  cells[to].focus();
}
