#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well tare fit predicts rows of measured tables that were hidden from it: the table of docs/FIT.md.

    python3 tests/bench/fit_holdout.py --tare build/tare [--tables gpt_train] [--targets used]

Of each table and each target column, the rows with the greatest values of a parameter are hidden, one parameter
at a time and at every cut that leaves at least two values; and all rows above a value of the target. A line is:
table, target, what was hidden, how many rows, how many times beyond, median, 90 % and worst error, how many of
the rows lie between low and high, and the seconds it took. The tables are tests/data; --data takes another folder.

A line "twins" is no prediction: rows that differ only in how the same work is cut (batch 4 × seq 256, batch 1 ×
seq 1024), and how much their targets differ. No law of these parameters can be better than that.
"""

import argparse
import csv
import io
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# Table, its parameters, its targets, and parameters whose powers multiply to an amount of work.
TABLES = (
    ("gpt_train", "optimizer,d_model,layers,seq,batch,amp", ("peak_allocated", "peak_reserved", "used"),
     {"seq": 1, "batch": 1}),
    ("conv_rollout", "channels,grid,batch", ("peak_allocated", "peak_reserved", "used"), {"grid": 2, "batch": 1}),
    ("lattice_cg_graph", "bs,L,max_iter", ("graph_pool_bytes", "input_bytes"), {}),
)


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def cuts(rows, params, target):
    """(what is hidden, times beyond, [is hidden per row])."""
    for param in params.split(","):
        values = sorted({number(r[param]) for r in rows if number(r[param]) is not None})
        if len(values) < 3:
            continue
        for k in range(2, len(values)):
            if values[-1] / values[k - 1] <= 4:
                yield ("%s > %g" % (param, values[k - 1]), values[-1] / values[k - 1],
                       [number(r[param]) > values[k - 1] for r in rows])
    sizes = sorted(float(r[target]) for r in rows)
    for share in (0.5, 0.7, 0.85):
        cut = sizes[int(share * len(sizes))]
        if cut < sizes[-1]:
            yield ("%s > %.4g" % (target, cut), sizes[-1] / cut, [float(r[target]) > cut for r in rows])


def predict(tare, folder, rows, is_hidden, target, params):
    """[(truth, predicted, low, high)] of the hidden rows."""
    seen, hidden = os.path.join(folder, "seen.csv"), os.path.join(folder, "hidden.csv")
    write(seen, [r for r, h in zip(rows, is_hidden) if not h])
    write(hidden, [r for r, h in zip(rows, is_hidden) if h])
    done = subprocess.run([tare, "fit", seen, "--target", target, "--params", params, "--predict", hidden, "--csv"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return [tuple(float(r[k]) for k in (target, "predicted", "low", "high"))
            for r in csv.DictReader(io.StringIO(done.stdout))]


def summary(got):
    wrong = sorted(abs(p / y - 1) * 100 if y else 0 for y, p, _, _ in got)
    inside = sum(low <= y <= high for y, _, low, high in got)
    return statistics.median(wrong), wrong[int(0.9 * (len(wrong) - 1))], wrong[-1], inside


def twins(rows, params, target, work):
    """How much rows differ, in percent, that do the same work cut differently."""
    groups = {}
    for r in rows:
        amount = 1
        for name, power in work.items():
            amount *= float(r[name]) ** power
        key = (amount,) + tuple(r[p] for p in params.split(",") if p not in work)
        groups.setdefault(key, []).append(float(r[target]))
    return sorted(abs(b / a - 1) * 100 for g in groups.values() for a, b in zip(g, g[1:]))


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--tare", default=os.path.join(ROOT, "build", "tare"))
    ask.add_argument("--data", default=os.path.join(ROOT, "tests", "data"))
    ask.add_argument("--tables")
    ask.add_argument("--targets")
    args = ask.parse_args()
    form = "%-17s %-17s %-28s %5s %6s %8s %8s %8s %9s %5s"
    print(form % ("table", "target", "hidden", "rows", "beyond", "median", "p90", "worst", "inside", "s"))
    with tempfile.TemporaryDirectory() as folder:
        for name, params, targets, work in TABLES:
            rows = read(os.path.join(args.data, name + ".csv"))
            for target in targets:
                if (args.tables and name not in args.tables.split(",")) or \
                        (args.targets and target not in args.targets.split(",")):
                    continue
                apart = twins(rows, params, target, work) if work else []
                if apart:
                    print(form % (name, target, "twins", len(apart), "", "%.2f %%" % statistics.median(apart),
                                  "%.2f %%" % apart[int(0.9 * (len(apart) - 1))], "%.2f %%" % apart[-1], "", ""))
                for what, beyond, is_hidden in cuts(rows, params, target):
                    start = time.monotonic()
                    got = predict(args.tare, folder, rows, is_hidden, target, params)
                    median, p90, worst, inside = summary(got)
                    print(form % (name, target, what, len(got), "%.1f" % beyond, "%.2f %%" % median, "%.2f %%" % p90,
                                  "%.2f %%" % worst, "%d of %d" % (inside, len(got)),
                                  "%.1f" % (time.monotonic() - start)), flush=True)


if __name__ == "__main__":
    main()
