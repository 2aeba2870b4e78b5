#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stacks of native programs: whole, without the functions of allocators, as a tree that can be read."""

import json
import os
import re

from harness import Skip, case, check, check_equal, fixture, main
from heaps import record

MIB = 1 << 20
UTF8 = {"LC_ALL": "C.UTF-8"}


def rows(box, by, rec="rec.tare"):
    return json.loads(box.tare("report", rec, "--by", by, "--at", "end", "--json").out)["rows"]


def function_of(frame):
    """Of "ask+0x12 in program", "program.cpp:12 in ask"."""
    found = re.match(r"(.+)\+0x[0-9a-f]+ in ", frame) or re.match(r".+:\d+ in (.+)", frame)
    return found.group(1) if found else frame


def functions_of(row):
    return [function_of(frame) for frame in row["label"].split(" < ")]


def record_fixture(box):
    if not os.path.exists(fixture("e2e_native_stacks")[0]):
        raise Skip("no compiler of C++")
    record(box, fixture("e2e_native_stacks"))


@case
def whole_stacks(box):
    """Callers of one function that asks are told apart, up to main; of what calls main there is nothing."""
    record_fixture(box)
    found = {tuple(functions_of(row)): row["bytes"] for row in rows(box, "stack") if row["bytes"] >= MIB}
    check_equal(found.get(("ask", "images", "main")), MIB, found)
    check_equal(found.get(("ask", "texts", "main")), 2 * MIB, found)
    check_equal({functions[-1] for functions in found}, {"main"}, found)
    lines = {}
    for row in rows(box, "line"):
        lines[function_of(row["label"])] = lines.get(function_of(row["label"]), 0) + row["bytes"]
    check_equal(lines["ask"], 3 * MIB, lines)


@case
def allocators_and_containers_own_nothing(box):
    record_fixture(box)
    for by in ("line", "stack"):
        found = {}
        for row in rows(box, by):
            name = functions_of(row)[0]
            found[name] = found.get(name, 0) + row["bytes"]
            check(not re.match(r"operator new|std::|__gnu_cxx|_Zn|_ZNSt", name), row)
        check_equal(found["grow"] // (4 * MIB), 1, found)
        check_equal(found["shop::Shelf<…>::fill"], 5 * MIB, found)


def tree_of(text):
    """(level, name, figure or None) of each row below the rule."""
    lines = text[text.index("──\n") + 3:].split("\n\n")[0].splitlines()
    found = []
    for line in lines:
        parts = re.match(r"( +)(.+?)(?:  +([\d,.]+)(?:  +\w+)?)?$", line)
        found.append((len(parts.group(1)) // 2, parts.group(2), parts.group(3)))
    return found


@case
def a_tree_on_any_screen_and_in_a_pipe(box):
    """Nothing is wider than the screen, and no name of a frame is cut."""
    record_fixture(box)
    report = ("report", "rec.tare", "--by", "stack", "--at", "end")
    for env in [UTF8] + [dict(UTF8, COLUMNS=str(width)) for width in (40, 60, 80, 120)]:
        text = box.tare(*report, env=env).out
        check("…" not in text[text.index("──\n"):].replace("<…>", ""), text)
        check(max(map(len, text.splitlines())) <= int(env.get("COLUMNS", "80")), text)
    tree = tree_of(box.tare(*report, env=UTF8).out)
    names = [(level, function_of(name), figure) for level, name, figure in tree]
    at = names.index((1, "ask", "3.0"))
    check_equal([names[at + i] for i in range(1, 5)],
                [(2, "texts", "2.0"), (3, "main", None), (2, "images", "1.0"), (3, "main", None)], tree)


@case
def sums_are_those_of_lines(box):
    record_fixture(box)
    check_equal(sum(row["bytes"] for row in rows(box, "stack")), sum(row["bytes"] for row in rows(box, "line")))


if __name__ == "__main__":
    main()
