#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a run of the tests comes to, which skips are failures in CI (tools/count-tests.py), and which tests have no threads."""

import json
import os
import sys

from harness import BUILD, ROOT, WRAPPER, Missing, Skip, case, check, check_equal, check_says, main

TAP = "1..3\nok 1 - a\n# skip: %s\nok 2 - b # SKIP %s\nok 3 - c\n"


def counted(box, stdout, ci=None, result="OK"):
    """The three numbers, and what is said of them."""
    with open(box.path("log.json"), "w", encoding="utf-8") as log:
        log.write(json.dumps({"name": "t", "result": result, "stdout": stdout}) + "\n")
    done = box.run([sys.executable, os.path.join(ROOT, "tools", "count-tests.py"), box.path("log.json")],
                   env={"TARE_CI": ci})
    check_equal(done.code, 0, done)
    return [int(word) for word in done.out.split()], done.err


@case
def a_skip_that_an_install_ends_fails_in_ci(box):
    for reason in (str(Missing("zsh")), "not given: a folder"):
        tap = TAP % (reason, reason)
        check_equal(counted(box, tap)[0], [2, 0, 1])
        numbers, said = counted(box, tap, ci="1")
        check_equal(numbers, [2, 1, 0])
        check_says(said, "t: skipped, and need not", reason)


@case
def a_skip_for_what_the_machine_is_stays_one(box):
    for reason in ("no pid namespaces here", "what is not installed: is elsewhere"):
        for ci in (None, "1"):
            numbers, said = counted(box, TAP % (reason, reason), ci)
            check_equal(numbers, [2, 0, 1])
            check_says(said, "skipped in t: " + reason)


@case
def of_each_way_to_skip(box):
    """A unit test, which has its reason in a comment only; a test as a whole; a script that ends with 77."""
    for stdout, result in (("1..1\n# skip: not installed: x\nok 1 - a # SKIP\n", "OK"),
                           ("1..0 # SKIP not installed: x\n", "SKIP"), ("skipped: not installed: x\n", "SKIP")):
        check_equal(counted(box, stdout, None, result)[0], [0, 0, 1])
        check_equal(counted(box, stdout, "1", result)[0], [0, 1, 0])


@case
def a_failure_shows_what_it_said(box):
    numbers, said = counted(box, "1..2\n# it is so\nnot ok 1 - a\nok 2 - b # SKIP not installed: x\n", "1", "FAIL")
    check_equal(numbers, [0, 2, 0])
    check_says(said, "it is so", "need not")
    check("1..2" in said)


@case
def tests_that_make_threads_are_left_to_the_thread_sanitizer(box):
    """Also one that is not built yet: of it nothing is known."""
    if WRAPPER:
        raise Skip("it reads programs of this machine")
    named = box.run([sys.executable, os.path.join(ROOT, "tools", "threaded-tests.py"), BUILD, "allowance", "wait", "bytes"])
    check_equal(named.code, 0, named)
    is_built = os.path.exists(os.path.join(BUILD, "tests", "unit", "t_bytes"))
    check_equal(sorted(named.out.split()), ["allowance"] + ([] if is_built else ["bytes"]) + ["wait"], named)


if __name__ == "__main__":
    main()
