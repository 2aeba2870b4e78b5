// SPDX-License-Identifier: Apache-2.0
// CUDA graphs: what each took of the driver, of its pool for allocation nodes and of allocations while it was captured; the largest; what could be saved.
import { Row, page, view } from "./data";
import { count, figure, h, mib, part, s, scroll, section, short, time } from "./dom";
import { ticks } from "./axis";
import { room } from "./shell";
import { set, state } from "./state";

const HEIGHT = 150, LEFT = 64, FIRST = 20;
// Member, in words, colour, at the head of a column.
const KINDS: [string, string, number, string][] = [["exec_bytes", "executable graphs (the driver)", 6, "driver"], ["memory_bytes", "pool of allocation nodes", 1, "allocation nodes"], ["allocated_bytes", "allocated while captured, and kept", 0, "allocated"]];

const of = (g: Row, key: string): number => Number(g[key] ?? 0);
const nameOf = (g: Row): string => of(g, "count") > 1 ? `graphs ${g.number} to ${of(g, "number") + of(g, "count") - 1}` : `graph ${g.number}`;

function stateOf(g: Row): string {
  if (g.state !== "captured") return String(g.state);
  if (of(g, "execs") && !of(g, "execs_alive")) return "destroyed";
  return !of(g, "execs") && g.in_exec_of != null ? `in the exec of graph ${g.in_exec_of}` : of(g, "execs") ? "alive" : "not instantiated";
}

const poolOf = (g: Row): string => g.pool == null ? "–" : g.pool_is_private ? "its own" : `shared, ${g.pool}`;

function sentence(rows: Row[]): HTMLElement {
  const n = page.graphs, top = rows.reduce((a, b) => of(b, "bytes") > of(a, "bytes") ? b : a);
  const bytes = (b: number, key: string) => h("b", { "data-bytes": b, "data-sum": key }, mib(b));
  return h("p", {}, `${count(n.captured)} captured${n.built ? `, ${count(n.built)} built by hand` : ""}${n.failed ? `, ${count(n.failed)} captures that failed` : ""}; ${count(n.alive)} executable graphs are alive. They took `,
    bytes(n.bytes, "bytes"), " MiB: ", bytes(n.exec_bytes, "exec_bytes"), " in executable graphs, ", bytes(n.memory_bytes, "memory_bytes"), " in the pool of allocation nodes, ", bytes(n.allocated_bytes, "allocated_bytes"),
    ` by allocations while they were captured. The largest is ${nameOf(top)}: `, bytes(of(top, "bytes"), "largest"), ` MiB (${part(of(top, "bytes"), n.bytes)}).`,
    n.rows > rows.length ? h("span", { class: "soft" }, ` The page has the ${count(rows.length)} largest of ${count(n.rows)}; the sums are of all.`) : "");
}

function savings(): HTMLElement | false {
  const all = (view("graph", "peak") as unknown as { savings?: Row[] })?.savings ?? [];
  return all.length > 0 && h("ul", { class: "todo" }, ...all.map(x => h("li", {}, h("b", { "data-bytes": of(x, "saves_bytes") }, mib(of(x, "saves_bytes")) + " MiB"), ` could be saved (${String(x.saving).replace(/_/g, " ")}, they have ${mib(of(x, "have_bytes"))} and need ${mib(of(x, "need_bytes"))})${/^name \d+$/.test(String(x.text)) ? "." : ": " + x.text}`)));
}

// A column for each graph, in the order in which they were captured: by how much it made the memory in use grow.
function plot(rows: Row[], chosen: number): HTMLElement {
  const wide = Math.max(280, room()), width = (wide - LEFT) / rows.length, bar = Math.min(40, width * (width > 4 ? .8 : 1));
  const most = Math.max(1, ...rows.map(g => KINDS.reduce((a, [key]) => a + Math.max(0, of(g, key)), 0))), y = (b: number) => HEIGHT * (1 - b / most * .96), x = (i: number) => LEFT + width * i;
  const columns = rows.flatMap((g, i) => {
    let at = 0;
    return KINDS.filter(([key]) => of(g, key) > 0).map(([key, label, colour]) => {
      at += of(g, key);
      return s("rect", { x: x(i).toFixed(1), y: y(at).toFixed(1), width: bar.toFixed(2), height: (HEIGHT * .96 * of(g, key) / most).toFixed(2), style: `fill:var(--c${colour})` }, s("title", {}, `${nameOf(g)}, ${label}: ${mib(of(g, key))} MiB`));
    });
  });
  const now = rows[chosen], move = (to: number) => set({ graph: of(rows[Math.min(rows.length - 1, Math.max(0, to))], "number") }), jump = Math.max(1, Math.round(rows.length / 20));
  const svg = s("svg", { viewBox: `0 -4 ${wide} ${HEIGHT + 24}`, "aria-hidden": "true" }, ...ticks(most).flatMap(v => [s("path", { class: "grid", d: `M${LEFT} ${y(v).toFixed(1)}H${wide}` }), s("text", { x: LEFT - 6, y: y(v) + 4, "text-anchor": "end", class: "soft" }, mib(v))]),
    ...columns, s("text", { x: LEFT, y: HEIGHT + 16, class: "soft" }, nameOf(rows[0])), rows.length > 1 ? s("text", { x: wide, y: HEIGHT + 16, class: "soft", "text-anchor": "end" }, nameOf(rows[rows.length - 1])) : null,
    chosen >= 0 ? s("rect", { class: "chosen", x: x(chosen) - 1, y: -2, width: Math.max(4, bar + 2), height: HEIGHT + 4 }) : null);
  return h("div", { class: "plot", id: "graph-plot", tabindex: 0, role: "slider", "aria-label": "graph", "aria-valuemin": of(rows[0], "number"), "aria-valuemax": of(rows[rows.length - 1], "number"), "aria-valuenow": now ? of(now, "number") : of(rows[0], "number"),
    "aria-valuetext": now ? `${nameOf(now)}: ${mib(of(now, "bytes"))} MiB` : "none is chosen",
    keydown: (e: KeyboardEvent) => {
      const to = { ArrowLeft: chosen - 1, ArrowRight: chosen + 1, PageDown: chosen - jump, PageUp: chosen + jump, Home: 0, End: rows.length - 1 }[e.key];
      if (to == null) return;
      e.preventDefault();
      move(to);
    },
    click: (e: MouseEvent) => { const r = svg.getBoundingClientRect(); move(Math.floor(((e.clientX - r.left) / r.width * wide - LEFT) / width)); } }, svg as any);
}

const details: [string, string][] = [["at_instantiate_bytes", "at instantiation"], ["at_upload_bytes", "at upload"], ["at_launch_bytes", "at launches"], ["at_update_bytes", "at updates"], ["at_destroy_bytes", "at its destruction"], ["doubt_bytes", "in doubt"], ["held_bytes", "of what it allocated still there"], ["owner_bytes", ""]];

function one(g: Row): HTMLElement {
  const said = details.filter(([key]) => of(g, key)).map(([key, text]) => `${mib(of(g, key))} MiB ${key === "owner_bytes" ? "asked for by " + g.owner : text}`);
  return h("p", { id: "graph-now", role: "status", "data-graph": of(g, "number") }, h("b", {}, nameOf(g)), `: ${stateOf(g)}, ${g.nodes == null ? "nobody counted its nodes" : count(of(g, "nodes")) + " nodes"}. It made the memory in use grow by `, h("b", { "data-bytes": of(g, "bytes") }, mib(of(g, "bytes"))), " MiB", said.length ? ": " + said.join(", ") : "", ". ",
    g.source ? `Captured in ${short(String(g.source))}${g.phase ? `, in ${g.phase}` : ""}. ` : g.phase ? `Captured in ${g.phase}. ` : "",
    g.begin_ns != null && Number(g.end_ns) - Number(g.begin_ns) >= 10 ? h("button", { type: "button", class: "controls", click: () => set({ from: Number(g.begin_ns), to: Number(g.end_ns), t: String(g.end_ns) }) }, "look at the time of its capture") : null);
}

function table(rows: Row[], all: Row[], id: string): HTMLElement {
  const kinds = KINDS.filter(([key]) => all.some(g => of(g, key)));
  const head = (text: string, n = true) => h("th", { scope: "col", class: n ? "n" : "" }, text), number = (v: unknown) => h("td", { class: "n" }, v == null ? "–" : count(Number(v)));
  return scroll("graphs", h("table", { id }, h("thead", {}, h("tr", {}, head("MiB", false), head("in all"), ...kinds.map(([, , , text]) => head(text)), head("still held"), head("pool", false), head("used after it"), head("nodes"), head("launches"), head("when"), head("", false))),
    h("tbody", {}, ...rows.map(g => h("tr", { "data-graph": of(g, "number") }, h("th", { scope: "row" }, h("button", { type: "button", "aria-pressed": String(state.graph === of(g, "number")), click: () => set({ graph: of(g, "number") }) }, nameOf(g))), figure(of(g, "bytes")), ...kinds.map(([key]) => figure(of(g, key))), figure(of(g, "held_bytes")),
      h("td", {}, poolOf(g)), figure(g.used_after_bytes as number | null), number(g.nodes), number(g.launches), h("td", { class: "n" }, g.begin_ns == null ? "–" : time(Number(g.begin_ns))), h("td", {}, stateOf(g)))))));
}

export function graphsSection(): HTMLElement | false {
  const rows = [...(view("graph", "peak")?.rows ?? [])].sort((a, b) => of(a, "number") - of(b, "number"));
  if (!rows.length) return false;
  const chosen = rows.findIndex(g => of(g, "number") === state.graph), top = [...rows].sort((a, b) => of(b, "bytes") - of(a, "bytes"));
  return section("graphs", "CUDA graphs", sentence(rows), savings(), h("p", { class: "keys" }, ...KINDS.filter(([key]) => rows.some(g => of(g, key))).map(([, label, colour]) => h("span", {}, h("span", { class: "key", style: `background-color:var(--c${colour})` }), label))),
    plot(rows, chosen), chosen >= 0 ? one(rows[chosen]) : h("p", { class: "soft", id: "graph-now", role: "status" }, "Each column is a graph, in the order of their captures. Click one, or use the arrow keys."),
    h("h3", {}, "The largest first"), table(top.slice(0, FIRST), top, "t-graphs"), top.length > FIRST && h("details", {}, h("summary", {}, `${count(top.length - FIRST)} more`), table(top.slice(FIRST), top, "more-graphs")));
}
