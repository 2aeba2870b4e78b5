# SPDX-License-Identifier: Apache-2.0
"""rows.jsonl of graphs.sh as Markdown tables."""

import json
import sys

rows = [json.loads(line) for line in open(sys.argv[1]) if line.startswith("{")]


def table(head, lines):
    if lines:
        print("| " + " | ".join(head) + " |")
        print("|" + "---|" * len(head))
        for line in lines:
            print("| " + " | ".join("–" if cell is None else str(cell) for cell in line) + " |")
        print()


for width in sorted({row["width"] for row in rows if "width" in row}):
    print(f"The question's script, width {width:,}, MiB of the device:\n")
    table(["captured", "graphs", "after capture", "after replays", "wrong", "capture s", "host µs p50", "p99"],
          [(row["mode"], row["sizes"], row["captured_MiB"], row["after_replays_MiB"], row["wrong"],
            row["capture_s"], row["replay_host_us_p50"], row["replay_host_us_p99"])
           for row in rows if row.get("width") == width])

memory = {}
for row in rows:
    if "model" in row and not row["mode"].startswith("pair"):
        memory.setdefault(row["model"], {})[row["mode"]] = row
if memory:
    print("Programs, MiB of the device:\n")
table(["program", "sizes", "largest alone", "all sizes", "difference", "plain PyTorch, ascending",
       "groups", "wrong", "eager differs from itself", "replays", "growth"],
      [(name, modes["all"]["sizes"], modes.get("largest", {}).get("replayed_MiB"),
        modes["all"]["replayed_MiB"],
        round(modes["all"]["replayed_MiB"] - modes["largest"]["replayed_MiB"], 1) if "largest" in modes else None,
        modes.get("plain", {}).get("captured_MiB"), len(modes["all"]["groups"]), modes["all"]["wrong"],
        modes["all"]["eager_varies"], modes["all"].get("replays"), modes["all"].get("growth_bytes"))
       for name, modes in memory.items() if "all" in modes])

others = {"few": "one executable graph at a time (execs_max=1)", "device": "switched by the card (by_device)"}
table(["program", "how", "sizes", "MiB of all sizes", "groups", "wrong", "replays", "growth", "switches by the card"],
      [(name, text, modes[mode]["sizes"], modes[mode]["replayed_MiB"], len(modes[mode]["groups"]), modes[mode]["wrong"],
        modes[mode].get("replays"), modes[mode].get("growth_bytes"), modes[mode]["stats"]["device_switches"])
       for name, modes in memory.items() for mode, text in others.items() if mode in modes])

pairs = [row for row in rows if row.get("mode", "").startswith("pair")]
if pairs:
    print("Time, switching at every step, against one executable graph per size (µs):\n")
table(["program", "nodes", "switch", "ns per node", "step, switching", "step, separate", "loss % (interval)",
       "host alone: switch p50", "p99", "separate p50", "device alone: switch", "separate"],
      [(row["model"] + (", by the card: %d groups, %d of the switches, %d by the host" % (
          row["groups"], row["device_switches"], row["host_switches"]) if "device_switches" in row else ""),
        row["nodes_per_graph"], row.get("switch_us"), row.get("switch_ns_per_node"),
        row["step_us_switch"], row["step_us_separate"],
        f"{row['loss_percent']} ({row['loss_low']}…{row['loss_high']})",
        row["alone_switch"]["host_p50"], row["alone_switch"]["host_p99"], row["alone_separate"]["host_p50"],
        row["alone_switch"]["device_p50"], row["alone_separate"]["device_p50"]) for row in pairs])
