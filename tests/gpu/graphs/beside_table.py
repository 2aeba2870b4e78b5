#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of ../graphs_beside.sh: beside_table.py OUT, which has rows.jsonl and a report of each recorded run.

Exit code 1: a replay answered something else than the step without a graph, or the ledger and cuMemGetInfo are 2 MiB apart.
"""
import json
import os
import sys

MIB = 1 << 20
OUT = sys.argv[1]
MODES = {"alone": "PyTorch, the largest size alone", "smallest": "PyTorch, one pool, smallest first",
         "largest": "PyTorch, one pool, largest first", "tare": "tare.graphs, smallest first",
         "tare-largest": "tare.graphs, largest first", "tare-few": "tare.graphs, one executable graph at a time",
         "tare-device": "tare.graphs, switched by the card"}


def leaves(report):
    rows = {row["path"].split("/", 1)[-1]: row["bytes"] for d in report["devices"] for row in d["accounts"] if row["leaf"]}
    rows["unexplained"] = sum(d["unexplained_bytes"] or 0 for d in report["devices"])
    return rows


def ledger(row):
    """What there is more at the end of the captures, by the ledger: all, blocks, executable graphs, unexplained."""
    try:
        with open(os.path.join(OUT, "%s-%s.json" % (row["program"], row["mode"])), encoding="utf-8") as f:
            first = json.load(f)
    except FileNotFoundError:
        return None
    begin, end = leaves(first), leaves(first["also"][0])
    more = {path: end.get(path, 0) - begin.get(path, 0) for path in {**begin, **end}}
    blocks = sum(n for path, n in more.items() if path.startswith(("allocations/", "vmm/", "virtual/")))
    graphs = sum(n for path, n in more.items() if path.startswith("graphs"))
    return sum(more.values()), blocks, graphs, more["unexplained"]


def mib(n):
    return "%.1f" % (n / MIB)


def ahead(row):
    if "prepare_p50" not in row:
        return " |  | "
    return "%.1f / %.1f | %.1f / %.1f | %.1f" % tuple(row[name] for name in (
        "prepare_p50", "prepare_p99", "prepared_p50", "prepared_p99", "prepared_done_p50"))


def main():
    bad = 0
    with open(os.path.join(OUT, "rows.jsonl"), encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    print("\nMiB of all graphs, by cuMemGetInfo and by the ledger (of a second run); a step is of another size than the one before it;"
          "\nhost: the call of replay() with the card idle before it; done: until the card is; one after the other: a step.\n")
    print("| program | graphs | sizes | MiB | ledger: all | pool or arena | executable | unexplained | start-up, s | host p50 / p99, µs | "
          "done p50 | prepare p50 / p99 | then host p50 / p99 | done p50 | one after the other | wrong | grown | groups × nodes |")
    print("|" + "---|" * 18)
    for row in rows:
        said = ledger(row)
        bad |= (row["wrong"] or 0) > 0 or (said is not None and abs(said[0] - row["bytes"]) > 2 * MIB)
        print("| %s | %s | %d | %s | %s | %.2f | %.1f / %.1f | %.1f | %s | %.1f | %s | %s | %s |" % (
            row["program"], MODES[row["mode"]], row["sizes"], mib(row["bytes"]),
            " | ".join(map(mib, said)) if said else " | | | ", row["start_s"], row["host_p50"], row["host_p99"], row["done_p50"],
            ahead(row), row["step_us"], "–" if row["wrong"] is None else row["wrong"], mib(row["grown"]), "%d × %d" % (row["groups"], row["nodes"]) if "groups" in row else ""))
    sys.exit(bad)


main()
