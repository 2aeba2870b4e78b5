#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pool of PyTorch's allocator, by stream."""

import json

from harness import case, check_equal, fixture, main


def records(box, kind, rec="rec.tare"):
    done = box.tare("dump", rec, "--json")
    check_equal(done.code, 0, done)
    rows = [json.loads(line) for line in done.out.splitlines()]
    return [r for r in rows if r.get("kind") == kind]


@case
def one_stream_costs_nothing(box):
    box.record(fixture("e2e_torch_streams", "one"))
    check_equal(records(box, "stream"), [])
    check_equal([r["flags"] for r in records(box, "tensor")], ["on-default"])


@case
def a_stream_that_comes_back_is_told_once(box):
    box.record(fixture("e2e_torch_streams", "switch", "100"))
    check_equal(len(records(box, "stream")), 1)
    check_equal([r["flags"] for r in records(box, "tensor")][:4], ["on-default", "on-stream", "-", "-"])


if __name__ == "__main__":
    main()
