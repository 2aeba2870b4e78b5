#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that restrict their own system calls: a filter that kills finds none of ours."""

import os

from harness import (Skip, WRAPPER, case, check, check_equal, fixture, main, needs_exec, row_of, show)

ASKED = 1000001 + 1000002 + 200 * 1009


def run_both(box, *words, rec="rec.tare"):
    if WRAPPER:
        raise Skip("an emulator's own system calls would be filtered")
    alone = box.run(fixture("e2e_confined", *words), sim=True)
    done = box.record(fixture("e2e_confined", *words), rec=rec, exit_code=None)
    check_equal(done.code, alone.code if alone.code >= 0 else 128 - alone.code, done)
    check_equal(done.out, alone.out)
    return alone, done


@case
def filters_that_kill(box):
    """Installed by prctl, by syscall, for all threads, and strict mode."""
    for how in ("prctl", "syscall", "thread", "strict"):
        rec = how + ".tare"
        alone, _ = run_both(box, how, rec=rec)
        check_equal(alone.code, 5, how, alone)
        report = box.report(rec)
        asked = 1000001 if how == "strict" else ASKED
        if how == "thread" and not any("1 record given up" in d for d in report["degraded"]):
            asked += 1000003  # of a thread that began afterwards: it is there, or told as lost
        check_equal(row_of(report, "/allocations"), asked, how, show(report))
        said = "forbidden itself to read the time" if how == "strict" else "restricted its system calls"
        check(any(said in d for d in report["degraded"]), how, report["degraded"])


@case
def counter_that_may_not_be_read(box):
    """Every record has its time from it: the recording ends there, and the program goes on. (Nothing that is
    executed starts then: the dynamic linker reads it.)"""
    if os.uname().machine != "x86_64":
        raise Skip("only x86 can forbid it")
    alone, _ = run_both(box, "clock")
    check_equal(alone.code, 5, alone)
    report = box.report()
    check_equal(row_of(report, "/allocations"), 1000001, show(report))
    check(any("forbidden itself to read the time" in d for d in report["degraded"]), report["degraded"])


@case
def filters_that_are_not_there(box):
    """Asking the kernel what it knows of filters, and a filter that it refuses, change nothing."""
    for how in ("asked", "refused"):
        rec = how + ".tare"
        run_both(box, how, rec=rec)
        report = box.report(rec)
        check_equal(row_of(report, "/allocations"), ASKED, how, show(report))
        check_equal(report["degraded"], [], how)
        check_equal(report["devices"][0]["unexplained_bytes"], 0, how, show(report))


@case
def filters_that_nobody_sees(box):
    """Installed by the instruction itself: a program that allows what docs/IN_PROCESS.md lists is recorded as ever."""
    alone, _ = run_both(box, "instruction")
    check_equal(alone.code, 5, alone)
    report = box.report()
    check_equal(row_of(report, "/allocations"), ASKED + 1000003, show(report))
    check_equal(report["degraded"], [])
    check_equal(report["devices"][0]["unexplained_bytes"], 0, show(report))


@case
def filters_of_who_started_it(box):
    """They allow what a dynamic linker needs; the recorder needs no more."""
    needs_exec()
    for i, words in enumerate((fixture("e2e_idle"), ["/bin/echo", "idle"])):
        alone, _ = run_both(box, "exec", *words, rec="idle%d.tare" % i)
        check_equal((alone.code, alone.out), (0, "idle\n"), alone)


main()
