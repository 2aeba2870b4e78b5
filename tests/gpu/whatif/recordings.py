# SPDX-License-Identifier: Apache-2.0
"""Recordings replayed: is every address as PyTorch's allocator gave it, and is the most reserved what PyTorch says?

    recordings.py TARE FOLDER [PROGRAM…]     prints a table
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = ("resnet", "sequences", "mixed", "shared", "graphs")
SETTINGS = ("", "expandable_segments:True", "max_split_size_mb:128", "roundup_power2_divisions:4")


def record(tare, folder, name, settings):
    rec = os.path.join(folder, "recorded.tare")
    env = dict(os.environ, **({"PYTORCH_CUDA_ALLOC_CONF": settings} if settings else {}))
    done = subprocess.run([tare, "record", "-f", "-o", rec, "--", sys.executable, os.path.join(HERE, "work.py"), name], env=env,
                          stdout=subprocess.PIPE, check=True)
    said = subprocess.run([tare, "whatif", rec, "--json"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1]), json.loads(said.stdout)


def main(tare, folder, *names):
    names = names or NAMES
    print("| program | settings | events | mismatches | most reserved, PyTorch | replay |\n|---|---|---|---|---|---|")
    wrong = 0
    for name in names:
        for settings in SETTINGS:
            torch, replay = record(tare, folder, name, settings)
            wrong += replay["mismatches"] != 0 or replay["peak_reserved_bytes"] != torch["reserved"]
            print("| %s | %s | %d | %d | %d | %d |" % (name, settings or "none", replay["events"], replay["mismatches"],
                                                       torch["reserved"], replay["peak_reserved_bytes"]), flush=True)
    print("%d of %d wrong" % (wrong, len(names) * len(SETTINGS)))


main(*sys.argv[1:])
