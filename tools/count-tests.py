#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the tests of a meson testlog.json: prints "passed failed skipped".

A TAP test counts as many times as it has lines "ok" and "not ok"; any other counts once.
Failures and reasons for skipping go to stderr. Where TARE_CI is set, a skip that an install or an option ends is a
failure: its reason begins with "not installed: " or "not given: "."""

import json
import os
import re
import sys


def count(entry):
    stdout = entry.get("stdout", "")
    plan = re.search(r"^1\.\.(\d+)", stdout, re.M)
    passed = failed = skipped = 0
    for line in stdout.splitlines():
        if re.match(r"not ok\b", line):
            failed += 1
        elif re.match(r"ok\b.*# *SKIP\b", line, re.I):
            skipped += 1
        elif re.match(r"ok\b", line):
            passed += 1
    if plan and passed + failed + skipped == int(plan.group(1)) and int(plan.group(1)) > 0:
        bad = entry["result"] not in ("OK", "SKIP", "EXPECTEDFAIL")
        return passed, failed + (bad and failed == 0), skipped
    if entry["result"] == "SKIP":
        return 0, 0, 1
    # A plan that was not kept, such as after a timeout, is one failure more.
    bad = entry["result"] not in ("OK", "EXPECTEDFAIL")
    return (passed, failed + 1, skipped) if bad else (max(passed, 1), failed, skipped)


def reasons_of(entry):
    """Why cases of a test skipped: of a case in TAP, of a TAP test as a whole, of a script that ends with 77."""
    return re.findall(r"^(?:# skip:|1\.\.0 *# *SKIP|ok .* # SKIP|skipped:) *(\S.*)", entry.get("stdout", ""), re.M)


def is_avoidable(reason):
    return bool(os.environ.get("TARE_CI")) and re.match("not (installed|given): ", reason) is not None


def main():
    total = [0, 0, 0]
    with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
        for line in log:
            entry = json.loads(line)
            numbers = count(entry)
            reasons = list(dict.fromkeys(reasons_of(entry))) if numbers[2] else []
            avoidable = [reason for reason in reasons if is_avoidable(reason)]
            if avoidable:
                numbers = numbers[0], numbers[1] + len(avoidable), max(numbers[2] - len(avoidable), 0)
                print("--- %s: skipped, and need not: %s" % (entry["name"], "; ".join(avoidable)), file=sys.stderr)
            total = [a + b for a, b in zip(total, numbers)]
            if numbers[1] > len(avoidable):
                print("--- %s: %s" % (entry["name"], entry["result"]), file=sys.stderr)
                print((entry.get("stdout", "") + entry.get("stderr", ""))[-6000:], file=sys.stderr)
            elif numbers[2]:
                print("  skipped in %s: %s" % (entry["name"], "; ".join(reasons) or "no reason"),
                      file=sys.stderr)
    print(*total)


if __name__ == "__main__":
    main()
