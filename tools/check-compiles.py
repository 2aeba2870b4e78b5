#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No source file is compiled twice with the same flags: what several targets need is a static library, or taken out of
another target (extract_objects).

    tools/check-compiles.py BUILD_DIR"""

import json
import os
import re
import shlex
import sys

WITH_NEXT = ("-o", "-MQ", "-MF", "-MT")


def flags(row):
    """The words of a compile that decide what comes out: no names of outputs, no order of include folders."""
    kept, skip = [], False
    for word in shlex.split(row["command"]):
        if skip or word in WITH_NEXT:
            skip = not skip
        elif not re.match(r"-I.*\.p$", word):  # the private folder of a target
            kept.append(word)
    return tuple(sorted(kept))


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        rows = json.load(file)
    seen, twice = {}, 0
    for row in rows:
        first = seen.setdefault(flags(row), row["output"])
        if first != row["output"]:
            print("%s: compiled the same way for %s and for %s" % (row["file"], first, row["output"]))
            twice += 1
    if not seen:
        print("%s: no compiles found" % build)
    print("%d compiles, %d of them for the second time" % (len(rows), twice))
    return twice or not seen


sys.exit(bool(main()))
