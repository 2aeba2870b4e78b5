#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every hooked call with NULL and odd values in every parameter answers as without tare, or dies of the same."""

import os
import re

from harness import BUILD, ROOT, WRAPPER, case, check, check_equal, main

PROGRAM = os.path.join(BUILD, "tests", "gpu", "facts", "pointers")
KIND = "null" if WRAPPER else "odd"
MEASURED = os.path.join(ROOT, "tests", "data", "h200-null-pointers.txt")

# What the simulated driver answers otherwise, and on purpose.
SIMULATED = {
    # The driver leaves some value in what a failed call was to fill in: nobody may read it.
    "cuGreenCtxStreamCreate greenCtx": "result 201 wrote 0",
    # The driver dies of these; to die of a program's mistake tests nothing.
    "cuGetProcAddress symbol": "result 1 wrote 0",
    "cuGetProcAddress pfn": "result 1 wrote 0",
    "cuGetProcAddress_v2 symbol": "result 1 wrote 0",
    "cuGetProcAddress_v2 pfn": "result 1 wrote 0",
}


def pointers(*args):
    return WRAPPER + [PROGRAM] + list(args)


def check_same(got, wanted):
    differ = ["%s\n    alone: %s" % pair for pair in zip(got, wanted) if pair[0] != pair[1]]
    check(not differ and len(got) == len(wanted), "%d and %d lines" % (len(got), len(wanted)), *differ)


@case
def every_row_answers_the_same(box):
    alone = box.run(pointers(KIND), sim=True)
    check_equal(alone.code, 0, alone)
    check(len(alone.out.splitlines()) > 300, "hardly any calls", alone)
    done = box.record(pointers(KIND))
    check_same(done.out.splitlines(), alone.out.splitlines())


def answers(lines):
    """By call and parameter; errno is a matter of the driver's files on the machine."""
    split = [re.sub(r" NULL| errno \d+", "", line).split(" ", 2) for line in lines]
    return {" ".join(words[:2]): words[2] for words in split}


@case
def simulated_driver_takes_null_as_the_h200_does(box):
    with open(MEASURED) as lines:
        wanted = answers(line.rstrip("\n") for line in lines if not line.startswith("#"))
    done = box.run(pointers("null"), sim=True)
    got = answers(done.out.splitlines())
    differ = {call: answer for call, answer in got.items() if answer != wanted.get(call)}
    check_equal(sorted(got), sorted(wanted), done)
    check_equal(differ, SIMULATED, done)


@case
def end_of_a_capture_into_a_graph_takes_null(box):
    """NVIDIA's graphConditionalNodes does this for every body of a conditional node."""
    done = box.record(pointers("null", "cuStreamEndCapture"))
    check("cuStreamEndCapture phGraph NULL result 0 " in done.out, done)


@case
def smaller_card_dies_of_nothing_else(box):
    """What does not fit may be refused before the driver looks at anything."""
    alone = box.run(pointers(KIND), sim=True)
    done = box.record(pointers(KIND), options=("--vram", "20GiB"))
    check_same([line for line in done.out.splitlines() if " signal " in line],
               [line for line in alone.out.splitlines() if " signal " in line])


main()
