#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""At how many instants of a recording, spread over the time in which it had memory, something is unexplained.

    instants.py TARE REC COUNT        prints one line
"""

import json
import subprocess
import sys


def report(tare, rec, instants):
    at = [word for t in instants for word in ("--at", t)]
    r = json.loads(subprocess.run([tare, "report", rec, "--json"] + at, stdout=subprocess.PIPE, check=True).stdout)
    return [r] + r.get("also", [])


def main():
    tare, rec, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    end = report(tare, rec, ["end"])[0]["devices"][0]["t_ns"] / 1e9
    # what comes before the first third is the start of the driver
    instants = ["%dus" % (1e6 * end * (1 + 2 * i / count) / 3) for i in range(1, count)]
    off = [abs(device["unexplained_bytes"]) for one in report(tare, rec, instants) for device in one["devices"]]
    print("unexplained at %d of %d instants, most %.1f MiB" % (sum(map(bool, off)), len(off), max(off) / 2 ** 20))


if __name__ == "__main__":
    main()
