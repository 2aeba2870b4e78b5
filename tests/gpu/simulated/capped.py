#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a program run on a real card with no more than a simulated one said that it reserves?

    capped.py PREDICTED.csv       PREDICTED.csv: lines "RUN,BYTES", a run as in tests/data/simulated_*.csv

Each run gets BYTES of PyTorch's allocator and no more, on a GPU. Prints a line a run: ran, or what ended it; then how many
failed, in percent: the probability that a prediction fails.
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CAPPED = """
import runpy, sys, torch
total = torch.cuda.get_device_properties(0).total_memory
torch.cuda.set_per_process_memory_fraction((int(sys.argv[1]) + 0.5) / total)
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def main():
    failed = count = 0
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            run, size = line.strip().rsplit(",", 1)
            words = run.split()
            script = ["programs.py", *words[1:]] if words[0] == "program" else ["train_one.py", *words]
            done = subprocess.run([sys.executable, "-c", CAPPED, size, os.path.join(HERE, script[0]), *script[1:]], check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            count += 1
            failed += done.returncode != 0
            last = (done.stderr.strip().splitlines() or [""])[-1][:100]
            print("%-50s %6.0f MiB  %s" % (run, int(size) / 2**20, "ran" if not done.returncode else last), flush=True)
    print("%d of %d failed: %.1f %%" % (failed, count, 100 * failed / count))


if __name__ == "__main__":
    main()
