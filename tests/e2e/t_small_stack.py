#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hooks on threads with little stack: how deep they go, measured in painted stacks, beside the driver alone."""

from harness import case, check, check_equal, fixture, main

LIMIT = 4096


def depths(done):
    """{(place, call): bytes}"""
    lines = [line.split("\t") for line in done.out.splitlines()]
    return {(line[0], line[1]): int(line[2]) for line in lines if len(line) == 3}


@case
def no_hook_goes_deeper_than_it_may(box):
    """Less than 64 KiB are left, so nothing foreign is called: what goes deeper than the driver is ours."""
    alone = depths(box.run(fixture("e2e_small_stack"), sim=True))
    for stacks in ("both", "none"):
        done = box.record(fixture("e2e_small_stack"), rec=stacks + ".tare", options=("--stacks", stacks))
        recorded = depths(done)
        check_equal(sorted(recorded), sorted(alone), done)
        check(len(recorded) == 20, "not every call was measured", done)
        for key, size in sorted(recorded.items()):
            check(size - alone[key] <= LIMIT, "%s takes %d bytes, alone %d" % (key, size, alone[key]))


@case
def what_was_done_there_is_recorded(box):
    done = box.record(fixture("e2e_small_stack"))
    seen = [event["api"] for event in box.events()]
    for api in ("cuMemAlloc_v2", "cuGraphInstantiateWithFlags", "cuStreamEndCapture"):
        check(seen.count(api) == 2, "%s is recorded %d times" % (api, seen.count(api)), done)


main()
