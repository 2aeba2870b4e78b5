#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program on a simulated card reads back that a kernel would have computed: answers, and whose lines are told."""

import json

from harness import case, check, check_equal, check_says, fixture, main, needs_exec

READER = fixture("e2e_read_back")


def record(box, *args, answers=None, env=None):
    needs_exec()
    chosen = ("--answers", answers) if answers else ()
    done = box.tare("record", "--sim", "h200", *chosen, "-f", "-o", box.path("run.tare"), "--", *READER, *args, env=env)
    check_equal(done.code, 0, done)
    return done


def told(box):
    rows = json.loads(box.tare("report", box.path("run.tare"), "--json").out)["read_back"]
    return {row["source"].split("/")[-1].split(" in ")[1]: row["count"] for row in rows}


@case
def zeros_unless_told_otherwise(box):
    check_equal(record(box, "5", "2").out, "copied 3 4, 5 steps, 0, 0\n")
    check_equal(told(box), {"is_over": 5, "loss": 2})
    said = " ".join(box.tare("report", box.path("run.tare")).out.split())  # a line ends where the table does
    check_says(said, "values that no kernel computed were read back at", "in is_over (5 times)", "in loss (2 times)")


@case
def other_answers_decide(box):
    check_equal(record(box, "5", "2", answers="ones").out, "copied 3 4, 0 steps, 1, 1\n")
    check_equal(told(box), {"is_over": 1, "loss": 2})
    check_equal(record(box, "5", "1", answers="nan").out, "copied 3 4, 5 steps, nan\n")
    random = record(box, "0", "3", answers="random").out
    check_equal(record(box, "0", "3", answers="random").out, random)  # the same in each run
    check(len(set(random.split(",")[2:])) == 3, random)


@case
def a_million_reads_are_few_records(box):
    record(box, "0", "100000")
    check_equal(told(box), {"loss": 100000})
    lines = [line for line in box.tare("dump", box.path("run.tare")).out.splitlines() if "read_back" in line]
    check(2 <= len(lines) < 30, len(lines))


@case
def a_program_that_reads_back_what_it_copied_is_told_nothing(box):
    record(box, "0")
    check_equal(told(box), {})
    check("no kernel computed" not in box.tare("report", box.path("run.tare")).out, "a sentence without a reason")


@case
def a_loss_scale_finds_an_overflow_where_it_is_told_to(box):
    record(box, "0", "1", "scale", answers="overflow")
    rows = json.loads(box.tare("report", box.path("run.tare"), "--json").out)["read_back"]
    check_equal({row["source"].split(" in ")[1]: row["overflow"] for row in rows}, {"loss": False, "has_overflow": True})


@case
def the_environment_chooses_too(box):
    check_equal(record(box, "0", "1", env={"TARE_SIM_ANSWERS": "ones"}).out, "copied 3 4, 0 steps, 1\n")
    done = record(box, "0", "1", env={"TARE_SIM_ANSWERS": "twos"})
    check_equal(done.out, "copied 3 4, 0 steps, 0\n")
    check_says(done.err, "TARE_SIM_ANSWERS=twos is not known", "zeros, ones, random, nan, overflow")


@case
def mistakes(box):
    for args, words in ((("--answers", "ones"), ("--answers ones", "--sim")),
                        (("--sim", "h200", "--answers", "two"), ("--answers", "zeros", "overflow"))):
        done = box.tare("record", *args, "--", "true")
        check_equal(done.code, 2, done)
        check_says(done.err, *words)


if __name__ == "__main__":
    main()
