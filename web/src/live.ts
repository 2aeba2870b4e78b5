// SPDX-License-Identifier: Apache-2.0
// Parts of the page that are drawn again only where something that they looked at is another than it was. What a part looks at is not
// declared, it is seen: whoever reads a member of a watched object, or asks what `derived` made, while a part is drawn, looked at it.

type Looks = Map<unknown, { now: () => unknown; was: unknown }>;
type Part = { draw: () => void; looks: Looks; inside: Part[] };

const outermost: Part[] = [];
let drawing: Part | undefined;

function apart<T>(part: Part | undefined, f: () => T): T {
  const outer = drawing;
  drawing = part;
  try { return f(); } finally { drawing = outer; }
}

function look<T>(key: unknown, now: () => T): T {
  const known = drawing?.looks.get(key);
  if (known) return known.was as T;
  const was = apart(undefined, now);
  drawing?.looks.set(key, { now, was });
  return was;
}

// What is worked out of what is watched, and seldom changes with it: whoever asks looked at the result alone.
export const derived = <T>(now: () => T): () => T => () => look(now, now);

export const watched = <T extends object>(of: T): T => new Proxy(of, { get: (_, key) => drawing ? look(key, () => (of as any)[key]) : (of as any)[key] });

function draw(part: Part): void {
  part.looks.clear();
  part.inside.length = 0;
  apart(part, part.draw);
}

// Draws now, and whenever something else is to be seen. Parts in it are part of it.
export function follow(f: () => void): void {
  const part: Part = { draw: f, looks: new Map(), inside: [] };
  (drawing?.inside ?? outermost).push(part);
  draw(part);
}

// An element that another takes the place of when something else is to be seen.
export function live<E extends ChildNode>(make: () => E): E {
  let shown: E | undefined;
  follow(() => {
    const next = make();
    shown?.replaceWith(next);
    shown = next;
  });
  return shown!;
}

function again(part: Part): void {
  if ([...part.looks.values()].some(l => !Object.is(l.now(), l.was))) draw(part);
  else part.inside.forEach(again);
}

export const drawAgain = (): void => outermost.forEach(again);
