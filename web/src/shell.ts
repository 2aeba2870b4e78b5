// SPDX-License-Identifier: Apache-2.0
// What every page of Tare has around its sections: the theme, links to the sections, and the focus where it was when they are drawn again.
import { h, plain } from "./dom";

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

// Puts the sections onto the page, and again whenever something else is looked at.
export function show(title: string, sections: () => (HTMLElement | false | null)[], onChange: (f: () => void) => void): void {
  const render = () => {
    const again = remember(), drawn = sections().filter(Boolean) as HTMLElement[], top = scrollY;
    main.replaceChildren(...drawn);
    nav(drawn);
    again();
    if (scrollY !== top) scrollTo(0, top);
  };
  let width = innerWidth;
  document.getElementById("title")!.textContent = plain(title);
  theme();
  onChange(render);
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; render(); } });
  render();
}
