#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program on a simulated card reads back that a kernel would have computed: answers, and whose lines are told."""

import json

from harness import PYTHON, case, check, check_equal, check_says, fixture, main, needs_exec

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


# Copies so many bytes to the host, as PyTorch's item() does: in C code, without Python's lock, below a function of another file.
COPIER = """
import ctypes
cuda = ctypes.CDLL("libcudart.so.13")
cuda.cudaMalloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
cuda.cudaMemcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
memory = ctypes.c_void_p()
cuda.cudaMalloc(ctypes.byref(memory), 4096)
def read(kind, count=1):
    values = (kind * count)()
    assert cuda.cudaMemcpy(values, memory, ctypes.sizeof(values), 2) == 0
    return list(values)
"""
ASKER = """
from copier import ctypes, read
print(read(ctypes.c_int64), read(ctypes.c_int32), read(ctypes.c_int16), read(ctypes.c_int8))
print(read(ctypes.c_float), read(ctypes.c_double))
print(read(ctypes.c_int64, 3), read(ctypes.c_int32, 3), read(ctypes.c_int64, 4))
print(read(ctypes.c_float))
"""


def answers_at(box, *places, code=0):
    needs_exec()
    for name, text in (("copier.py", COPIER), ("asker.py", ASKER)):
        with open(box.path(name), "w", encoding="utf-8") as file:
            file.write(text)
    chosen = [word for place in places for word in ("--answer-at", place)]
    done = box.tare("record", "--sim", "h200", *chosen, "-f", "-o", box.path("run.tare"), "--", PYTHON, box.path("asker.py"))
    check_equal(done.code, code, done)
    return done


@case
def a_line_has_an_answer_of_its_own(box):
    got = answers_at(box, "asker.py:3=-7", "asker.py:4=0.5", box.path("asker.py") + ":5=3,4,-5").out.splitlines()
    check_equal(got, ["[-7] [-7] [-7] [-7]", "[0.5] [0.5]", "[3, 4, -5] [3, 4, -5] [3, 4, -5, 3]", "[0.0]"], got)
    sources = [row["source"] for row in json.loads(box.tare("report", box.path("run.tare"), "--json").out)["read_back"]]
    check(any("copier.py:" in source for source in sources), sources)  # it is told all the same: no kernel computed it


@case
def a_program_that_fails_by_a_value_is_told_the_way_out(box):
    answers_at(box)
    with open(box.path("asker.py"), "w", encoding="utf-8") as file:
        file.write("from copier import ctypes, read\nassert read(ctypes.c_int64) == [8]\n")
    run = ("--check-answers", "never", "--", PYTHON, box.path("asker.py"))
    check_says(box.tare("predict", *run).out, "exit code 1", "--answer-at FILE:LINE=NUMBER")
    done = box.tare("predict", "--answer-at", "asker.py:2=8", *run)
    check_equal(done.code, 0, done)
    check("--answer-at" not in done.out, done)


@case
def the_innermost_line_is_the_one_that_answers(box):
    got = answers_at(box, "asker.py:6=2.0", "copier.py:10=1").out.splitlines()
    check_equal(got[0], "[1] [1] [1] [1]", got)
    check(got[3] != "[2.0]", got)
    check_equal(answers_at(box, "sker.py:3=9").out.splitlines()[0], "[0] [0] [0] [0]")  # no name of its own ends so


@case
def an_answer_that_is_none_is_refused(box):
    for place in ("asker.py=1", "asker.py:3", "asker.py:x=1", ":3=1", "asker.py:3=", "asker.py:3=1,", "asker.py:3=one", "a;b:3=1"):
        check_says(answers_at(box, place, code=2).err, "--answer-at %s: it takes FILE:LINE=NUMBER" % place)
        check_says(box.tare("predict", "--answer-at", place, "--", "true").err, "it takes FILE:LINE=NUMBER")
    done = box.tare("record", "--answer-at", "a.py:3=1", "--", "true")
    check_equal(done.code, 2, done)
    check_says(done.err, "give --sim, too")


if __name__ == "__main__":
    main()
