# SPDX-License-Identifier: Apache-2.0
"""What a recording says of PyTorch's pool beside what torch counted at the same instants.

    compare.py TARE RECORDING FIGURES NAME [expandable]

FIGURES are the lines of JSON that programs/torch_marks.py prints: {"mark": PHASE, "live": …, "reserved": …,
"stuck": …} for the end of a phase, {"peak": max_memory_allocated()} last. Prints a table, and last a row
for table.py. Equal means to the byte. torch does not count what is stuck in expandable segments.
"""

import json
import subprocess
import sys

MIB = 1 << 20


def report(tare, recording, instant):
    done = subprocess.run([tare, "report", recording, "--at", instant, "--by", "pool", "--json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "no answer").splitlines()[-1])
    return json.loads(done.stdout)


def pool(tare, recording, instant):
    rows = report(tare, recording, instant)["rows"]
    return {"live": sum(r["live_bytes"] for r in rows), "reserved": sum(r["bytes"] for r in rows),
            "stuck": sum(r["stuck_bytes"] for r in rows)}


def figures_of(path):
    marks, peak = [], None
    for line in open(path):
        if line.startswith("{"):
            row = json.loads(line)
            marks += [row] if "mark" in row else []
            peak = row.get("peak", peak)
    return marks, peak


def line(name, figure, torch, ours):
    verdict = "=" if torch == ours else "%+d" % (ours - torch)
    print("%-16s %-9s %16d %16d  %s" % (name, figure, torch, ours, verdict))
    return torch == ours


def main(tare, recording, figures, name, *options):
    keys = ("live", "reserved") if "expandable" in options else ("live", "reserved", "stuck")
    marks, peak = figures_of(figures)
    good = total = 0
    print("%-16s %-9s %16s %16s" % (name, "", "torch", "tare"))
    for row in marks:
        ours = pool(tare, recording, "phase:%s:end" % row["mark"])
        for key in keys:
            if key in row:
                good += line(row["mark"], key, row[key], ours[key])
                total += 1
    if peak is not None:
        good += line("peak:tensors", "live", peak, pool(tare, recording, "peak:tensors")["live"])
        total += 1
    rounded = [r["live"] - r["requested"] for r in marks if "requested" in r]
    print(json.dumps({
        "program": name, "verdict": "ok" if total and good == total else "DIFFERS",
        "rows": "%d of %d figures equal to the byte; peak:tensors %s MiB%s" % (
            good, total, "–" if peak is None else "%.1f" % (peak / MIB),
            "; torch rounds up by at most %.1f MiB" % (max(rounded) / MIB) if rounded else "")}))


if __name__ == "__main__":
    main(*sys.argv[1:])
