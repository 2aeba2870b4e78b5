# SPDX-License-Identifier: Apache-2.0
"""categories.py TARE RECORDING TRUTH NAME: a recording of tests/e2e/python/categories.py beside what that says.

Only GPU 0. One line for each moment and category, and a row of the table last.
"""
import csv
import io
import json
import subprocess
import sys

SLACK = 16384  # bytes: some blocks of 512


def main(tare, recording, truth, name):
    with open(truth) as file:
        moments = [json.loads(line) for line in file]
    at = [word for moment in moments for word in ("--at", "phase:" + moment["mark"])]
    done = subprocess.run([tare, "report", recording, "--by", "category", "--csv"] + at, stdout=subprocess.PIPE,
                          check=True)
    found = {}
    for row in csv.DictReader(io.StringIO(done.stdout.decode())):
        if row["device"] == "0":
            found.setdefault(row["at"], {})[row["label"]] = int(row["bytes"])
    worst, good, total = 0.0, 0, 0
    for moment in moments:
        got = found.get("phase:" + moment["mark"], {})
        for category, wanted in moment.items():
            if category in ("mark", "pid"):
                continue
            off = abs(got.get(category, 0) - wanted)
            total += 1
            good += off <= max(0.01 * wanted, SLACK)
            worst = max(worst, off / wanted if wanted > SLACK else 0)
            print("%-12s %-16s %12d %12d" % (moment["mark"], category, wanted, got.get(category, 0)))
        print("%-12s %-16s %12s %12d" % (moment["mark"], "others", "", sum(got.values()) - sum(
            size for label, size in got.items() if label in moment)))
    print(json.dumps({"program": name, "verdict": "ok" if total and good == total else "DIFFERS",
                      "rows": "%d of %d figures within 1 %%; worst %.2f %%" % (good, total, 100 * worst)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
