#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a training run on a card in what was predicted, and on a smaller card where it was predicted to fit?

    pef.py predict TARE PYTHON ROWS.txt >PREDICTED.csv    without a GPU: what a simulated H100 says, of itself and of an H100 with so many GiB
    pef.py ask TARE PREDICTED.csv                         on an H100: a Markdown table

PREDICTED.csv: GiB, run, what PyTorch reserves at most in bytes, and, of the first four of each size, whether the run ends well on a card of
so many GiB. Asked are: each run with no more of PyTorch's allocator than was predicted (several at a time, for that limit is of a process),
and those four under `tare run --vram`, one after the other, for that counts all that the device has in use.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from capped import CAPPED    # pylint: disable=wrong-import-position

TRAIN = os.path.join(HERE, "train_one.py")
GIB = 1 << 30
AT_ONCE = 4
OF_A_SIZE = 4


def run(command):
    """The exit code, and what it printed last on stdout and stderr."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, (done.stdout.strip().splitlines() or [""])[-1], (done.stderr.strip().splitlines() or [""])[-1][:90]


def record(tare, python, words, *options):
    with tempfile.TemporaryDirectory() as folder:
        return run([tare, "record", *options, "-f", "-o", os.path.join(folder, "run.tare"), "--", python, TRAIN, *words])


def predict(tare, python, rows):
    print("gib,run,reserved,fits")
    counts = {}
    with open(rows, encoding="utf-8") as file:
        for line in file:
            if line.startswith("#"):
                continue
            gib, text = line.strip().split(" ", 1)
            code, said, why = record(tare, python, text.split(), "--sim", "h100")
            reserved = json.loads(said)["peak_reserved"] if code == 0 else ""
            if not reserved:
                print("pef: %s: %s" % (text, why), file=sys.stderr)
            counts[gib], fits = counts.get(gib, 0) + 1, ""
            if counts[gib] <= OF_A_SIZE:
                code, _, why = record(tare, python, text.split(), "--sim", "h100", "--vram", gib + "GiB")
                fits = "yes" if code == 0 else "no" if "memory" in why else why
            print("%s,%s,%s,%s" % (gib, text, reserved, fits), flush=True)


def capped(row):
    code, said, why = run([sys.executable, "-c", CAPPED, row["reserved"], TRAIN, *row["run"].split()])
    return json.loads(said)["peak_reserved"] if code == 0 else why


def ask(tare, path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    begin = time.time()
    # The largest first, so that what runs beside each other fits on the card.
    order = sorted(rows, key=lambda row: -int(row["reserved"]))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        came = dict(zip((row["run"] for row in order), pool.map(capped, order)))
    seconds, failed, wrong, asked = time.time() - begin, 0, 0, 0
    print("| run | predicted to reserve, MiB | capped at that | on a card of | predicted | it |\n|---|---|---|---|---|---|")
    for row in rows:
        gib, ended = row["gib"], came[row["run"]]
        failed += not isinstance(ended, int)
        fits, it = {"yes": "fits", "no": "runs out"}.get(row["fits"], ""), ""
        if fits:
            code, _, why = run([tare, "run", "--vram", gib + "GiB", "--", sys.executable, TRAIN, *row["run"].split()])
            it = "fits" if code == 0 else "runs out" if "memory" in why else why
            asked += 1
            wrong += it != fits
        print("| %s | %.1f | %s | %s GiB | %s | %s |" % (
            row["run"], int(row["reserved"]) / (1 << 20), "ran, reserved %.1f" % (ended / (1 << 20)) if isinstance(ended, int) else ended,
            gib, fits, it), flush=True)
    print("\n%d of %d failed when capped at the prediction: %.1f %%; of %d on a smaller card %d were otherwise than predicted. %.0f and %.0f s." % (
        failed, len(rows), 100 * failed / len(rows), asked, wrong, seconds, time.time() - begin - seconds))


if __name__ == "__main__":
    if sys.argv[1] == "predict":
        predict(*sys.argv[2:5])
    else:
        ask(*sys.argv[2:4])
