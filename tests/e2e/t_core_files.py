#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that dumps core leaves the core that it would have left without tare: none of the recorder's memory is in it."""

import glob
import os
import resource

from harness import BUILD, MIB, Skip, case, check, check_equal, fixture, main, needs_own_command

PATTERN = "/proc/sys/kernel/core_pattern"
SMALL = MIB  # the recorder's own code and data, and its stack of a call


def may_dump():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)


def core_of(box, name, whole, run):
    """Bytes of the core that a program leaves which `run` runs in a shell; `whole`: shared memory and files, too."""
    needs_own_command()
    with open(PATTERN, encoding="utf-8") as file:
        if not file.read().startswith("core"):
            raise Skip("cores go elsewhere here: " + PATTERN)
    if resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY:
        raise Skip("no core may be made here")
    script = 'echo %s > /proc/self/coredump_filter && exec "$@"' % ("0xff" if whole else "0x33")
    done = run(["/bin/sh", "-c", script, "sh"] + fixture("e2e_ends", "core"))
    cores = glob.glob(box.path("core*"))
    check_equal(len(cores), 1, "one core", name, cores, done)
    size = os.path.getsize(cores[0])
    os.unlink(cores[0])
    return size


def check_core(box, whole):
    # With the libraries of the simulated card in both: in a program on a real one they are not.
    loader = {"LD_PRELOAD": os.path.join(BUILD, "simgpu", "libs", "libtare_sim.so")}
    bare = core_of(box, "bare", whole, lambda argv: box.run(argv, sim=True, env=loader, preexec_fn=may_dump))
    recorded = core_of(box, "recorded", whole, lambda argv: box.record(
        argv, options=("-f",), exit_code=134, preexec_fn=may_dump))
    check(recorded <= bare + SMALL, "core of %d bytes, bare %d" % (recorded, bare))


@case
def core_is_as_small_as_bare(box):
    check_core(box, whole=False)


@case
def core_with_shared_memory_is_as_small_as_bare(box):
    check_core(box, whole=True)


main()
