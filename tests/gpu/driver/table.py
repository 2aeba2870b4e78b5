# SPDX-License-Identifier: Apache-2.0
"""The table of driver.sh and driver2.sh, in Markdown: table.py ROWS.jsonl. Exit code 1 if a row failed."""

import json
import sys


def mib(values):
    return " + ".join("%.1f" % v for v in values) if values else "–"


def number(value, form):
    return "–" if value is None else form % value


def main():
    rows = [json.loads(line) for line in open(sys.argv[1])]
    print("| program | used at peak | unexplained | used at end | unexplained | weighing | rows, MiB at peak/end | verdict |")
    print("|---|---|---|---|---|---|---|---|")
    for r in rows:
        print("| %s | %s | %s | %s | %s | %s | %s | %s |" % (
            r["program"], mib(r.get("peak")), number(r.get("peak_off"), "%+.3f"), mib(r.get("end")),
            number(r.get("end_off"), "%+.3f"), number(r.get("weighing"), "%.2f %%"), r.get("rows", ""),
            r["verdict"]))
    failed = [r["program"] for r in rows if r["verdict"] not in ("ok", "skipped")]
    skipped = [r["program"] for r in rows if r["verdict"] == "skipped"]
    print("\n%d ok, %d failed%s, %d skipped. Sizes in MiB; bar: |unexplained| <= 2." % (
        len(rows) - len(failed) - len(skipped), len(failed),
        " (%s)" % ", ".join(failed) if failed else "", len(skipped)))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
