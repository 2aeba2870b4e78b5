# SPDX-License-Identifier: Apache-2.0
"""Runs a file of unittest tests as `python FILE` does, and writes the outcome of each test.

    outcomes.py OUTCOMES FILE [PATTERN…]

Run are the tests whose name has a PATTERN in it, all without one, less those with a !PATTERN. A line of
OUTCOMES is JSON: {"began": ID}, {"ended": ID, "as": OUTCOME}. A test that began and did not end took the
process with it. A program of its own because the tests must not
see that of their caller: they are `__main__`, and children that they spawn run FILE again.
"""

import json
import os
import runpy
import sys
import unittest


class Outcomes(unittest.TextTestResult):
    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.outcome = "pass"

    def write(self, record):
        if os.getpid() == PID:  # a test may fork, and the child go on with what it should not
            os.write(OUT, json.dumps(record).encode() + b"\n")

    def startTest(self, test):
        self.outcome = "pass"
        self.write({"began": test.id()})
        super().startTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        self.write({"ended": test.id(), "as": self.outcome})

    def note(self, test, outcome):
        self.outcome = outcome
        if not isinstance(test, unittest.TestCase):  # set-up of a class or module: no test began
            self.write({"ended": test.id(), "as": outcome})

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, "error " + err[0].__name__)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, "fail")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skip")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.note(test, "expected failure")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.note(test, "unexpected success")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(test, "fail" if issubclass(err[0], test.failureException)
                      else "error " + err[0].__name__)


def chosen(case):
    ids = {name: ".".join((case.__module__, case.__qualname__, name)) for name in names_of(case)}
    return [name for name, test in ids.items()
            if any(p in test for p in WANTED) and not any(p in test for p in UNWANTED)]


PID = os.getpid()
OUT = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
WANTED = [pattern for pattern in sys.argv[3:] if pattern[0] != "!"] or [""]
UNWANTED = [pattern[1:] for pattern in sys.argv[3:] if pattern[0] == "!"]
unittest.TextTestRunner.resultclass = Outcomes
names_of = unittest.defaultTestLoader.getTestCaseNames
unittest.defaultTestLoader.getTestCaseNames = chosen
FILE = os.path.abspath(sys.argv[2])
sys.argv = [FILE]
sys.path[0] = os.path.dirname(FILE)
runpy.run_path(FILE, run_name="__main__")
