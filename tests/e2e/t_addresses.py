#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A limit of addresses (ulimit -v): what the recorder maps, a program could no longer map."""

import resource

from harness import MIB, PYTHON, case, check, check_equal, check_says, main, needs_exec, tare_argv

# Takes addresses in steps until none are left, and says how many there were.
GREEDY = """
import mmap, sys
held = []
try:
    while True:
        held.append(mmap.mmap(-1, 1 << 20))
except (OSError, MemoryError):
    pass
sys.exit(0 if len(held) >= int(sys.argv[1]) else 9)
"""


def limited(box, mib, *argv):
    limit = mib * MIB
    return box.run(list(argv), timeout=60, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))


def recorded(box, mib, *argv):
    return limited(box, mib, *tare_argv("run", *argv))


def most(box, mib):
    """How many of these steps a plain program gets."""
    low, high = 0, mib
    while low < high:
        middle = (low + high + 1) // 2
        if limited(box, mib, PYTHON, "-c", GREEDY, str(middle)).code == 0:
            low = middle
        else:
            high = middle - 1
    return low


@case
def a_program_gets_what_it_would_get(box):
    """But for the library itself: its tables are part of it, and may be a tenth of a limit this small."""
    needs_exec()
    for mib in (100, 150, 400):
        wanted = str(most(box, mib) - 12)
        for options in ([], ["--host=sample"], ["--host=full"]):
            done = recorded(box, mib, *options, "-o", "rec-%d%s.tare" % (mib, "".join(options)), "--",
                            PYTHON, "-c", GREEDY, wanted)
            check_equal(done.code, 0, mib, options, done)


@case
def what_is_not_recorded_for_it_is_said(box):
    needs_exec()
    done = recorded(box, 150, "--host=full", "-o", "rec.tare", "--", PYTHON, "-c", "")
    check_equal(done.code, 0, done)
    check_says(done.err, "nothing was recorded", "ulimit -v", "raise the limit")
    check_says(box.tare("report", "rec.tare").out, "could not open a log", "ulimit -v")


@case
def a_wide_limit_changes_nothing(box):
    needs_exec()
    done = recorded(box, 2000, "--host=full", "-o", "rec.tare", "--", PYTHON, "-c", "held = bytearray(50 << 20)")
    check_equal(done.code, 0, done)
    check("nothing was recorded" not in done.err, done)


if __name__ == "__main__":
    main()
