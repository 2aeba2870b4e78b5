#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many lines of code each view and each format takes, as a table in Markdown (docs/measurements/shape.md has one); which there
are is asked of the lists that the program itself is made of.

    tools/count-views.py

A line of code is one that is neither empty nor a comment alone. What several share stands in rows of its own: every file counts once.
"""

import glob
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# What a row is, the list of its names, and the files of a name.
LISTS = [
    ("a file for another program", "src/export/format.def", "TARE_EXPORT", ["src/export/{}.[ch]", "src/export/{}_*.[ch]"]),
    ("a table's format", "src/base/emit_format.def", "TARE_FORMAT", ["src/base/emit_{}.[ch]", "src/base/emit_{}_[!l]*.[ch]"]),
    ("a view, `--by`", "src/view/by.def", "TARE_BY", ["src/view/{}.[ch]", "src/view/{}_*.[ch]"]),
]
OTHER_NAMES = {"jsonl": "json_lines", "tensor": "tensors", "time": "timeline", "module": "module"}
REST = [
    ("shared", "all files for other programs", ["src/export/*.[ch]"]),
    ("shared", "all tables", ["src/base/emit*.[ch]"]),
    ("a view, `--by`", "those that are rows of the ledger", ["src/view/by*.[ch]", "src/view/ledger*.[ch]", "src/view/stack_tree.[ch]", "src/view/line_*.[ch]"]),
    ("a screen", "the page of a comparison, in the browser", ["web/src/compare*.ts"]),
    ("a screen", "the page of a recording, and what both share, in the browser", ["web/src/*.ts", "web/page.css", "web/page.html"]),
    ("a screen", "pages, in C", ["src/view/page*.[ch]", "src/cmd/*_page.[ch]"]),
    ("a screen", "pictures, `--svg`", ["src/view/picture*.[ch]", "src/view/svg.[ch]"]),
    ("a screen", "`tare top`", ["src/top/*.[ch]", "src/cmd/top.c"]),
    ("a screen", "`tare serve`", ["src/serve/*.[ch]", "src/cmd/serve.c"]),
    ("a screen", "`tare check`", ["src/cmd/check*.[ch]", "src/view/budget*.[ch]"]),
    ("a screen", "`tare diff`", ["src/cmd/diff*.[ch]", "src/view/diff*.[ch]"]),
    ("shared", "all else of `src/view`", ["src/view/*.[ch]"]),
]


def code(path):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^\s*(/\*.*?\*/|<!--.*?-->)\s*$", "", file.read(), flags=re.M | re.S)
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("//"))


def names_of(path, macro):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return re.findall(r'^%s\w*\(\w+,\s*"(\w+)"' % macro, file.read(), re.M)


def main():
    counted = set()

    def row(kind, name, patterns):
        files = {f for p in patterns for f in glob.glob(os.path.join(ROOT, p))} - counted
        counted.update(files)
        if files:
            print("| %s | %s | %d | %s |" % (kind, name, len(files), format(sum(map(code, files)), ",")))

    print("| kind | which | files | lines of code |\n|---|---|---|---|")
    for kind, path, macro, patterns in LISTS:
        for name in names_of(path, macro):
            row(kind, "`%s`" % name, [p.format(OTHER_NAMES.get(name, name)) for p in patterns])
    for kind, name, patterns in REST:
        row(kind, name, patterns)


main()
