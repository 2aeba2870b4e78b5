# SPDX-License-Identifier: Apache-2.0
"""What the tests of phases share."""

import json

from harness import check, check_equal


def phases_of(box, rec="rec.tare", **more):
    """Rows of --by phase by path; the paths in order are under None."""
    done = box.tare("report", rec, "--by", "phase", "--json", **more)
    check_equal(done.code, 0, done)
    report = json.loads(done.out)
    rows = {row["path"]: row for row in report["rows"]}
    check_equal(len(rows), len(report["rows"]), "a path stands there twice", done.out)
    rows[None] = [row["path"] for row in report["rows"]]
    return rows, report


def check_rows(rows, printed):
    """Against the lines of the fixture; own part 0 of a mark is not known."""
    wanted = [line.split("\t") for line in printed.splitlines() if line.startswith("phase\t")]
    check(wanted, "the fixture expects nothing")
    for _, path, n, after, change, own, peak in wanted:
        check(path in rows, "no phase %s" % path, rows[None])
        row = rows[path]
        got = [row["count"], row["used_after_bytes"], row["bytes"],
               row["own_bytes"] or 0, row["peak_bytes"]]
        check_equal(got, [int(v) for v in (n, after, change, own, peak)], path, row)
