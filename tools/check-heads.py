#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each C file says in a comment below its licence what it is for."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEAD = re.compile(r"/\* SPDX-License-Identifier: [^\n]*\*/\n+/\*(.*?)\*/", re.S)
WORDS = 4  # of the shortest head that says anything


def has_head(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        found = HEAD.match(file.read())
    return bool(found) and len(re.findall(r"\w+", found.group(1))) >= WORDS


def main():
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "src/*.c", "simgpu/*.c"], capture_output=True, text=True,
                           check=True).stdout.split()
    names = [name for name in names if os.path.exists(os.path.join(ROOT, name))]
    bare = sorted(name for name in names if not has_head(name))
    for name in bare:
        print("%s: no comment below the licence says what the file is for" % name)
    if len(names) < 500:
        print("only %d files looked at" % len(names))
    return bool(bare) or len(names) < 500


if __name__ == "__main__":
    sys.exit(main())
