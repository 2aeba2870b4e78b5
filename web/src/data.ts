// SPDX-License-Identifier: Apache-2.0
// What the program wrote into the page: docs/JSON.md says what a report is, src/view/page_*.c what is beside it.

export type Account = { path: string; label: string; account: string; leaf: boolean; bytes: number; evidence: string | null;
  elastic?: boolean; count: number; low?: number; high?: number; contended?: boolean };
export type Device = { index: number; name: string | null; host: string | null; simulated: boolean; heap: boolean; imported: boolean; integrated: boolean; total_bytes: number | null;
  sizes: { from_bytes: number; count: number; bytes: number }[]; reserved_bytes: number | null; used_bytes: number | null; used_evidence: string; nvml: boolean; need_bytes: number | null; elastic_bytes: number; t_ns: number | null;
  peak_t_ns: number | null; peak_used_bytes: number | null; accounts: Account[]; card?: { total_bytes: number; free_bytes: number | null } | null; unexplained_bytes: number | null };
export type Host = { pid: number; name: string; accounts: Account[]; [key: string]: unknown };
export type Row = { [key: string]: unknown };
export type Report = { at: { label: string; t_ns: number | null }; devices: Device[]; host: Host[]; advice: Row[]; growth: Row[];
  residue: Row[]; shared: Row[]; out_of_memory: Row[]; losses: Row[]; degraded: string[]; notes: string[]; training: Row[]; also?: Report[] };
export type View = { at: string; by: string; rows: Row[]; note?: string; segments?: Row[] };
export type Band = { key: string; label: string; elastic: boolean; unexplained: boolean; bytes: number[]; peak_bytes?: number };
export type Panel = { device: number | null; t_ns: number[]; used_bytes: number[]; peak_t_ns?: number; peak_used_bytes?: number;
  bands: Band[]; bounds: number[][] };
export type Span = { name: string; from_ns: number; to_ns: number; count: number; mark: boolean };
export type Time = { from_ns: number; to_ns: number; known_ns: number; panels: Panel[]; spans: Span[]; more_spans: number };
// [device, stack (-1: the smaller ones), bytes, objects, bytes of live tensors, tensors, and if there ever were some: how many were handed out so far, their bytes]
// calls, at the peak and at the end: [device of a heap, line (-1: the others), how often it was given memory so far, those bytes]
export type Moment = { at: string | null; t_ns: number | null; rows: number[][]; calls?: number[][] };
// How rows of the ledger are known: src/view/page_evidence.c.
export type Kind = { said: string; rule: string; same: string; why: string; less: string };
export type From = { line: string; bytes: number; count: number };
export type Evidence = { device: number; path: string; kind: number; is_category: boolean; residue: string | null; lines: From[]; more_lines: number; more_bytes: number };
// As tare explain --json has them.
export type Tool = { tool: string; word: string; bytes: number | null; prints: string | null; formula: string; leaves_out: string; counts_twice: string; not_known_because: string | null };
export type Explained = { pid: number; title: string; tools: Tool[]; do_not_add: { one: string; other: string; why: string }[] };
// [pid, generation, resident, anonymous, files, shared, swap, pinned, tensors]
export type HostMoment = { t_ns: number; rows: (number | null)[][] };
export type Bands = { used: (number | null)[][]; live: (number | null)[][] };
export type Page = { title: string; report: Report; views: View[]; time: { account: Time; category?: Time }; moments: Moment[];
  sizes: { at: string; device: number | null; sizes: [number, number, number][] }[]; // sizes: [n, tensors of 2^n bytes up to twice as many, their bytes]
  pool: { categories: string[]; lines: string[]; segments: { at: string; device: number; pid: number; address: string; blocks: number[][] }[];
    settings: { settings: string; peak_reserved_bytes: number; driver_allocs: number; runs_out: boolean }[] };
  coming: { key: string; label: string }[];
  // moments at which blocks came or went, and what was in blocks then; rows: [first moment, first moment without it, bytes, category, stack, name or -1, shape or -1, born, gone or -1]
  blocks: { memories: { device: number | null; t_ns: number[]; bytes: number[]; smaller: number; rows: number[][] }[]; names: string[]; shapes: string[] };
  graphs: { captured: number; built: number; failed: number; alive: number; rows: number; bytes: number; exec_bytes: number; memory_bytes: number; allocated_bytes: number };
  // of each training of the report: curves of its steps, in parts of them, and quantiles of all but the first
  steps: { axis_ns: number; used: (number | null)[][]; live: (number | null)[][]; by_time?: Bands; by_part?: Bands }[];
  frames: string[]; lines: string[]; stacks: number[][];
  // lines: [number of the first, texts …] of each stretch; `own`: one of them holds memory itself
  sources: { file: string; own: boolean; changed: boolean; leads_to: string | null; lines: (number | string)[][]; missing: string | null }[];
  source_why: string | null;
  evidence: { kinds: Kind[]; categories: { category: string; what: string; less: string }[]; rows: Evidence[] }; calls: { rows?: Row[] }; explained: Explained[]; host_moments: HostMoment[] };

export const page = JSON.parse(document.getElementById("data")!.textContent!) as Page;
export const peak = page.report;
export const end = page.report.also![0];
export const CPU = -1;
// Tensors on the CPU beside a GPU have a peak of their own.
const hostPeak = page.report.also![1];
export const peakOf = (place: number): Report => place === CPU && hostPeak ? hostPeak : peak;

export const view = (by: string, at: string): View | undefined => page.views.find(v => v.by === by && v.at === at);

export const deviceOf = (report: Report, index: number): Device | undefined => report.devices.find(d => d.index === index);


export function placeName(index: number): string {
  const d = deviceOf(peak, index);
  if (index === CPU) return "tensors on the CPU";
  if (!d) return "GPU " + index;
  if (d.imported && d.integrated && d.name) return d.name; // a process, or a board with one memory
  if (d.heap) return "the heap and mappings of the host";
  return `GPU ${d.index}${d.name ? " " + d.name : ""}${d.host ? " of " + d.host : ""}${d.simulated && !/simulated/.test(d.name ?? "") ? " (simulated)" : ""}`;
}

// The rows of a place: of the CPU those of all its processes.
export function accounts(report: Report, index: number): Account[] {
  if (index !== CPU) return deviceOf(report, index)?.accounts ?? [];
  return report.host.flatMap(h => h.accounts);
}

// What a program asks for, in the words of accounts.
export const ASKED_FOR = /^(allocations|pools|vmm|managed|arrays|heap|mapped)$/;

// Less than this is 0.0 MiB.
export const LEAST = 52429;

const mostAt = (panel: Panel): number => panel.peak_used_bytes ?? panel.used_bytes.reduce((a, b) => Math.max(a, b), 0);

// Places that memory was in: GPUs, a heap, the CPU. A GPU of which the program asked for nothing is behind those where it asked for more than that GPU holds.
function ordered(): number[] {
  const all = page.time.account.panels.map(panel => ({ place: panel.device ?? CPU, most: mostAt(panel) }));
  const asked = (place: number): boolean => place === CPU || accounts(peakOf(place), place).some(r => ASKED_FOR.test(r.account) && r.bytes > 0);
  const most = all.filter(p => asked(p.place)).reduce((a, p) => Math.max(a, p.most), 0);
  const isBehind = (p: { place: number; most: number }): boolean => p.most < most && !asked(p.place);
  return [...all.filter(p => !isBehind(p)), ...all.filter(isBehind)].map(p => p.place);
}
export const places = ordered();
