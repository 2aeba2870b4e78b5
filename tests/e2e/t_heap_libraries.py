#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whose memory of the host is, where libraries come and go (tare run --host)."""

import os

from harness import BUILD, Skip, case, check_equal, fixture, main
from heaps import heap_of, lines_of, record, total_of

A, B = (os.path.join(BUILD, "tests/e2e/e2e_plugin_%s.so" % which) for which in "ab")


def names(box, function):
    return sum(row["bytes"] for row in lines_of(box) if row["label"].startswith(function + "+"))


@case
def libraries_that_lie_where_others_were(box):
    """After dlclose the same addresses are another library's; and then the first one's again."""
    argv = fixture("e2e_plugins", A, "1000", B, "20000", A, "300000")
    if record(box, argv) != [1]:
        raise Skip("the libraries were not loaded at one place")
    device = heap_of(box.report())
    check_equal(total_of(device, "e2e_plugin_a"), (301000, 2))
    check_equal(total_of(device, "e2e_plugin_b"), (20000, 1))
    check_equal((names(box, "ask_a"), names(box, "ask_b")), (301000, 20000))
    box.tare("compact", "rec.tare")
    device = heap_of(box.report())
    check_equal(total_of(device, "e2e_plugin_a"), (301000, 2))
    check_equal((names(box, "ask_a"), names(box, "ask_b")), (301000, 20000))


if __name__ == "__main__":
    main()
