#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/peers/torch_tests.py, which compares PyTorch's own tests with and without the recorder, on tests that
stand in for them: does it see every difference, and none where there is none?"""

import os
import sys

from harness import BUILD, ROOT, case, check, check_equal, check_says, main, needs_exec

SCRIPT = os.path.join(ROOT, "tests", "peers", "torch_tests.py")
TESTS = os.path.join(ROOT, "tests", "e2e", "python")


def compare(box, *modules, folder=TESTS, options=(), **env):
    needs_exec()
    env["OWN_TESTS"] = box.dir
    argv = [sys.executable, SCRIPT, os.path.join(BUILD, "tare"), folder]
    return box.run(argv + list(modules) + list(options), env=env)


def cells(done, module="own_tests"):
    """The row of the table: module, tests, same, different, flaky, outcomes."""
    rows = [line for line in done.out.splitlines() if line.startswith("| %s |" % module)]
    check_equal(len(rows), 1, done)
    return [cell.strip() for cell in rows[0].split("|")[1:-1]]


@case
def every_outcome_is_told(box):
    done = compare(box, "own_tests:TestSame,TestSetUp")
    check_equal(done.code, 0, done)
    check_equal(cells(done)[1:6], ["10", "10", "0", "0", "3 pass, 2 fail, 2 skip, 1 error, 1 expected failure, "
                                   "1 unexpected success"], done)
    check("different:" not in done.out and "flaky:" not in done.out, done)


@case
def differences_are_named(box):
    done = compare(box, "own_tests.py:TestSame,TestDiffers,!forks")
    check_equal(done.code, 1, done)
    check_equal(cells(done)[1:5], ["11", "9", "2", "0"], done)
    check_says(done.out,
               "different: own_tests __main__.TestDiffers.test_fails_recorded: "
               "plain pass / pass / pass; recorded fail / fail / fail\n",
               "test_has_another_error_recorded: plain error ValueError", "recorded error KeyError")
    check("test_is_as_the_one_above" not in done.out, done)


@case
def what_changes_by_itself_is_flaky(box):
    done = compare(box, "own_tests:TestFlaky")
    check_equal(done.code, 0, done)
    check_equal(cells(done)[1:5], ["2", "0", "0", "2"], done)
    check_says(done.out, "flaky: own_tests __main__.TestFlaky.test_failed_once: "
               "plain pass / pass / pass; recorded fail / pass / pass")


@case
def a_set_up_that_fails_is_a_difference(box):
    done = compare(box, "own_tests:TestSetUp", OWN_SETUP="1")
    check_equal(done.code, 1, done)
    check_says(done.out, "setUpClass (__main__.TestSetUp): plain not run", "recorded error OSError",
               "test_needs_it: plain pass / pass / pass; recorded not run")


@case
def a_process_that_ends_is_a_difference(box):
    done = compare(box, "own_tests:TestZ", OWN_END="1")
    check_equal(done.code, 1, done)
    check_says(done.out, "test_ends_the_process: plain pass / pass / pass; recorded took the process with it",
               "test_waits: plain pass / pass / pass; recorded not run")


@case
def a_run_has_its_time(box):
    done = compare(box, "own_tests:TestZ", options=["--seconds", "5"], OWN_WAIT="1")
    check_equal(done.code, 1, done)
    check_equal(cells(done)[1:5], ["2", "2", "0", "0"], done)
    check_says(done.out, "problem: own_tests: it took more than 5 s")


@case
def nothing_that_ran_is_no_success(box):
    done = compare(box, "own_tests:no_such_test")
    check_equal(done.code, 1, done)
    check_says(done.out, "problem: own_tests: no test ran")
    with open(box.path("broken.py"), "w", encoding="utf-8") as file:
        file.write("import no_module_has_this_name\n")
    done = compare(box, "broken", folder=box.dir)
    check_equal(done.code, 1, done)
    check_says(done.out, "problem: broken: no test ran", "no_module_has_this_name")


@case
def what_is_missing_is_said(box):
    done = compare(box, folder=box.path("none"))
    check_equal(done.code, 77, done)
    check_says(done.out, "SKIP", box.path("none"))
    done = compare(box, "no_such_module")
    check_equal(done.code, 2, done)
    check_says(done.err, TESTS, "no_such_module.py")


main()
