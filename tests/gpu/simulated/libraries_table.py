#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tests/gpu/libraries.sh recorded, as a Markdown table: libraries_table.py FOLDER"""
import importlib.util
import json
import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")


def tool():
    """tools/conv-table.py, which knows keys and tables."""
    spec = importlib.util.spec_from_file_location("conv_table", os.path.join(ROOT, "tools", "conv-table.py"))
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def common(one, other):
    both = one.keys() & other.keys()
    return "%d of %d" % (sum(one[key] == other[key] for key in both), len(both))


def main():
    folder = sys.argv[1]
    print("| what | figure |\n|---|---|")
    for name in ("libraries", "again"):
        try:
            with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
                said = json.load(file)
        except (OSError, ValueError):
            print("| %s | not recorded |" % name)
            continue
        print("| %s: card, cuDNN | %s, %s |" % (name, said["card"], said["cudnn"]))
        print("| convolutions asked, answered, refused, lost | %(asked)d, %(answered)d, %(refused)d, %(lost)d |" % said)
        print("| seconds | %.1f |" % (said["duration_ns"] / 1e9))
        for table in said["tables"]:
            print("| equal to the table of %(card)s, cuDNN %(cudnn)s | %(equal)d of %(known)d |" % table)
    table = tool()
    rows = {name: table.read_table(os.path.join(folder, name + ".conv")) for name in ("libraries", "again")
            if os.path.exists(os.path.join(folder, name + ".conv"))}
    if len(rows) == 2:
        print("| the same when asked again | %s |" % common(rows["libraries"], rows["again"]))
    answers = os.path.join(folder, "conv_answers.txt")
    if rows and os.path.exists(answers) and os.path.getsize(answers):
        print("| conv_answers.c says the same | %s |" % common(rows["libraries"], table.read_answers([answers])))
    solver = os.path.join(folder, "solver.txt")
    if os.path.exists(solver):
        with open(solver, encoding="utf-8") as file:
            lines = file.read().splitlines()
        print("| cuSOLVER's answers | %d, %d refused |" % (sum(" = " in line for line in lines), sum("refused" in line for line in lines)))


main()
