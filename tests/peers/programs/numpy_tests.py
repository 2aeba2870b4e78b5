#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NumPy's own tests of arrays, memory and linear algebra (which takes threads), by pytest in this process."""

import program

PARTS = ["numpy.core.tests.test_" + name for name in (
    "multiarray", "ufunc", "nditer", "indexing", "dtype", "mem_policy", "dlpack", "cpu_features", "array_coercion",
    "casting_unittests", "errstate", "longdouble")] + ["numpy.linalg", "numpy.fft", "numpy.tests.test_ctypeslib"]


class Outcomes:
    def __init__(self):
        self.told = {}

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            kind = report.outcome if not hasattr(report, "wasxfail") else "expected " + report.outcome
            self.told[report.nodeid] = kind


def tests(wanted):
    import pytest
    outcomes = Outcomes()
    code = pytest.main(["-q", "-p", "no:cacheprovider", "--disable-warnings", "--pyargs", "-m", "not slow"] + PARTS,
                       plugins=[outcomes])
    yield from outcomes.told.items()
    yield "exit", str(int(code))


program.run({"python3-numpy": "/usr/lib/python3/dist-packages/numpy/core/tests/test_multiarray.py",
             "python3-pytest": "/usr/lib/python3/dist-packages/pytest/__init__.py",
             "python3-hypothesis": "/usr/lib/python3/dist-packages/hypothesis/__init__.py"}, tests)
