#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stacks of blocks that an allocator like PyTorch's hands out, against what Python itself says."""

import os

from harness import Skip, case, check, check_equal, main
from python_stacks import PYTHONS, SOME, asked, check_stacks, define, record, recorded

define(tensors=True)


@case
def a_block_taken_back_has_no_stack(box):
    box.tensors = True
    record(box, "system", "generated")
    taken_back = [event for event, _ in recorded(box) if event["bytes"] < 0]
    check_equal(len(taken_back), 1000)
    check_equal({(event["python"], event["stack"]) for event in taken_back}, {(0, 0)})


@case
def while_python_ends_there_is_no_stack(box):
    box.tensors = True
    tried = 0
    for version in PYTHONS:
        truth, done = record(box, version, "teardown", rec=version + ".tare")
        events = recorded(box, version + ".tare")
        check_stacks(truth, events)
        late = [frames for event, frames in events if event["bytes"] == SOME]
        check(len(late) <= 1 and late in ([], [None]), version, late, done)
        tried += len(late)
        os.unlink(box.path("truth"))
    if not tried:
        raise Skip("no Python here runs anything that late")


@case
def an_unknown_choice_is_none(box):
    """A variable that a newer Tare may have set."""
    box.tensors = True
    truth, done = record(box, "system", "signals", env={"TARE_STACKS": "everything"})
    blocks = [event for event, _ in recorded(box) if asked(event) in truth]
    check_equal([(event["python"] != 0, event["stack"]) for event in blocks], [(True, 0)] * 2, done)


@case
def stacks_can_be_chosen(box):
    """Unasked, a tensor has its lines and a call of the driver its native stack as well."""
    box.tensors = True
    for stacks, has_python, has_native in ((None, True, False), ("python", True, False), ("native", False, True),
                                           ("both", True, True), ("none", False, False)):
        rec = "%s.tare" % stacks
        truth, done = record(box, "system", "signals", rec=rec, options=["--stacks", stacks] if stacks else [])
        blocks = [event for event, _ in recorded(box, rec) if asked(event) in truth]
        check(len(blocks) == 2, done)
        check_equal({(event["python"] != 0, event["stack"] != 0) for event in blocks}, {(has_python, has_native)},
                    stacks)


main()
