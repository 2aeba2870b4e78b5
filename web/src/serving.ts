// SPDX-License-Identifier: Apache-2.0
// What a server took of its card before and beside its cache, in the order in which it came, and the largest cache that is safe: what tare report --by serving has.
import { Row, View, page, view } from "./data";
import { count, figure, h, mib, scroll, section, short, time } from "./dom";
import { state } from "./state";

type Served = View & { servers?: Row[]; graphs?: Row[] };

// Of the end, unless the server is gone by then.
function served(): Served | undefined {
  return (["end", "peak"].map(at => view("serving", at)) as (Served | undefined)[]).find(v => v?.servers?.length);
}

const labels = new Map(page.coming.map(c => [c.key, c.label]));
const of = (row: Row, key: string): number => Number(row[key] ?? 0);
const bytes = (row: Row, key: string): HTMLElement => h("span", { "data-bytes": of(row, key), "data-sum": key }, mib(of(row, key)));

function nameOf(row: Row, server: Row): string {
  if (row.label !== "cache") return labels.get(String(row.label)) ?? String(row.label);
  return `cache: ${server.cache_line ? short(String(server.cache_line)) : "one block"}${of(server, "cache_blocks") > 1 ? `, ${count(of(server, "cache_blocks"))} tensors` : ""}`;
}

function table(server: Row, rows: Row[], unexplained: number): HTMLElement {
  const line = (key: string, name: string, size: number, at: unknown = null, total = false) => h("tr", { "data-came": key, class: total ? "total" : "" }, h("th", { class: "name", scope: "row" }, name),
    h("td", { class: "n" }, at == null ? "" : time(Number(at))), figure(size));
  const counted = of(server, "counted_otherwise_bytes"), reserved = of(server, "reserved_bytes");
  return scroll("what came", h("table", { id: "t-serving" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "what"), h("th", { class: "n", scope: "col" }, "came at"), h("th", { class: "n", scope: "col" }, "MiB"))),
    h("tbody", {}, ...rows.map(r => line(String(r.label), nameOf(r, server), of(r, "bytes"), r.first_ns)), line("unexplained", "unexplained", unexplained),
      counted ? line("counted", "counts otherwise on the smaller card", counted) : null, line("left", "left", of(server, "left_bytes")),
      reserved ? line("reserved", "reserved by the driver", reserved) : null, line("card", "the card", of(server, "total_bytes"), null, true))));
}

const moment = (row: Row, key: string): string => row[key] == null ? "" : ` (${time(of(row, key))})`;

function onTop(s: Row): HTMLElement {
  const isLater = of(s, "transient_since_bytes") > of(s, "transient_before_bytes");
  return h("p", {}, "On top of what stays came and went at most: before the cache ", bytes(s, "transient_before_bytes"), ` MiB${moment(s, "transient_before_ns")}, since then `, bytes(s, "transient_since_bytes"), ` MiB${moment(s, "transient_since_ns")}. `,
    isLater ? "What ran before the cache was not the largest that comes." : "A longer prompt, or more at once, than was tried before the cache needs more.");
}

function graphs(s: Row): HTMLElement {
  if (!of(s, "graphs")) return h("p", {}, "CUDA graphs: none was captured.");
  return h("p", {}, `CUDA graphs: ${count(of(s, "graphs"))} took `, mib(of(s, "graph_pool_bytes") + of(s, "graph_driver_bytes")), " MiB: pools ", bytes(s, "graph_pool_bytes"), ", driver ", bytes(s, "graph_driver_bytes"), "; the first ", bytes(s, "graph_first_bytes"),
    s.graph_each_bytes != null ? `, each further one ${mib(of(s, "graph_each_bytes"))} (${mib(of(s, "graph_each_low_bytes"))} to ${mib(of(s, "graph_each_high_bytes"))})` : "", ".");
}

const SETTINGS: [string, string, string][] = [["vLLM", "--kv-cache-memory-bytes", "vllm_kv_cache_memory_bytes"], ["vLLM", "--gpu-memory-utilization", "vllm_gpu_memory_utilization"],
  ["SGLang", "--mem-fraction-static", "sglang_mem_fraction_static"], ["TensorRT-LLM", "free_gpu_memory_fraction", "tensorrt_llm_free_gpu_memory_fraction"]];

function safe(s: Row): HTMLElement[] {
  const onTop = Math.max(of(s, "transient_before_bytes"), of(s, "transient_since_bytes"));
  return [h("p", {}, "The largest cache that is safe: ", h("b", { "data-bytes": of(s, "largest_cache_bytes"), "data-sum": "largest_cache_bytes" }, mib(of(s, "largest_cache_bytes")) + " MiB"),
    ` = ${mib(of(s, "total_bytes") - of(s, "reserved_bytes"))} that programs can have - ${mib(of(s, "stays_beside_cache_bytes"))} that stays beside it - ${mib(onTop)} that comes on top.`),
  h("ul", { class: "todo" }, ...SETTINGS.filter(([, , key]) => s[key] != null).map(([who, option, key]) => h("li", { "data-setting": key }, `${who}: `, h("code", {}, `${option} ${key.endsWith("_bytes") ? s[key] : of(s, key).toFixed(3)}`))))];
}

export function serving(): HTMLElement | false {
  const v = served(), server = v?.servers?.find(s => s.device === state.place);
  if (!v || !server) return false;
  const report = v.at === "end" ? page.report.also![0] : page.report, device = report.devices.find(d => d.index === server.device);
  return section("serving", "Serving", h("p", { class: "soft" }, `${server.program}, ${v.at === "end" ? "at the end" : "at the peak"}${server.simulated ? ", on a simulated GPU" : ""}. What came, in its order.`),
    table(server, v.rows.filter(r => r.device === server.device && r.pid === server.pid), device?.unexplained_bytes ?? 0), onTop(server), graphs(server), ...safe(server));
}
