#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a training run on a card in what was predicted, and on a smaller card where it was predicted to fit?

    pef.py predict TARE PYTHON ROWS.txt >PREDICTED.csv    without a GPU: what a simulated H100 says, of itself and of an H100 with so many GiB
    pef.py edge TARE PYTHON EDGES.txt >PREDICTED.csv      the same: the largest batch that fits on an H100 with so many GiB, and one more
    pef.py ask TARE PREDICTED.csv                         on an H100: a Markdown table

PREDICTED.csv: GiB, run, what PyTorch reserves at most in bytes, and, of the first four of each size, whether the run ends well on a card of
so many GiB; of an edge only whether it ends well. Asked are: each run with no more of PyTorch's allocator than was predicted (several at a
time, for that limit is of a process), and those of which it is predicted whether they end well under `tare run --vram`, one after the other,
for that counts all that the device has in use.
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
EDGES_AT_ONCE = 6
OF_A_SIZE = 4


def run(command):
    """The exit code, what it printed last on stdout, and why it failed: PyTorch's error, or what it printed last on stderr."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    errors = done.stderr.strip().splitlines() or [""]
    why = next((line for line in errors if "OutOfMemoryError" in line), errors[-1])
    return done.returncode, (done.stdout.strip().splitlines() or [""])[-1], why[:90]


def record(tare, python, words, *options):
    with tempfile.TemporaryDirectory() as folder:
        return run([tare, "record", "--quiet", *options, "-f", "-o", os.path.join(folder, "run.tare"), "--", python, TRAIN, *words])


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return [line.strip() for line in file if not line.startswith("#")]


def said_to_fit(tare, python, gib, text):
    """yes, no, or why it ended otherwise."""
    code, _, why = record(tare, python, text.split(), "--sim", "h100", "--vram", gib + "GiB")
    return "yes" if code == 0 else "no" if "OutOfMemoryError" in why else why


def edge(tare, python, line):
    """The two rows of an edge; where it lies outside of what it is looked for in, it is looked for further out."""
    gib, batches, text = line.split(" ", 2)

    def fits(batch):
        answer = said_to_fit(tare, python, gib, text.format(batch))
        if answer not in ("yes", "no"):
            sys.exit("pef: %s: %s" % (text.format(batch), answer))
        return answer == "yes"

    least, most = (int(end) for end in batches.split(".."))
    while fits(most):
        least, most = most, 2 * most - least
    while not fits(least):
        least, most = 2 * least - most, least
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if fits(middle) else (least, middle)
    return ["%s,%s,,%s" % (gib, text.format(batch), word) for batch, word in ((least, "yes"), (most, "no"))]


def edges(tare, python, rows):
    print("gib,run,reserved,fits")
    with ThreadPoolExecutor(EDGES_AT_ONCE) as pool:
        for two in pool.map(lambda line: edge(tare, python, line), lines_of(rows)):
            print(*two, sep="\n", flush=True)


def predict(tare, python, rows):
    print("gib,run,reserved,fits")
    counts = {}
    for line in lines_of(rows):
        gib, text = line.split(" ", 1)
        code, said, why = record(tare, python, text.split(), "--sim", "h100")
        reserved = json.loads(said)["peak_reserved"] if code == 0 else ""
        if not reserved:
            print("pef: %s: %s" % (text, why), file=sys.stderr)
        counts[gib] = counts.get(gib, 0) + 1
        fits = said_to_fit(tare, python, gib, text) if counts[gib] <= OF_A_SIZE else ""
        print("%s,%s,%s,%s" % (gib, text, reserved, fits), flush=True)


def capped(row):
    code, said, why = run([sys.executable, "-c", CAPPED, row["reserved"], TRAIN, *row["run"].split()])
    return json.loads(said)["peak_reserved"] if code == 0 else why


def ask_capped(rows):
    """What each run reserved with no more than that, in bytes, or why it ended."""
    # The largest first, so that what runs beside each other fits on the card.
    order = sorted((row for row in rows if row["reserved"]), key=lambda row: -int(row["reserved"]))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip((row["run"] for row in order), pool.map(capped, order)))


def ask(tare, path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    begin = time.time()
    came = ask_capped(rows)
    seconds, wrong, asked = time.time() - begin, 0, 0
    print("| run | predicted to reserve, MiB | capped at that | on a card of | predicted | it |\n|---|---|---|---|---|---|")
    for row in rows:
        gib, ended = row["gib"], came.get(row["run"], "")
        fits, it = {"yes": "fits", "no": "runs out"}.get(row["fits"], ""), ""
        if fits:
            code, _, why = record(tare, sys.executable, row["run"].split(), "--vram", gib + "GiB")
            it = "fits" if code == 0 else "runs out" if "OutOfMemoryError" in why else why
            asked += 1
            wrong += it != fits
        print("| %s | %s | %s | %s GiB | %s | %s |" % (
            row["run"], "%.1f" % (int(row["reserved"]) / (1 << 20)) if row["reserved"] else "",
            "ran, reserved %.1f" % (ended / (1 << 20)) if isinstance(ended, int) else ended, gib, fits, it), flush=True)
    failed = sum(not isinstance(ended, int) for ended in came.values())
    print("\n%d of %d failed when capped at the prediction; of %d on a smaller card %d were otherwise than predicted. %.0f and %.0f s." % (
        failed, len(came), asked, wrong, seconds, time.time() - begin - seconds))


if __name__ == "__main__":
    {"predict": predict, "edge": edges, "ask": ask}[sys.argv[1]](*sys.argv[2:])
