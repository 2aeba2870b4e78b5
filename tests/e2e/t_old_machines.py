#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Old kernels, without the calls that came after Linux 4.9, and small machines: what `tare` itself takes."""

import errno
import os
import re
import sys

from harness import (Skip, case, check, check_equal, check_recording, fixture, main, needs_exec, record_args,
                     tare_argv)

# What `tare` may have in memory while it records, docs/OLD_MACHINES.md says it.
MOST_KIB = 64 << 10


def on_old_kernel(box, argv, **more):
    needs_exec()
    done = box.run(fixture("e2e_old_kernel") + argv, **more)
    if done.code == 77:
        raise Skip("no seccomp filter can be set here")
    return done


def same_ledger(box, *program):
    done = on_old_kernel(box, tare_argv(*record_args(fixture(*program))))
    check_equal(done.code, 0, done)
    check_recording(box, done)


@case
def the_filter_is_there(box):
    ask = "import ctypes, os; print(ctypes.CDLL(None, use_errno=True).syscall(434, os.getpid(), 0), ctypes.get_errno())"
    check_equal(on_old_kernel(box, [sys.executable, "-c", ask]).out, "-1 %d\n" % errno.ENOSYS)


@case
def allocations(box):
    same_ledger(box, "e2e_alloc")


@case
def threads(box):
    same_ledger(box, "e2e_threads")


@case
def children_of_fork(box):
    for how in ("before", "after", "idle"):
        same_ledger(box, "e2e_fork", how)
        box.run(["rm", "-r", "rec.tare"])


@case
def a_chain_of_programs(box):
    same_ledger(box, "e2e_exec", "chain", "3")


@case
def a_child_of_vfork_has_no_log_of_its_own(box):
    """It has its parent's memory: what it does there must not close its parent's log."""
    done = on_old_kernel(box, tare_argv(*record_args(fixture("e2e_fork", "shared"))))
    check_equal(done.code, 0, done)
    logs = [name for name in os.listdir(box.path("rec.tare")) if re.fullmatch(r"\d+-\d+\.events", name)]
    check_equal(len(logs), 1, logs)
    check("of the parent" in box.tare("dump", "rec.tare", "--json").out, "what came behind the child is not there")


@case
def a_run_that_takes_too_long_is_ended(box):
    """Without pidfd_open, ends of processes are looked for."""
    args = ["sweep", "--sim", "h200", "-o", "t.db", "--grid", "a=1,2", "--timeout", "1s", "--", "sleep", "30"]
    done = on_old_kernel(box, tare_argv(*args), env={"TARE_TEST_GRACE_MS": "200"})
    check(done.code in (0, 1), done)


@case
def takes_little_memory_while_it_records(box):
    """Of many events, and of twenty processes at a time."""
    needs_exec()
    for program in (["e2e_tensor_storm", "60000"], ["e2e_children", "20"]):
        ask = "%s >program.out; grep VmHWM /proc/$PPID/status" % " ".join(fixture(*program))
        done = box.record(["/bin/sh", "-c", ask], options=["-f"], timeout=200)
        taken = int(re.search(r"VmHWM:\s*(\d+) kB", done.out).group(1))
        check(taken <= MOST_KIB, "%s: %d KiB" % (program[0], taken))


if __name__ == "__main__":
    main()
