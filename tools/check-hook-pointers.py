#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No hook looks through a pointer of the program's by itself: only TARE_ANSWER and tare_peek do
(src/recorder/base/peek.h), which know what the driver said and what can be read.

What counts as such a pointer is every parameter of cuda_api.def that is one, by its name, in all files
of hooks; and `sets` of a row."""

import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = "src/recorder/cuda/cuda_api.def"
FOLDERS = ("src/recorder/cuda", "src/recorder/hooks", "src/recorder/vram")
HOOKS = re.compile(r"hook_##symbol|tare_hook_|limit_##symbol")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def rows(table):
    """Of what is hooked: number of the line, parameters, and `sets`."""
    for number, row in enumerate(table.splitlines(), 1):
        match = re.match(r"CU_API\((?:[^,]*,){4} (?!CALL)[^()]*\(([^()]*)\), \([^()]*\), (.*)\)$", row)
        if match:
            yield number, match.group(1), match.group(2)


def uses(names, code):
    """The names that a line reads through: `name->`, `name[`, `*name` that is no declaration. Writing an
    answer anew (`*name = …`) is done behind TARE_ANSWER."""
    for name in sorted(names):
        read_through = r"\b%s(->|\[)|(^|[(,=!&|?:<>+;{]|\breturn)\s*\(?\*\s*\(?%s\b\)?(?! = )" % (name, name)
        if re.search(read_through, code):
            yield name


def main():
    table = list(rows(read(TABLE)))
    names = {name for _, params, _ in table for name in re.findall(r"\*+\s*(\w+)", params)}
    mistakes = ["%s:%d: sets look through %s" % (TABLE, number, name)
                for number, _, sets in table for name in uses(names, sets)]
    files = [os.path.relpath(path, ROOT) for folder in FOLDERS
             for path in sorted(glob.glob(os.path.join(ROOT, folder, "*.[ch]")))]
    files = [path for path in files if HOOKS.search(read(path))]
    for path in files:
        for number, line in enumerate(read(path).splitlines(), 1):
            code = line.rstrip("\\").strip()
            if not code.startswith(("* ", "/*")):
                mistakes += ["%s:%d: looks through %s: %s" % (path, number, name, code) for name in uses(names, code)]
    if len(names) < 40 or len(files) < 7:
        mistakes.append("found %d pointers and %d files: the table or the hooks are no longer where this looks"
                        % (len(names), len(files)))
    print("\n".join(mistakes) or "no hook looks through a pointer by itself: %d names, %d files" % (len(names), len(files)))
    return bool(mistakes)


sys.exit(main())
