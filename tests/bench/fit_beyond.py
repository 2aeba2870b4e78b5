#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often tare fit's intervals hold beyond what was measured: on made-up sweeps (made_up_sweeps.py), whose truth is known there.

    python3 tests/bench/fit_beyond.py --tare build/tare [--sweeps 200] [--seed 1] [--families all|looked-at|held-out|NAME,…]

Sweeps are of ten families by turns. Predicted are cells in which one parameter, or two at once, are 2 or 4 times their greatest value, and
less than the least. A line is: what is beyond, how many cells, how many of them lie between low and high (9 of 10 should), how many below
and above, the median and the 90 % error, and how far the interval reaches to each side in the middle. Half of the families are held out:
nothing of tare was chosen by them. Measured sweeps: fit_holdout.py.
"""

import argparse
import csv
import io
import os
import random
import statistics
import subprocess
import sys
import tempfile

from made_up_sweeps import HELD_OUT, LOOKED_AT, beyond, made_up, seen_cells

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
UNSEEN = "unseen phase"  # is the greatest in that cell, and in none that was measured: no law can know it
FORM = "%-20s %6s %14s %6s %6s %9s %9s %9s"


def write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def run(tare, folder, sweep, rng):
    """[(what, truth, predicted, low, high)], and does a term fall?"""
    chosen, measure, greatest = sweep
    seen, asked = os.path.join(folder, "seen.csv"), os.path.join(folder, "asked.csv")
    cells = seen_cells(rng, chosen)
    write(seen, [dict(cell, need_bytes=measure(cell)) for cell in cells])
    phases = {greatest(cell) for cell in cells}
    wanted = [(what if greatest(cell) in phases else UNSEEN, cell) for what, cell in beyond(chosen)]
    write(asked, [cell for _, cell in wanted])
    ask = [tare, "fit", seen, "--target", "need_bytes", "--params", ",".join(chosen)]
    done = subprocess.run(ask + ["--predict", asked, "--csv"], capture_output=True, text=True, check=False)
    text = subprocess.run(ask, capture_output=True, text=True, check=False)
    if done.returncode or text.returncode:
        sys.exit(done.stderr + text.stderr)
    got = [(what, measure(cell)) + tuple(float(row[k]) for k in ("predicted", "low", "high"))
           for (what, cell), row in zip(wanted, csv.DictReader(io.StringIO(done.stdout)))]
    return got, "^-1" in text.stdout or " / " in text.stdout.splitlines()[0]


def measure_all(tare, families, sweeps, seed):
    """{(family, what): [(truth, predicted, low, high)]}, and how many laws have a falling term."""
    cells, falling = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(sweeps):
            rng, family = random.Random("%d %d" % (seed, i)), families[i % len(families)]
            got, falls = run(tare, folder, made_up(rng, family), rng)
            falling += falls
            for what, *rest in got:
                cells.setdefault((family.__name__, what), []).append(rest)
    return cells, falling


def share_inside(cells):
    return sum(low <= y <= high for y, _, low, high in cells) / len(cells)


def half_width(cells):
    """How far intervals reach to each side, in percent of the truth, in the middle of all."""
    return statistics.median((high - low) / 2 / y * 100 for y, _, low, high in cells)


def line(what, cells):
    wrong = sorted(abs(p / y - 1) * 100 for y, p, _, _ in cells)
    inside = sum(low <= y <= high for y, _, low, high in cells)
    print(FORM % (what, len(cells), "%d (%.0f %%)" % (inside, 100 * inside / len(cells)),
                  sum(y < low for y, _, low, _ in cells), sum(y > high for y, _, _, high in cells), "%.2f %%" % statistics.median(wrong),
                  "%.2f %%" % wrong[int(0.9 * (len(wrong) - 1))], "%.1f %%" % half_width(cells)))


def main():
    named = {f.__name__: f for f in LOOKED_AT + HELD_OUT}
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--tare", default=os.path.join(ROOT, "build", "tare"))
    ask.add_argument("--sweeps", type=int, default=200)
    ask.add_argument("--seed", type=int, default=1)
    ask.add_argument("--families", default="all")
    args = ask.parse_args()
    sets = {"all": LOOKED_AT + HELD_OUT, "looked-at": LOOKED_AT, "held-out": HELD_OUT}
    families = sets.get(args.families) or tuple(named[name] for name in args.families.split(","))
    cells, falling = measure_all(args.tare, families, args.sweeps, args.seed)
    print(FORM % ("beyond", "cells", "inside", "below", "above", "median", "p90", "± middle"))
    for what in sorted({what for _, what in cells}, key=lambda w: (w == UNSEEN, w)):
        line(what, [c for (_, w), some in cells.items() if w == what for c in some])
    for family in families:
        line(family.__name__, [c for (f, _), some in cells.items() if f == family.__name__ for c in some])
    line("all", [c for some in cells.values() for c in some])
    print("a falling term in %d of %d laws" % (falling, args.sweeps))


if __name__ == "__main__":
    main()
