#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who may read what Tare writes: recordings their owner only, whatever the umask; what a user asks for by name, the umask."""

import os

from harness import case, check_equal, fixture, main, needs_exec
from sweeps import cell, sweep

UMASKS = [0o000, 0o022, 0o077]


def under(mask):
    return {"preexec_fn": lambda: os.umask(mask)}


def modes(folder):
    """Of everything in it that is not as it should be."""
    wrong = {}
    for place, folders, files in os.walk(folder):
        for name in folders + files + ["."]:
            path = os.path.join(place, name)
            mode = os.stat(path).st_mode & 0o777
            if mode != (0o700 if os.path.isdir(path) else 0o600):
                wrong[path] = oct(mode)
    return wrong


@case
def recordings_are_private_whatever_the_umask(box):
    for mask in UMASKS:
        name = "r%o.tare" % mask
        box.record(fixture("e2e_alloc"), rec=name, **under(mask))
        check_equal(modes(box.path(name)), {}, "umask %o" % mask)


@case
def a_umask_that_takes_all_does_not_lock_tare_out(box):
    box.record(fixture("e2e_alloc"), **under(0o777))
    for name in ("recording.json", "control", "tare.events"):
        check_equal(os.stat(box.path("rec.tare", name)).st_mode & 0o777, 0o600, name)


@case
def sweeps_are_private_whatever_the_umask(box):
    needs_exec()
    for mask in UMASKS:
        name = "s%o.db" % mask
        sweep(box, "--grid", "n=1", db=name, command=cell("mib={n}"), **under(mask))
        check_equal(os.stat(box.path(name)).st_mode & 0o777, 0o600, "umask %o" % mask)
        check_equal(modes(box.path(name + ".d")), {}, "umask %o" % mask)


@case
def what_a_user_names_follows_the_umask(box):
    box.record(fixture("e2e_alloc"))
    for mask in UMASKS:
        name = "p%o.svg" % mask
        check_equal(box.tare("report", "rec.tare", "--svg", name, **under(mask)).code, 0)
        check_equal(os.stat(box.path(name)).st_mode & 0o777, 0o666 & ~mask, "umask %o" % mask)


@case
def the_program_has_the_umask_of_its_caller(box):
    for mask in UMASKS:
        done = box.record(["sh", "-c", "umask"], rec="u%o.tare" % mask, **under(mask))
        check_equal(int(done.out, 8), mask)


if __name__ == "__main__":
    main()
