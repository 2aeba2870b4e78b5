#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No file has more than 600 lines, but one whose first 30 lines say why: a comment "Longer than 600 lines: REASON".
What programs print (tests/golden) does not count. Files that wait to be split stand in tools/check-length.txt with the most that they may have until then.

    tools/check-length.py"""

import re
import subprocess
import sys

LIMIT, HEAD = 600, 30
KINDS = r"\.(c|h|cpp|def|py|sh|txt)$|meson\.build$|Makefile$"
REASON = re.compile(r"Longer than %d lines: \w+ \w+" % LIMIT)


def read_waiting():
    with open("tools/check-length.txt", encoding="utf-8") as file:
        rows = [line.split("#")[0].split() for line in file]
    return {row[0]: int(row[1]) for row in rows if row}


def mistake(count, most, has_reason):
    """What is wrong with a file of so many lines; most: what it may have until it is split, or None."""
    if count <= LIMIT and (has_reason or most):
        return "needs no reason and no row in tools/check-length.txt any more"
    if count <= LIMIT or has_reason or (most and count <= most):
        return None
    return "at most %d: split it by subject, or say in its head \"Longer than %d lines: …\"" % (most or LIMIT, LIMIT)


def main():
    names = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
    waiting, wrong, read = read_waiting(), 0, 0
    for name in names:
        if not re.search(KINDS, name) or name.startswith("tests/golden/"):
            continue
        try:
            with open(name, encoding="utf-8") as file:
                lines = file.read().split("\n")
        except FileNotFoundError:  # removed, not yet committed
            continue
        read += 1
        what = mistake(len(lines) - 1, waiting.pop(name, None), REASON.search("\n".join(lines[:HEAD])))
        if what:
            print("%s: %d lines, %s" % (name, len(lines) - 1, what))
            wrong += 1
    for name in waiting:
        print("tools/check-length.txt: there is no %s" % name)
        wrong += 1
    if read < 100:
        print("only %d files read" % read)
    return wrong > 0 or read < 100


sys.exit(main())
