#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""For each call of program.py: what the driver has in use and what Tare's row has, before it and after it.

    table.py TARE RECORDING ANSWERS      ANSWERS: what the program printed

Exit code 1 where what the driver gained or lost by a call is not what the ledger did, or where the books do not balance.
"""

import json
import subprocess
import sys

MIB = float(1 << 20)


def at(tare, rec, instant):
    done = subprocess.run([tare, "report", rec, "--by", "residue", "--at", instant, "--json"], stdout=subprocess.PIPE,
                          check=True)
    said = json.loads(done.stdout)
    rows, device = {}, said["devices"][0]
    for row in said["rows"]:
        if row["device"] == device["index"]:
            rows[row["residue"]] = rows.get(row["residue"], 0) + row["bytes"]
    if sum(rows.values()) + device["unexplained_bytes"] != device["used_bytes"]:
        raise SystemExit("the rows of %s do not sum to what is used" % instant)
    return rows, device


def main():
    tare, rec, answers = sys.argv[1:]
    with open(answers, encoding="utf-8") as file:
        steps = [json.loads(line) for line in file if line.startswith("{")]
    bad = 0
    print("%-18s %-13s %9s %9s | %9s %9s | %8s %8s" % ("call", "row", "row", "row", "driver", "driver", "ledger",
                                                        "unexpl."))
    print("%-18s %-13s %9s %9s | %9s %9s | %8s %8s" % ("", "", "before", "after", "before", "after", "change", "after"))
    for s in steps:
        if "step" not in s:
            print("%s, PyTorch %s, CUDA %s" % (s["name"], s["torch"], s["cuda"]))
            continue
        x, before = at(tare, rec, "phase:%s:begin" % s["step"])
        y, after = at(tare, rec, "phase:%s:end" % s["step"])
        ledger = after["used_bytes"] - before["used_bytes"]
        bad += abs(ledger - (s["after"] - s["before"])) > 2 * MIB
        print("%-18s %-13s %9.1f %9.1f | %9.1f %9.1f | %+8.1f %8.1f%s"
              % (s["step"], s["row"], x.get(s["row"], 0) / MIB, y.get(s["row"], 0) / MIB, s["before"] / MIB,
                 s["after"] / MIB, ledger / MIB, after["unexplained_bytes"] / MIB,
                 "   " + s["error"] if s["error"] else ""))
    if bad:
        print("DIFFERENT: %d calls changed the ledger by something else than the driver" % bad)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
