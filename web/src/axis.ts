// SPDX-License-Identifier: Apache-2.0
// Axes of plots, and states that last until the next one as a path.

const LEAST = 1 << 17; // bytes: two that are nearer have the same figure in MiB
export function ticks(most: number): number[] {
  const raw = most / 4 || 1, size = Math.pow(2, Math.floor(Math.log2(raw)));
  const nice = Math.max(LEAST, [1, 1.25, 1.5, 2].map(f => f * size).find(v => v >= raw) ?? size * 2), out: number[] = [];
  for (let v = 0; v <= most * 1.001; v += nice) out.push(v);
  return out;
}

// A line through states: `end` is until when the last one lasted.
export function steps(t: number[], bytes: number[], end: number, xOf: (t: number) => number, yOf: (b: number) => number): string {
  let d = "";
  for (let i = 0; i < t.length; i++)
    d += `${i ? "V" : `M${xOf(t[i]).toFixed(1)} `}${yOf(bytes[i]).toFixed(1)}H${xOf(t[i + 1] ?? end).toFixed(1)}`;
  return d;
}

// What lies between two such lines over the same times.
export function between(t: number[], low: number[], high: number[], end: number, xOf: (t: number) => number, yOf: (b: number) => number): string {
  if (!t.length) return "";
  let d = steps(t, high, end, xOf, yOf);
  for (let i = t.length - 1; i >= 0; i--) d += `V${yOf(low[i]).toFixed(1)}H${xOf(t[i]).toFixed(1)}`;
  return d + "Z";
}

// A click on a plot, or what a drag went over, in its own units.
export function drag(box: HTMLElement, svg: SVGElement, back: (px: number) => number, x: (v: number) => number, height: number, width: number,
  mark: () => SVGElement, click: (at: number) => void, range: (from: number, to: number) => void): void {
  const at = (e: PointerEvent): number => { const r = svg.getBoundingClientRect(); return back((e.clientX - r.left) / r.width * width); };
  let from: number | null = null, drawn: SVGElement | null = null;
  box.addEventListener("pointerdown", e => {
    from = at(e);
    drawn = svg.appendChild(mark());
    drawn.setAttribute("height", String(height));
    box.setPointerCapture(e.pointerId);
  });
  box.addEventListener("pointermove", e => {
    if (from == null || !drawn) return;
    const [a, b] = [from, at(e)].sort((p, q) => p - q);
    drawn.setAttribute("x", String(x(a)));
    drawn.setAttribute("width", String(x(b) - x(a)));
  });
  box.addEventListener("pointerup", e => {
    if (from == null) return;
    const [a, b] = [from, at(e)].sort((p, q) => p - q);
    from = null;
    drawn?.remove();
    if (x(b) - x(a) < 5) click(b); else range(a, b);
  });
  box.addEventListener("pointercancel", () => { from = null; drawn?.remove(); });
}
