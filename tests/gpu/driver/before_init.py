#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a card had in use right before and right behind the first cuInit of a recording, and at its end, and who opened the driver's files first, but for NVML.

    before_init.py TARE REC NAME OPENS      prints one line, MiB; OPENS: what programs/who_opens.c wrote
"""

import json
import subprocess
import sys

MIB = 2.0 ** 20


def of(tare, *args):
    return subprocess.run((tare,) + args, stdout=subprocess.PIPE, check=True).stdout.decode()


def first_init(tare, rec):
    records = [json.loads(line) for line in of(tare, "dump", rec, "--json").splitlines()]
    names = {(r["log"], r["id"]): r["text"] for r in records if r.get("kind") == "string"}
    calls = [r for r in records if r.get("kind") == "event" and names.get((r["log"], r["api"])) == "cuInit"]
    return min(calls, key=lambda r: r["stamp"], default=None)


def first_open(opens):
    """Of the first open that is not NVML's (of tare, of the program), the libraries, the innermost first."""
    with open(opens, "a+", encoding="utf-8") as lines:
        lines.seek(0)
        for line in lines:
            if "libnvidia-ml" not in line.split()[3]:
                return " < ".join(line.split()[2:9])
    return "NVML only"


def mib(value):
    return "%.2f" % (value / MIB) if value is not None else "-"


def main():
    tare, rec, name, opens = sys.argv[1:5]
    init = first_init(tare, rec) or {}
    end = json.loads(of(tare, "report", rec, "--json", "--at", "end"))["devices"]
    end = end[0] if end else {}
    print("%-22s %14s %14s %10s %12s  %s" % (
        name, mib(init.get("before")), mib(init.get("after")), mib(end.get("used_bytes")), mib(end.get("unexplained_bytes")),
        first_open(opens)))


main()
