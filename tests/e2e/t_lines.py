#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare run --phase FILE:LINE: lines of a Python program as phases, with every Python that is here."""

import os
import sys

from harness import MIB, ROOT, Skip, case, check, check_equal, check_says, degraded, main, needs_exec
from phases import phases_of
from python_stacks import PYTHONS, VERSIONS, python_of, version_of

SCRIPT = os.path.join(ROOT, "tests", "e2e", "fixtures", "lines.py")


def lines(*wanted):
    return [word for line in wanted for word in ("--phase", "lines.py:" + line)]


def record(box, python, wanted, arguments=(), **more):
    return box.record([python, SCRIPT] + list(arguments), options=lines(*wanted), exit_code=7, **more)


def changes(rows):
    return {path: (rows[path]["count"], rows[path]["bytes"] // MIB) for path in rows[None]}


def check_version(box, version):
    needs_exec()
    python = python_of(version)
    done = record(box, python, ["19", "20", "26", "45", "48", "30", "36", "54"], ["hello"])
    check_equal(done.out, "hello\n")
    rows, report = phases_of(box)
    check_equal(degraded(report), [], version)
    check_equal(changes(rows), {
        "lines.py:19": (1, 2), "lines.py:20": (1, 6), "lines.py:45": (1, 20),
        "lines.py:45/lines.py:48": (1, 8), "lines.py:26": (1, 6), "lines.py:30": (1, 2),
        "lines.py:54": (1, 14), "lines.py:36": (1, 10)})
    check_equal({rows[path]["source"] for path in rows[None]}, {"line"})


def add_version(version):
    def one(box):
        check_version(box, version)
    one.__name__ = "python_%s" % version.replace(".", "_")
    case(one)


for name in VERSIONS + ["system"]:
    add_version(name)


@case
def a_block_of_lines(box):
    needs_exec()
    record(box, sys.executable, ["44-48"])
    rows, _ = phases_of(box)
    check_equal(changes(rows), {"lines.py:44-48": (1, 28)})


@case
def without_phase_no_interpreter_is_touched(box):
    needs_exec()
    box.record([sys.executable, SCRIPT, "hello"], exit_code=7)
    done = box.tare("report", "rec.tare", "--by", "phase")
    check_says(done.out, "no phase events")


@case
def what_is_never_reached_is_said(box):
    needs_exec()
    box.record([sys.executable, SCRIPT], exit_code=7,
               options=["--phase", "lines.py:59", "--phase", "nothing.py:3",
                        "--phase", "fixtures/lines.py:19", "--phase", SCRIPT + ":20"])
    rows, report = phases_of(box)
    check_equal(changes(rows), {"fixtures/lines.py:19": (1, 2), SCRIPT + ":20": (1, 6)})
    said = degraded(report)
    check_equal(len(said), 2, said)
    check_says(said[0], "--phase lines.py:59", "no recorded Python program came to that line", "first tensor")
    check("used a GPU" not in said[0], said)
    check_says(said[1], "--phase nothing.py:3")


@case
def a_program_that_traces_itself_is_left_alone(box):
    """Where that is exclusive: sys.monitoring has places for several."""
    needs_exec()
    exclusive = [python for python in PYTHONS.values() if int(version_of(python).split(".")[1]) < 12]
    if not exclusive:
        raise Skip("there is no Python before 3.12 here")
    python = exclusive[0]
    box.record([python, "-c", "import sys; sys.settrace(lambda *_: None); "
                "sys.argv[1:] = []; exec(compile(open(%r).read(), %r, 'exec'))" % (SCRIPT, SCRIPT)],
               exit_code=7, options=lines("19"))
    rows, report = phases_of(box)
    check_equal(rows[None], [])
    check(any("traces itself" in d for d in degraded(report)), degraded(report))


@case
def mistakes_on_the_command_line(box):
    for wanted, parts in (("train.py", ("FILE:LINE", "train.py:87")), (":5", ("FILE:LINE",)),
                          ("a.py:0", ("FILE:LINE",)), ("a.py:9-5", ("a.py:5-9",)),
                          ("a.py:5x", ("FILE:LINE",))):
        done = box.tare("run", "--phase", wanted, "--", "true")
        check_equal(done.code, 2, done)
        check_says(done.err, wanted, *parts)
    done = box.tare("run", "--phase", "a.py:1-5", "--phase", "a.py:3-9", "--", "true")
    check_equal(done.code, 2, done)
    check_says(done.err, "a.py:3-9", "a.py:1-5", "nest")


main()
