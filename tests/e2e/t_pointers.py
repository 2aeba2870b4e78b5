#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every hooked call with NULL and odd values in every parameter answers as without tare, or dies of the same."""

import os

from harness import BUILD, WRAPPER, case, check, check_equal, main

PROGRAM = os.path.join(BUILD, "tests", "gpu", "facts", "pointers")
KIND = "null" if WRAPPER else "odd"


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
