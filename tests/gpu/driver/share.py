# SPDX-License-Identifier: Apache-2.0
"""The saving of a shared graph pool, predicted from one recording and measured with another.

    share.py TARE PRIVATE SHARED      prints a row for table.py, as a line of JSON

Predicted: what tare report --by graph says of private pools; and, from the phases, what was allocated in
each capture's phase, summed, less the largest of them.
"""

import json
import subprocess
import sys

MIB = 1 << 20
POOLS = ("allocations", "granularity", "vmm")  # what PyTorch's pools consist of at the driver's level


def report(tare, recording, *options):
    done = subprocess.run([tare, "report", recording, *options, "--json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "no answer").splitlines()[-1])
    return json.loads(done.stdout)


def pools(tare, recording):
    phases = [p for p in report(tare, recording, "--by", "phase").get("phases", []) if "/" not in p["path"]]
    sums = {p["path"]: sum(c["bytes"] for c in p["changes"] if c["account"] in POOLS) for p in phases}
    return {name: size for name, size in sums.items() if size > 0}


def by_graphs(tare, recording):
    """What the graphs' own rows say; None where this tare has none."""
    savings = report(tare, recording, "--at", "end", "--by", "graph").get("savings", [])
    return sum(s["saves_bytes"] for s in savings if s["saving"] == "private_pools") or None


def end(tare, recording):
    return max(d["used_bytes"] for d in report(tare, recording, "--at", "end")["devices"])


def main():
    tare, private, shared = sys.argv[1:4]
    row = {"program": "lattice: saving of a shared pool"}
    try:
        sizes = pools(tare, private)
        predictions = {"by graph": by_graphs(tare, private)}
        if sizes:
            predictions["by phase"] = sum(sizes.values()) - max(sizes.values())
        known = [p for p in predictions.values() if p is not None]
        if not known:
            raise RuntimeError("the recording has neither graphs nor phases with memory in them")
        measured = end(tare, private) - end(tare, shared)
        row["rows"] = "predicted %s; measured %.1f (%s)" % (
            ", ".join("%s %s" % (name, "–" if p is None else "%.1f" % (p / MIB)) for name, p in predictions.items()),
            measured / MIB, ", ".join("%s %.1f" % (name, size / MIB) for name, size in sizes.items()))
        row["verdict"] = "ok" if all(abs(p - measured) <= max(0.05 * measured, 32 * MIB) for p in known) else "OFF"
    except (RuntimeError, ValueError, KeyError) as e:
        row.update(rows=str(e), verdict="NO LEDGER")
    print(json.dumps(row))


if __name__ == "__main__":
    main()
