# SPDX-License-Identifier: Apache-2.0
"""compare_sim.py TARE REAL SIMULATED: the same program on both, row by row, within max(2 MiB, 2 %)."""
import json
import subprocess
import sys


def rows(tare, recording, at):
    text = subprocess.check_output([tare, "report", recording, "--at", at, "--json"])
    device = json.loads(text)["devices"][0]
    found = {"used": device["used_bytes"]}
    for account in device["accounts"]:
        if not account["path"].startswith("other"):
            found[account["path"].split("/", 1)[-1] if "/" in account["path"] else "process"] = account["bytes"]
    return found


def main():
    tare, real_path, sim_path = sys.argv[1:]
    bad = 0
    print("%-40s %12s %12s %9s" % ("real and simulated, MiB", "real", "simulated", ""))
    for at in ("peak", "end"):
        real, sim = rows(tare, real_path, at), rows(tare, sim_path, at)
        for key in sorted(set(real) | set(sim)):
            a, b = real.get(key, 0), sim.get(key, 0)
            good = abs(a - b) <= max(2 << 20, 0.02 * abs(a))
            bad += not good
            print("%-40s %12.1f %12.1f %9s" % (at + " " + key, a / 2**20, b / 2**20, "ok" if good else "DIFFERS"))
    return 1 if bad else 0


sys.exit(main())
