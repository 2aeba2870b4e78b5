# SPDX-License-Identifier: Apache-2.0
"""compare.py TARE RECORDING TRUTH NAME [DEVICE]: a recording of tests/e2e/python/modules.py beside what that says.

DEVICE: 0 unless it is given; -: the CPU. Prints what differs by more than a block, and a row of the table last.
"""
import json
import subprocess
import sys

CATEGORIES = ("parameter", "buffer", "gradient", "optimizer", "activation")
SLACK = 4096  # bytes: some blocks of 512


def report(tare, recording, by, mark):
    done = subprocess.run([tare, "report", recording, "--by", by, "--json", "--at", "phase:" + mark],
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.decode())["rows"]


def main(tare, recording, truth, name, device="0"):
    device = None if device == "-" else int(device)
    with open(truth) as file:
        moments = [json.loads(line) for line in file]
    good = total = worst = 0
    are_sums = True
    for moment in moments:
        rows = [row for row in report(tare, recording, "module", moment["mark"]) if row["device"] == device]
        tensors = [row for row in report(tare, recording, "tensor", moment["mark"]) if row["device"] == device]
        are_sums &= sum(row["own_bytes"] for row in rows) == sum(row["bytes"] for row in tensors)
        found = {"" if not row["depth"] else row["module"]: row for row in rows if row["class"]}
        beside = moment["gradient_of_input"]  # which one module may have beside its own
        for path, wanted in moment["modules"].items():
            for category in CATEGORIES:
                got = found.get(path, {}).get("own_%s_bytes" % category, 0)
                if category == "parameter":  # before the first step nobody can tell that it is trained
                    got += found.get(path, {}).get("own_frozen_bytes", 0)
                off = abs(got - wanted.get(category, 0))
                if category == "gradient" and beside and abs(got - wanted.get(category, 0) - beside) <= SLACK:
                    off, beside = 0, 0
                if not got and not wanted.get(category, 0):
                    continue
                total += 1
                good += off <= SLACK
                worst = max(worst, off)
                if off > SLACK:
                    print("%-12s %-32s %-10s %12d %12d" % (moment["mark"], path or "(root)", category,
                                                           wanted.get(category, 0), got))
    print(json.dumps({"program": name, "verdict": "ok" if total and good == total and are_sums else "DIFFERS",
                      "rows": "%d of %d figures the same; worst %d bytes; sums %s"
                              % (good, total, worst, "equal" if are_sums else "DIFFER")}))


if __name__ == "__main__":
    main(*sys.argv[1:])
