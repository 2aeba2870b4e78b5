#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings of programs that share blocks between streams (record_stream): how often is the replay exact, and how near is it?

    tests/bench/whatif_waits.py TARE [SEEDS]        about 10 s for 40 seeds

A second model of PyTorch's allocator does random courses; what it did is a snapshot, which says when each block was free again, and a
recording of it, which does not. Told are the recordings without a mismatch, and how far the peaks are from those of the snapshot.
"""

import json
import os
import pickle
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from caching_allocator import MIB, Allocator, course

COURSES = [("2 % shared", {}, {"shared": 0.02, "streams": (0, 9)}),
           ("10 %, three streams", {}, {"shared": 0.1, "streams": (0, 9, 77)}),
           ("30 % shared", {}, {"shared": 0.3, "streams": (0, 9)}),
           ("10 %, 600 MiB", {"capacity": 600 * MIB}, {"shared": 0.1, "streams": (0, 9)})]


def whatif(tare, path):
    """Mismatches, and the most reserved: as recorded, and with expandable segments."""
    done = subprocess.run([tare, "whatif", path, "--json", "--alloc-conf", "expandable_segments:True"], capture_output=True, check=False)
    if done.returncode not in (0, 3):  # 3: with these settings memory runs out
        sys.exit(done.stderr.decode())
    got = json.loads(done.stdout)
    return got["mismatches"], [case["peak_reserved_bytes"] for case in got["cases"]]


def one(tare, folder, seed, settings, what):
    a = Allocator(seed=seed, **settings)
    course(a, 1500, seed, **what)
    snapshot, recording = os.path.join(folder, "s.pickle"), os.path.join(folder, "s.tare")
    with open(snapshot, "wb") as out:
        pickle.dump(a.snapshot(), out)
    subprocess.run([tare, "import", snapshot, "-f", "-o", recording], capture_output=True, check=True)
    _, truth = whatif(tare, snapshot)
    mismatches, got = whatif(tare, recording)
    return mismatches == 0, [abs(g - t) / t for g, t in zip(got, truth)]


def main():
    tare, seeds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40
    with tempfile.TemporaryDirectory() as folder:
        for name, settings, what in COURSES:
            rows = [one(tare, folder, seed, settings, what) for seed in range(seeds)]
            mean = lambda at: 100 * sum(errors[at] for _, errors in rows) / seeds
            print(f"{name:22} exact {sum(exact for exact, _ in rows):3} of {seeds}   peak reserved off by {mean(0):.2f} %, "
                  f"with expandable segments {mean(1):.2f} %")


main()
