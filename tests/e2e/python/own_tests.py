# SPDX-License-Identifier: Apache-2.0
"""Stands in for tests of PyTorch's: every outcome there is, and some that depend on who looks on.

own_tests.py is run by unittest; OWN_TESTS names a folder for what must outlast a run."""

import os
import subprocess
import sys
import unittest

RECORDED = "tare" in os.environ.get("LD_PRELOAD", "")


def times(what):
    """How often this was called for `what`, over all runs."""
    path = os.path.join(os.environ["OWN_TESTS"], what)
    with open(path, "ab") as file:
        file.write(b".")
    return os.path.getsize(path)


class TestSame(unittest.TestCase):
    def test_passes(self):
        print("noise: ok FAIL")

    def test_fails(self):
        self.fail("both ways")

    def test_has_an_error(self):
        raise KeyError("both ways")

    @unittest.skip("both ways")
    def test_is_skipped(self):
        pass

    @unittest.expectedFailure
    def test_fails_as_expected(self):
        self.fail("both ways")

    @unittest.expectedFailure
    def test_passes_against_expectation(self):
        pass

    def test_has_parts(self):
        for part in range(3):
            with self.subTest(part=part):
                self.assertNotEqual(part, 1)

    def test_is_the_main_module(self):
        self.assertEqual(__name__, "__main__")
        self.assertEqual(sys.argv, [os.path.abspath(__file__)])

    def test_forks(self):
        child = os.fork()
        if child == 0:
            try:
                self.fail("in the child")
            finally:
                os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class TestDiffers(unittest.TestCase):
    def test_fails_recorded(self):
        self.assertFalse(RECORDED)

    def test_has_another_error_recorded(self):
        raise (KeyError if RECORDED else ValueError)("recorded" if RECORDED else "plain")

    def test_is_as_the_one_above(self):
        pass


class TestFlaky(unittest.TestCase):
    def test_is_never_the_same(self):
        self.assertEqual(times("flaky") % 2, 0)

    def test_failed_once(self):
        self.assertFalse(RECORDED and times("once") == 1)


@unittest.skipUnless("OWN_SETUP" in os.environ, "only where asked for")
class TestSetUp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if RECORDED:
            raise OSError("no set-up")

    def test_needs_it(self):
        pass


class TestZ(unittest.TestCase):
    def test_ends_the_process(self):
        if "OWN_END" in os.environ and RECORDED:
            os._exit(3)

    def test_waits(self):
        if "OWN_WAIT" in os.environ:
            subprocess.run(["sleep", "1000"], check=False)


unittest.main()
