#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often tare fit's intervals hold beyond what was measured: on made-up sweeps, whose truth is known there.

    python3 tests/bench/fit_beyond.py --tare build/tare [--sweeps 200] [--seed 1]

A sweep is what a training takes, by two or three parameters of three or four values: weights and optimizer, activations of one or two
phases of which the greater counts, a context, rounding as allocators do, and up to 1 % of noise. Predicted are cells in which one
parameter, or two at once, are 2 or 4 times their greatest value, and less than the least. A line is: what is beyond, how many cells, how many of
them lie between low and high (9 of 10 should), the median and the 90 % error, how wide the intervals are in the middle, and in how many
sweeps the law has a falling term. Nothing of tare knows the generator. Measured sweeps: fit_holdout.py.
"""

import argparse
import csv
import io
import itertools
import os
import random
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MIB = 1 << 20
UNSEEN = "unseen phase"  # is the greatest in that cell, and in none that was measured: no law can know it


def law(random_, names):
    """What a cell takes, in bytes, as a function of its parameters."""
    context = random_.uniform(100, 600) * MIB
    weights = random_.choice((8, 12, 16)) * random_.uniform(4, 14)
    kept, other = random_.uniform(8, 60), random_.uniform(0, 80)
    scores = random_.choice((0, 0, 4))
    step = random_.choice((512, 2 * MIB))
    noise = random_.choice((0, 0.001, 0.01))

    def at(cell, is_measured=False):
        """Bytes, and which phase is the greatest."""
        b, h, s = cell["batch"], cell["width"], cell.get("seq", 64)
        sums = weights * h * h * 8
        forward = kept * b * s * h + scores * b * s * s * 8
        logits = other * b * s * 512
        need = context + sums + max(forward, logits)
        if is_measured:
            need *= 1 + random_.uniform(-noise, noise)
        return -(-int(need) // step) * step, forward >= logits

    return at


def grid(random_, names):
    values = {"batch": [1, 2, 4, 8, 16], "width": [128, 256, 512, 1024], "seq": [64, 128, 256, 512]}
    chosen = {}
    for name in names:
        first, count = random_.randrange(2), random_.choice((3, 3, 4))
        chosen[name] = values[name][first:first + count]
    return chosen


def cells_of(chosen):
    return [dict(zip(chosen, row)) for row in itertools.product(*chosen.values())]


def beyond(chosen):
    """(what, cell)."""
    middle = {name: values[len(values) // 2] for name, values in chosen.items()}
    for times in (2, 4):
        for name, values in chosen.items():
            yield "one, %d ×" % times, dict(middle, **{name: values[-1] * times})
        for one, other in itertools.combinations(chosen, 2):
            yield "two, %d ×" % times, dict(middle, **{one: chosen[one][-1] * times, other: chosen[other][-1] * times})
    for name, values in chosen.items():
        yield "less", dict(middle, **{name: values[0] / 2})
    for one, other in itertools.permutations(chosen, 2):
        yield "one more, one less", dict(middle, **{one: chosen[one][-1] * 2, other: chosen[other][0] / 2})


def write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def run(tare, folder, chosen, at):
    """[(what, truth, predicted, low, high)], and does a term fall?"""
    seen, asked = os.path.join(folder, "seen.csv"), os.path.join(folder, "asked.csv")
    write(seen, [dict(cell, need_bytes=at(cell, True)[0]) for cell in cells_of(chosen)])
    phases = {at(cell)[1] for cell in cells_of(chosen)}
    wanted = [(what if at(cell)[1] in phases else UNSEEN, cell) for what, cell in beyond(chosen)]
    write(asked, [cell for _, cell in wanted])
    ask = [tare, "fit", seen, "--target", "need_bytes", "--params", ",".join(chosen)]
    done = subprocess.run(ask + ["--predict", asked, "--csv"], capture_output=True, text=True, check=False)
    text = subprocess.run(ask, capture_output=True, text=True, check=False)
    if done.returncode or text.returncode:
        sys.exit(done.stderr + text.stderr)
    got = [(what, at(cell)[0]) + tuple(float(row[k]) for k in ("predicted", "low", "high"))
           for (what, cell), row in zip(wanted, csv.DictReader(io.StringIO(done.stdout)))]
    return got, "^-1" in text.stdout


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--tare", default=os.path.join(ROOT, "build", "tare"))
    ask.add_argument("--sweeps", type=int, default=200)
    ask.add_argument("--seed", type=int, default=1)
    args = ask.parse_args()
    by_kind, falling = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(args.sweeps):
            random_ = random.Random("%d %d" % (args.seed, i))
            names = random_.choice((["batch", "width"], ["batch", "width", "seq"]))
            got, falls = run(args.tare, folder, grid(random_, names), law(random_, names))
            falling += falls
            for what, *rest in got:
                by_kind.setdefault(what, []).append(rest)
    form = "%-20s %6s %14s %9s %9s %9s"
    print(form % ("beyond", "cells", "inside", "median", "p90", "± middle"))
    seen = [cell for what, cells in by_kind.items() if what != UNSEEN for cell in cells]
    for what, cells in sorted(by_kind.items()) + [("all but those", seen)]:
        wrong = sorted(abs(p / y - 1) * 100 for y, p, _, _ in cells)
        inside = sum(low <= y <= high for y, _, low, high in cells)
        wide = statistics.median((high - low) / 2 / y * 100 for y, _, low, high in cells)
        print(form % (what, len(cells), "%d (%.0f %%)" % (inside, 100 * inside / len(cells)), "%.2f %%" % statistics.median(wrong),
                      "%.2f %%" % wrong[int(0.9 * (len(wrong) - 1))], "%.1f %%" % wide))
    print("a falling term in %d of %d laws" % (falling, args.sweeps))


if __name__ == "__main__":
    main()
