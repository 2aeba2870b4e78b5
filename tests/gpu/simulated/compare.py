#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trainings and programs on a simulated card beside what a real one measured.

    compare.py TARE PYTHON CARD MEASURED.csv [PATTERN]

MEASURED.csv (tests/data/simulated_*.csv) has a row a run: the arguments of train_one.py, or `program` and the name of one of
programs.py; then what a card had. PYTHON has PyTorch of the same versions. Inductor's cache is cold, as it was on the card. Prints a Markdown table and what it comes to.
"""
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20


def run(tare, python, card, arguments):
    """What the program said, and the seconds that it took; None: it failed."""
    words = arguments.split()
    script = ["programs.py", *words[1:]] if words[0] == "program" else ["train_one.py", *words]
    with tempfile.TemporaryDirectory() as folder:
        began = time.time()
        done = subprocess.run([tare, "record", "--sim", card, "-f", "-o", os.path.join(folder, "run.tare"), "--", python,
                               os.path.join(HERE, script[0]), *script[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False, env=dict(os.environ, TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "inductor")))
        seconds = time.time() - began
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return (json.loads(lines[-1]) if lines else None), seconds


def main():
    tare, python, card, measured = sys.argv[1:5]
    pattern = sys.argv[5] if len(sys.argv) > 5 else ""
    print("| run | used, MiB | off | peak allocated, bytes off | peak reserved, MiB off | s |\n|---|---|---|---|---|---|")
    off, equal, times = [], 0, []
    with open(measured, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            if pattern not in row["run"]:
                continue
            got, seconds = run(tare, python, card, row["run"])
            if not got:
                print("| %s | failed | | | | %.0f |" % (row["run"], seconds), flush=True)
                continue
            less = {key: got[key] - int(row[key]) for key in ("used", "peak_allocated", "peak_reserved")}
            off.append((less["used"] / MIB, 100 * less["used"] / int(row["used"])))
            equal += not less["peak_allocated"] and not less["peak_reserved"]
            times.append(seconds)
            print("| %s | %.1f | %+.2f | %+d | %+.1f | %.0f |" % (
                row["run"], int(row["used"]) / MIB, less["used"] / MIB, less["peak_allocated"],
                less["peak_reserved"] / MIB, seconds), flush=True)
    print("\n%d of %d within 4 MiB in use; peaks allocated and reserved equal to the byte in %d. Off by %.3f %% in the middle, "
          "%.2f %% at most; %.0f s in the middle." % (
              sum(abs(mib) <= 4 for mib, _ in off), len(off), equal, statistics.median(abs(part) for _, part in off),
              max((part for _, part in off), key=abs), statistics.median(times)))


if __name__ == "__main__":
    main()
