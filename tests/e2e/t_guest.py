#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Law 3: the guest is a guest. What a program can see of its process is the same with tare."""

import os

from harness import (SIMGPU, WRAPPER, Skip, case, check, check_equal, fixture, main, needs_exec)

# What tare must tell its children; everything else of the environment is the program's.
OURS = ("LD_PRELOAD", "LD_LIBRARY_PATH", "TARE_RECORDING", "TARE_LIBRARY", "TARE_PRELOAD", "TARE_SIM_DIR",
        "TARE_SIM_PROFILE", "TARE_SIM_WANTED", "TARE_FILTERS", "NVTX_INJECTION64_PATH")


# A weak reference that the dynamic linker bound to the recorder cannot be taken back, and the text of
# dlerror() names the object that looked (docs/IN_PROCESS.md).
def answers(done):
    return [line for line in done.out.splitlines()
            if not line.startswith("weak ") and "undefined symbol" not in line]


def lines(done, ours=OURS):
    kept = [line for line in done.out.splitlines()
            if not any(line.startswith("environment %s=" % name) for name in ours)]
    return sorted(kept) if WRAPPER else kept  # the emulator turns the environment round


@case
def process_looks_the_same(box):
    env = {"KEPT": "value with spaces = and signs", "EMPTY": "", "LANG": "C"}
    done = box.record(fixture("e2e_guest"), env=env)
    alone = box.run(fixture("e2e_guest"), sim=True, env=env)
    check_equal(alone.code, 0, alone)
    check_equal(lines(done), lines(alone))


@case
def order_of_the_environment_is_kept(box):
    needs_exec()
    env = {"ZEBRA": "1", "ALPHA": "2", "MIDDLE": "3"}
    done = box.record(fixture("e2e_guest"), env=env)
    names = [l.split(" ")[1].split("=")[0] for l in done.out.splitlines()
             if l.startswith("environment ")]
    own = [n for n in names if n in env]
    check_equal(own[:3], ["ZEBRA", "ALPHA", "MIDDLE"])


@case
def only_what_is_needed_is_added(box):
    done = box.record(fixture("e2e_guest"), env={"TARE_SIM_DIR": None})
    added = {l.split(" ")[1].split("=")[0] for l in done.out.splitlines()
             if l.startswith("environment ")} - set(box.environment())
    check(added <= set(OURS), "added: %s" % sorted(added))


@case
def stderr_is_the_programs(box):
    """Until it ends, nothing of ours is there; and then one line that begins with tare."""
    needs_exec()
    done = box.record(fixture("e2e_alloc"))
    for line in done.err.splitlines():
        check(line.startswith("tare: "), "not ours, not the program's: " + line)


@case
def nothing_is_left_in_the_folder(box):
    before = set(os.listdir(box.dir))
    box.record(fixture("e2e_alloc"))
    check_equal(set(os.listdir(box.dir)) - before, {"rec.tare"})


@case
def without_a_driver(box):
    """No libcuda on this machine: every way of asking for one answers as without tare."""
    done = box.record(fixture("e2e_nodriver"), sim=None)
    alone = box.run(fixture("e2e_nodriver"))
    if "dlopen: there" in alone.out:
        raise Skip("this machine has a driver")
    check_equal(answers(done), answers(alone))
    check_equal(done.code, alone.code)
    if not WRAPPER:
        check("nothing was recorded" in done.err, done)


@case
def with_a_driver_behind_dlopen(box):
    done = box.record(fixture("e2e_nodriver"))
    alone = box.run(fixture("e2e_nodriver"), sim=True)
    check("dlopen: there" in alone.out, alone)
    check_equal(answers(done), answers(alone))


@case
def with_a_driver_preloaded(box):
    """In the program's own scope: then the names are there, and must be."""
    env = {"LD_PRELOAD": os.path.join(SIMGPU, "libcuda.so.1")}
    done = box.record(fixture("e2e_nodriver"), env=env)
    alone = box.run(fixture("e2e_nodriver"), sim=True, env=env)
    check("RTLD_DEFAULT cuInit: there" in alone.out, alone)
    check_equal(answers(done), answers(alone))


@case
def program_that_needs_a_driver_and_has_none(box):
    done = box.record(fixture("e2e_alloc"), sim=None, exit_code=98)
    alone = box.run(fixture("e2e_alloc"))
    check_equal((done.code, done.out), (alone.code, alone.out))


main()
