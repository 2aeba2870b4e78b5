#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Other estimates of trainings, and Tare's, beside what a card measured: a Markdown table, and how far off each is.

    estimates.py SIMGPU PYTHON MEASURED.csv TARE.md KEPT.csv

SIMGPU is the folder of the simulated GPU (build/simgpu): MemTracker's backward pass wants a card to be there. MEASURED.csv and
PYTHON are as for compare.py, whose table for the same rows TARE.md has. Each row is estimated (estimate.py), and
what came of it is kept in KEPT.csv: what is there is not estimated again.
"""
import csv
import json
import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20
MEASURES = ("used", "peak_reserved", "peak_allocated")
OTHERS = ("formula", "mem_tracker")
ESTIMATES = {"tare": "Tare", "formula": "formula", "mem_tracker": "MemTracker"}


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def predicted(path, measured):
    """What Tare said of a run, from its table: bytes of each measure."""
    off = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            cells = [cell.strip() for cell in line.strip("| \n").split("|")]
            if len(cells) == 6 and re.match(r"[-+][\d.]+$", cells[2]):
                off[cells[0]] = dict(zip(MEASURES, (float(cells[2]) * MIB, float(cells[4]) * MIB, int(cells[3]))))
    return {row["run"]: {key: int(row[key]) + off[row["run"]][key] for key in MEASURES} for row in measured if row["run"] in off}


def estimated(simgpu, python, runs):
    """Each line that estimate.py says; what it could not estimate is empty, and why is on stderr."""
    env = dict(os.environ, TARE_SIM_PROFILE="h200", LD_LIBRARY_PATH="%s:%s/libs" % (simgpu, simgpu),
               LD_PRELOAD=simgpu + "/libs/libtare_sim.so", PYTHONDONTWRITEBYTECODE="1")
    with subprocess.Popen([python, os.path.join(HERE, "estimate.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=env, text=True) as running:
        running.stdin.write("".join(run + "\n" for run in runs))
        running.stdin.close()
        for line in running.stdout:
            said = json.loads(line)
            print(line.strip(), file=sys.stderr, flush=True)
            for key in OTHERS:
                if not isinstance(said[key], int):
                    said[key] = ""
            yield {key: said[key] for key in ("run", *OTHERS)}


def kept(path, simgpu, python, runs):
    """The estimates of every run, of which those that are new are added to the file."""
    known = {row["run"]: row for row in rows_of(path)} if os.path.exists(path) else {}
    missing = [run for run in runs if run not in known]
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ("run", *OTHERS), lineterminator="\n")
        if not known:
            writer.writeheader()
        for row in estimated(simgpu, python, missing) if missing else []:
            known[row["run"]] = row
            writer.writerow(row)
            file.flush()
    return known


def percent(estimate, truth):
    return 100 * (estimate - truth) / truth


def cell(estimate, truth):
    return "%.0f (%+.1f %%)" % (estimate / MIB, percent(estimate, truth)) if estimate else "–"


def summary(name, off):
    """Of errors in percent: how many, the middle, nine of ten, the worst."""
    sizes = sorted(map(abs, off))
    nine = sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))]
    return "| %s | %d | %.2f %% | %.2f %% | %+.2f %% |" % (name, len(off), statistics.median(sizes), nine, max(off, key=abs))


def main():
    simgpu, python, measured_path, tare_path, kept_path = sys.argv[1:6]
    measured = rows_of(measured_path)
    tare = predicted(tare_path, measured)
    others = kept(kept_path, os.path.abspath(simgpu), python, [row["run"] for row in measured])
    off = {(name, measure): [] for name in ESTIMATES for measure in MEASURES}
    print("| run | used, MiB | reserved | allocated | %s |\n|---|%s" % (" | ".join(ESTIMATES.values()), "---|" * 6))
    for row in measured:
        run, cells = row["run"], []
        for name in ESTIMATES:
            says = tare[run] if name == "tare" else dict.fromkeys(MEASURES, int(others[run][name] or 0))
            cells.append(cell(says["used"], int(row["used"])))
            for measure in MEASURES:
                if says["used"]:
                    off[name, measure].append(percent(says[measure], int(row[measure])))
        print("| %s | %s | %s |" % (run, " | ".join("%.0f" % (int(row[key]) / MIB) for key in MEASURES), " | ".join(cells)))
    for measure in MEASURES:
        print("\n| against %s | rows | median | nine of ten | worst |\n|---|---|---|---|---|" % measure)
        for name, title in ESTIMATES.items():
            print(summary(title, off[name, measure]))
        if measure == "used":
            for name in OTHERS:
                print(summary(ESTIMATES[name] + " and the context", [percent(int(others[row["run"]][name]) + int(row["context"]), int(
                    row["used"])) for row in measured if others[row["run"]][name]]))


if __name__ == "__main__":
    main()
