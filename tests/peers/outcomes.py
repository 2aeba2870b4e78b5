# SPDX-License-Identifier: Apache-2.0
"""Runs a file of unittest tests as `python FILE` does, and writes the outcome of each test.

    outcomes.py [--gpu] [--no-resources] OUTCOMES FILE [PATTERN…]

Run are the tests whose name has a PATTERN in it, all without one, less those with a !PATTERN. A line of
OUTCOMES is JSON: {"began": ID}, {"ended": ID, "as": OUTCOME}. A test that began and did not end took the
process with it. --gpu: the process has allocated memory of the GPU before, so that the recorder is at
work in it; --no-resources: CPython's own tests leave out what needs the network, or much of the machine.
A program of its own because the tests must not
see that of their caller: they are `__main__`, and children that they spawn run FILE again.
"""

import ctypes
import os
import runpy
import sys
import unittest

import tell


class Outcomes(unittest.TextTestResult):
    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.outcome = "pass"

    def write(self, record):
        if os.getpid() == PID:  # a test may fork, and the child go on with what it should not
            tell.write(OUT, record)

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


def use_gpu():
    cuda = ctypes.CDLL("libcuda.so.1")
    context, at = ctypes.c_void_p(), ctypes.c_uint64()
    for result in (cuda.cuInit(0), cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
                   cuda.cuCtxSetCurrent(context), cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(1 << 20))):
        if result:
            raise OSError("the driver answers %d" % result)


def use_no_resources():
    import test.support  # CPython's
    test.support.use_resources = []


PREPARATIONS = {"--gpu": use_gpu, "--no-resources": use_no_resources}
while sys.argv[1] in PREPARATIONS:
    PREPARATIONS[sys.argv.pop(1)]()
PID = os.getpid()
OUT = tell.open_outcomes(sys.argv[1])
WANTED = [pattern for pattern in sys.argv[3:] if pattern[0] != "!"] or [""]
UNWANTED = [pattern[1:] for pattern in sys.argv[3:] if pattern[0] == "!"]
unittest.TextTestRunner.resultclass = Outcomes
names_of = unittest.defaultTestLoader.getTestCaseNames
unittest.defaultTestLoader.getTestCaseNames = chosen
FILE = os.path.abspath(sys.argv[2])
sys.argv = [FILE]
sys.path[0] = os.path.dirname(FILE)
runpy.run_path(FILE, run_name="__main__")
