#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often tare fit finds a law in noise, where there is none.

    python3 tests/bench/fit_noise.py --tare build/tare [--tables 200]

A line is: the grid of the table, its cells, what the noise is, of how many tables; in how many `tare fit` says `law`, in how many
`weak`; and whether the middle is answered in all others."""

import argparse
import itertools
import json
import math
import os
import random
import statistics
import subprocess
import tempfile

GRIDS = (
    ("3", [(1, 2, 3)]), ("5", [(1, 2, 3, 4, 5)]), ("6", [(1, 2, 3, 4, 5, 6)]), ("2 × 2", [(1, 2), (1, 2)]),
    ("3 × 3", [(1, 2, 4), (1, 2, 3)]), ("4 × 6", [(1, 2, 4, 8), (1, 2, 3, 4, 5, 6)]),
    ("3 × 4 × 4", [(1, 2, 4), (1, 2, 3, 4), (8, 16, 32, 64)]), ("40", [tuple(range(1, 41))]),
)
NOISES = (
    ("100 to 475", lambda r: r.uniform(100, 475)),
    ("lognormal", lambda r: math.exp(r.gauss(5, 0.7))),
    ("300 ± 30", lambda r: r.gauss(300, 30)),
)


def fit(tare, path, grid, values):
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join("abc"[:len(grid)]) + ",y\n")
        for cell, value in zip(itertools.product(*grid), values):
            file.write(",".join(map(str, cell)) + ",%.12g\n" % value)
    done = subprocess.run([tare, "fit", path, "-t", "y", "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tare", required=True)
    parser.add_argument("--tables", type=int, default=200)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, grid in GRIDS:
            for what, draw in NOISES:
                counts = {"law": 0, "weak": 0, "none": 0}
                is_middle = True
                for seed in range(args.tables):
                    source = random.Random(seed)
                    values = [draw(source) for _ in itertools.product(*grid)]
                    report = fit(os.path.abspath(args.tare), os.path.join(folder, "t.csv"), grid, values)
                    counts[report["strength"]] += 1
                    if report["strength"] == "none":
                        told = report["laws"][0]["terms"][0]["coefficient"]
                        is_middle = is_middle and abs(told / statistics.median(values) - 1) < 1e-6
                print("%-10s %3d cells  %-11s %d tables: law %d, weak %d, the middle %s"
                      % (name, math.prod(map(len, grid)), what, args.tables, counts["law"], counts["weak"],
                         "else" if is_middle else "not always"), flush=True)


if __name__ == "__main__":
    main()
