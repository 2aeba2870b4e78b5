#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What would make it less, as a user sees it."""

from harness import case, check, check_equal, check_says, fixture, main

MIB = 1 << 20


def advice(report):
    return {a["advice"]: a for a in report["advice"]}


@case
def names_the_kernel_with_the_large_stack(box):
    done = box.tare("run", "--sim", "h200", "-o", "rec.tare", "--", *fixture("e2e_stack"))
    text = " ".join(box.tare("report", box.path("rec.tare")).out.split())
    check_says(text, "what would make it less", "7,392.0 computed", "kernel math::deep<…> needs 32.0 KiB",
               "the next kernel needs 4.0 KiB")
    check_says(" ".join(done.err.split()), "kernel math::deep<…>")  # at the end of a run too
    found = advice(box.report())["stack"]
    check_equal(found["saves_bytes"], 7392 * MIB)
    check_equal((found["known"], found["account"], found["device"]), ("computed", "local", 0))


@case
def says_what_a_second_context_costs(box):
    box.record(fixture("e2e_modules"))
    found = advice(box.report())["contexts"]
    check_says(found["finding"], "e2e_modules", "2 contexts")
    check_says(found["less"], "cuDevicePrimaryCtxRetain")
    check(500 * MIB < found["saves_bytes"] < 600 * MIB, found)


@case
def says_nothing_where_nothing_can_be_done(box):
    box.record(fixture("e2e_streams"))
    text = box.tare("report", "rec.tare").out
    check("streams and events" in text and "what would make it less" not in text, text)
    check_equal(box.report()["advice"], [])


main()
