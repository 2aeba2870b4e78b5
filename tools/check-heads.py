#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each C file says in a comment below its licence what it is for.

    tools/check-heads.py [--write]

The files that do not yet are in tools/heads.txt, which only gets shorter: a file that is in it and has a head is a mistake,
and so is one that is gone. --write takes both out of it."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "tools", "heads.txt")
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
    bare = {name for name in names if not has_head(name)}
    with open(TABLE, encoding="utf-8") as file:
        text = file.read().splitlines()
    known = {line for line in text if line and not line.startswith("#")}
    if "--write" in sys.argv[1:]:
        with open(TABLE, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in text if line.startswith("#") or line in bare)
        return 0
    for name in sorted(bare - known):
        print("%s: no comment below the licence says what the file is for" % name)
    for name in sorted(known - bare):
        print("tools/heads.txt: %s has a head, or is gone; tools/check-heads.py --write" % name)
    if len(names) < 500:
        print("only %d files looked at" % len(names))
    return bare != known or len(names) < 500


if __name__ == "__main__":
    sys.exit(main())
