#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stacks of native programs: whole, without the functions of allocators, as a tree that can be read."""

import json
import os
import re
import shutil
import subprocess

from harness import (BUILD, ROOT, WRAPPER, Skip, case, check, check_equal, check_says, fixture, main, needs,
                     needs_cplusplus)
from heaps import function_of, record

MIB = 1 << 20
UTF8 = {"LC_ALL": "C.UTF-8"}
HAS_BACKTRACE = os.path.exists(os.path.join(BUILD, "libbacktrace_one.a"))


def rows(box, by, rec="rec.tare"):
    return json.loads(box.tare("report", rec, "--by", by, "--at", "end", "--json").out)["rows"]


def functions_of(row):
    return [function_of(frame) for frame in row["label"].split(" < ")]


def record_fixture(box):
    needs_cplusplus("e2e_native_stacks")
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
def a_program_whose_segments_lie_apart(box):
    if not os.path.exists(fixture("e2e_native_stacks_apart")[0]):
        raise Skip("no compiler of C++")
    record(box, fixture("e2e_native_stacks_apart"))
    found = {tuple(functions_of(row)): row["bytes"] for row in rows(box, "stack") if row["bytes"] >= MIB}
    check_equal(found.get(("ask", "images", "main")), MIB, found)
    check_equal(found.get(("ask", "texts", "main")), 2 * MIB, found)


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


SOURCE = os.path.join(ROOT, "tests", "e2e", "fixtures", "native_stacks.cpp")


def line_of(mark):
    with open(SOURCE, encoding="utf-8") as file:
        return next(nr for nr, text in enumerate(file, 1) if text.rstrip().endswith("/* LINE %s */" % mark))


def frames_of(*places):
    return " < ".join("native_stacks.cpp:%d in %s" % (line_of(mark), function) for mark, function in places)


def needs_lines():
    needs_cplusplus("e2e_native_stacks")
    needs(HAS_BACKTRACE, "libgcc-VERSION-dev")


def short_labels(box, rec="rec.tare"):
    """Stacks without folders, as --by stack prints them; and their bytes."""
    found = {}
    for row in rows(box, "stack", rec):
        label = re.sub(r"[^ ]*/(native_stacks\.cpp)", r"\1", row["label"])
        found[label] = found.get(label, 0) + row["bytes"]
    return found


WANTED = [
    ([("ask", "ask"), ("images", "images"), ("main_images", "main")], MIB),
    ([("ask", "ask"), ("texts", "texts"), ("main_texts", "main")], 2 * MIB),
    ([("inner", "inner"), ("middle", "middle"), ("inlined", "inlined"), ("main_inlined", "main")], 3 * MIB),
    ([("grow", "grow"), ("main_grow", "main")], 4 * MIB),
    ([("fill", "shop::Shelf<…>::fill"), ("main_fill", "main")], 5 * MIB),
]


def check_lines(box, rec="rec.tare"):
    found = short_labels(box, rec)
    for places, size in WANTED:
        check_equal(found.get(frames_of(*places)), size, frames_of(*places), found)


@case
def lines_and_inlined_functions(box):
    needs_lines()
    record_fixture(box)
    check_lines(box)
    row = next(row for row in rows(box, "line") if row["function"] == "grow" and row["bytes"] >= MIB)
    check_equal((os.path.basename(row["file"]), row["line"]), ("native_stacks.cpp", line_of("grow")), row)
    done = box.tare("report", "rec.tare", "--line", "native_stacks.cpp:%d" % line_of("grow"), "--parts", "--at", "end")
    check_says(done.out, "grow", "4.0")


def objcopy(*args):
    subprocess.run(["objcopy"] + list(args), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@case
def lines_that_lie_beside_the_program(box):
    """Packed; in a file that .gnu_debuglink names; and none where neither is."""
    needs_lines()
    if shutil.which("objcopy") is None or WRAPPER:
        raise Skip("no objcopy for these programs")
    program, whole = box.path("program"), box.path("whole")
    shutil.copy(fixture("e2e_native_stacks")[0], whole)
    shutil.copy(whole, program)
    record(box, [program])
    check_lines(box)
    objcopy("--compress-debug-sections=zlib", whole, program)
    check_lines(box)
    objcopy("--strip-debug", whole, program)
    check_equal([label for label in short_labels(box) if ".cpp:" in label], [])
    check_equal(json.loads(box.tare("report", "rec.tare", "--json").out)["notes"], [])
    for folder in (".debug", "."):
        os.makedirs(box.path(folder), exist_ok=True)
        debug = os.path.join(box.path(folder), "program.dbg")
        objcopy("--only-keep-debug", whole, debug)
        objcopy("--strip-debug", "--add-gnu-debuglink=" + debug, whole, program)
        check_lines(box)
        os.remove(debug)
        check_equal([label for label in short_labels(box) if ".cpp:" in label], [])


@case
def a_program_that_was_built_anew(box):
    """Its lines are not those of the recording: functions and offsets, and a note."""
    needs_lines()
    program = box.path("program")
    shutil.copy(fixture("e2e_native_stacks")[0], program)
    record(box, [program])
    check_lines(box)
    shutil.copy(fixture("e2e_plugins")[0], program)
    check_equal([label for label in short_labels(box) if ".cpp:" in label], [])
    check_says(" ".join(box.tare("report", "rec.tare").out.split()), "no lines of %s are known: there is another file now" % program)
    os.remove(program)
    check_equal([label for label in short_labels(box) if ".cpp:" in label], [])
    check_says(json.loads(box.tare("report", "rec.tare", "--json").out)["notes"][0], "there is no such file here, or none that may be opened")


@case
def sums_are_those_of_lines(box):
    record_fixture(box)
    check_equal(sum(row["bytes"] for row in rows(box, "stack")), sum(row["bytes"] for row in rows(box, "line")))


@case
def code_that_was_made_at_run_time(box):
    """Its function has the name that the program tells in /tmp/perf-PID.map, with file and line."""
    pid, = record(box, fixture("e2e_run_time_code", "jit"))
    os.unlink("/tmp/perf-%d.map" % pid)
    frames = [row["label"].split(" < ") for row in rows(box, "stack") if row["bytes"] >= MIB]
    check_equal([function_of(frame) for frame in frames[0]], ["ask", "grow", "by_jit", "main"], frames)
    check_equal(frames[0][1], "/home/me/leak.js:3 in grow")
    check_says(box.tare("report", "rec.tare", "--by", "stack", "--at", "end").out, "leak.js:3 in grow")


@case
def glib_asks_for_who_called_it(box):
    """By library, by line and by stack it is the program's own."""
    if WRAPPER:
        raise Skip("GLib is not there for the emulated machine")
    done = box.record(fixture("e2e_run_time_code", "glib"), sim=None, options=["--host=full"], exit_code=None)
    needs(done.code != 2, "libglib2.0-0")
    check_equal(done.code, 0, done)
    owners = {row["label"]: row["bytes"] for row in rows(box, "library") if row["bytes"] >= MIB}
    check_equal(list(owners), ["e2e_run_time_code"], owners)
    for by in ("line", "stack"):
        names = [functions_of(row)[0] for row in rows(box, by) if row["bytes"] >= MIB]
        check_equal(names, ["by_glib"], by)


if __name__ == "__main__":
    main()
