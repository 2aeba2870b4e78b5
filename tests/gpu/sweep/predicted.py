# SPDX-License-Identifier: Apache-2.0
"""predicted.py FOLDER NAME…: what tare fit said of cells beside what they needed when they ran.

FOLDER/NAME.predicted.csv is tare fit's answer, FOLDER/NAME.measured.db the sweep that came after it.
"""

import csv
import os
import sqlite3
import sys

MIB = 1 << 20


def measured(path):
    """What each cell needed at most: {((parameter, value), …): bytes}."""
    db = sqlite3.connect(path)
    out = {}
    for cell, need in db.execute("SELECT r.cell, MAX(d.need) FROM runs r JOIN devices d ON d.run = r.run"
                                 " WHERE r.status = 'ok' GROUP BY r.cell"):
        values = db.execute("SELECT p.name, c.number FROM cell_params c JOIN params p ON p.param = c.param"
                            " WHERE c.cell = ?", (cell,)).fetchall()
        out[tuple(sorted(values))] = need
    return out


def main(folder, *names):
    bad = 0
    print("| program | cell | predicted, MiB | interval | needed | off |\n|---|---|---|---|---|---|")
    for name in names:
        needs = measured(os.path.join(folder, name + ".measured.db"))
        for row in csv.DictReader(open(os.path.join(folder, name + ".predicted.csv"))):
            said = {k: float(row.pop(k)) for k in ("predicted", "low", "high")}
            key = tuple(sorted((k, float(v)) for k, v in row.items()))
            if key not in needs:
                print("| %s | %s | %.1f | | did not run | |" % (name, row, said["predicted"] / MIB))
                bad += 1
                continue
            need, inside = needs[key], said["low"] <= needs[key] <= said["high"]
            bad += not inside
            print("| %s | %s | %.1f | %.1f–%.1f | %.1f | %+.2f %%%s |" % (
                name, ", ".join("%s %g" % pair for pair in key), said["predicted"] / MIB, said["low"] / MIB,
                said["high"] / MIB, need / MIB, 100 * (said["predicted"] / need - 1),
                "" if inside else ", outside its interval"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
