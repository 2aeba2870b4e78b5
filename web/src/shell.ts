// SPDX-License-Identifier: Apache-2.0
// What every page of Tare has around its sections: the theme, links to the sections, and the focus where it was when they are drawn again.
import { h, plain } from "./dom";
import { derived, drawAgain, live } from "./live";

const main = document.getElementById("main")!;

// What had the focus has it again: by its id, or by its place among those of its section.
function remember(): () => void {
  const e = document.activeElement as HTMLElement | null, near = e?.closest("section");
  if (!e || !near) return () => {};
  const all = [...near.querySelectorAll<HTMLElement>("button, select, input, [tabindex]")], at = all.indexOf(e), id = e.id, of = near.id;
  const frame = e.dataset.frame, from = e instanceof HTMLInputElement ? e.selectionStart : null;
  return () => {
    const again = [...(document.getElementById(of)?.querySelectorAll<HTMLElement>("button, select, input, [tabindex]") ?? [])];
    const next = (id && document.getElementById(id)) || (frame && again.find(b => b.dataset.frame === frame)) || again[at];
    next?.focus({ preventScroll: true });
    if (from != null && next instanceof HTMLInputElement) next.setSelectionRange(from, from);
  };
}

function nav(sections: HTMLElement[]): void {
  document.getElementById("nav")!.replaceChildren(...sections.filter(s => s.querySelector("h2")).map(s => {
    const title = s.querySelector("h2")!;
    return h("a", { href: "#" + s.id, click: (e: Event) => {
      e.preventDefault(); // the address keeps what is looked at
      s.scrollIntoView();
      title.tabIndex = -1;
      title.focus({ preventScroll: true });
    } }, title.textContent!);
  }));
}

function theme(): void {
  const pick = document.getElementById("theme") as HTMLSelectElement, dark = matchMedia("(prefers-color-scheme: dark)");
  const asked = new URLSearchParams(location.search).get("theme");
  const show = () => { document.documentElement.dataset.theme = pick.value === "auto" ? (dark.matches ? "dark" : "light") : pick.value; };
  try { pick.value = asked ?? localStorage.getItem("tare-theme") ?? "auto"; } catch { pick.value = asked ?? "auto"; }
  if (!pick.value) pick.value = "auto";
  pick.addEventListener("change", () => {
    try { localStorage.setItem("tare-theme", pick.value); } catch { /* a file may have no storage */ }
    show();
  });
  dark.addEventListener("change", show);
  show();
}

// How wide a plot may be. It is read where nothing is half drawn: a width costs the layout of all that is not laid out yet.
let width = 0;
export const room = derived(() => width);

type Section = () => HTMLElement | false | null;

// Puts the sections onto the page, and draws those parts of them again that change with what is looked at.
export function show(title: string, sections: Section[], onChange: (f: () => void) => void): void {
  const drawn = (): HTMLElement[] => [...main.children] as HTMLElement[];
  const render = () => {
    const had = document.activeElement, again = remember(), top = scrollY, were = drawn();
    drawAgain();
    if (document.activeElement !== had) again();
    if (drawn().some((s, i) => s.id !== were[i]?.id)) nav(drawn());
    if (scrollY !== top) scrollTo(0, top);
  };
  document.getElementById("title")!.textContent = plain(title);
  theme();
  onChange(render);
  addEventListener("resize", () => {
    if (main.clientWidth === width) return;
    width = main.clientWidth;
    render();
  });
  width = main.clientWidth;
  main.replaceChildren(...sections.map(make => live<ChildNode>(() => make() || document.createComment(""))));
  nav(drawn());
}
