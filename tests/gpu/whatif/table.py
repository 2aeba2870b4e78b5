# SPDX-License-Identifier: Apache-2.0
"""Predicts by tare whatif, then runs, and prints both: table.py TARE OUTPUT_FOLDER [PROGRAM…]

Each program is run once under the usual settings with its history kept. What it would reserve under others, and whether it
would run out of 80 % of that, is asked before it is run so.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SETTINGS = ("", "expandable_segments:True", "max_split_size_mb:64", "roundup_power2_divisions:4",
            "max_split_size_mb:128,roundup_power2_divisions:8", "expandable_segments:True,roundup_power2_divisions:2")


def run(name, settings, *args):
    environment = dict(os.environ)
    for key in ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"):
        environment.pop(key, None)
    if settings:
        environment["PYTORCH_CUDA_ALLOC_CONF"] = settings
    done = subprocess.run([sys.executable, os.path.join(HERE, "work.py"), name, *args], env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.stderr.write(done.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def ask(tare, snapshot, settings, *more):
    options = ["--alloc-conf", settings] if settings else []
    done = subprocess.run([tare, "whatif", snapshot, *options, *more, "--json"], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.stderr.write(done.stderr)
        return None
    return json.loads(done.stdout)


def mib(size):
    return "%.1f" % (size / 2 ** 20)


def main(tare, out, *names):
    rows, wrong = [], 0
    for name in names or ("resnet", "sequences", "mixed"):
        snapshot = os.path.join(out, name + ".pickle")
        recorded = run(name, "", snapshot)
        if not recorded:
            rows.append((name, "", "does not run"))
            continue
        room = int(recorded["reserved"] * 0.8)
        fraction = repr(room / recorded["total"])
        for settings in SETTINGS:
            said = ask(tare, snapshot, settings)
            small = ask(tare, snapshot, settings, "--vram", "%dB" % room)
            got, got_small = run(name, settings), run(name, settings, "-", fraction)
            if not (said and small and got and got_small):
                rows.append((name, settings, "no answer"))
                wrong += 1
                continue
            predicted = said["peak_reserved_bytes"]
            off = 100 * (predicted - got["reserved"]) / got["reserved"]
            out_said = small["oom"] > 0
            wrong += abs(off) > 1 or out_said != got_small["ran_out"]
            rows.append((name, settings or "(as recorded)", str(said["mismatches"]), mib(predicted), mib(got["reserved"]), "%+.2f %%" % off,
                         "yes" if out_said else "no", "yes" if got_small["ran_out"] else "no"))
            print(*rows[-1], flush=True)
    print()
    rows.insert(0, ("program", "settings", "mismatches", "predicted", "measured", "difference", "runs out: said", "did"))
    widths = [max(len(row[i]) for row in rows if len(row) > i) for i in range(8)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    print("%d of %d differ by more than 1 %%, or in whether memory runs out" % (wrong, len(rows) - 1))


main(*sys.argv[1:])
