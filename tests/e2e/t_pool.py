#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pool of PyTorch's allocator, taken apart."""

import json

from harness import MIB, WRAPPER, Skip, case, check, check_equal, compare, fixture, leaves, main

PARTS = {"tensors": "live_bytes", "cached": "cached_bytes", "partly": "stuck_bytes", "held": "held_bytes"}


def pool(box, at):
    done = box.tare("report", "rec.tare", "--by", "pool", "--at", at, "--json")
    check_equal(done.code, 0, done)
    return json.loads(done.out)


@case
def segments_sum_to_the_rows_at_every_instant(box):
    box.record(fixture("e2e_tensors"))
    for at in ("peak", "peak:tensors", "end"):
        report = pool(box, at)
        rows = {}
        for row in leaves(report["devices"][0]):
            if "/libc10_cuda/" in row["path"]:  # live tensors have a row for each category
                key = row["path"].split("/libc10_cuda/")[1].split("/")[0]
                rows[key] = rows.get(key, 0) + row["bytes"]
        for key, member in PARTS.items():
            check_equal(sum(r[member] for r in report["rows"]), rows.get(key, 0), at, key)
        check_equal(sum(s["bytes"] for s in report["segments"]), 42 * MIB, at)
        check_equal(sum(s["live_bytes"] for s in report["segments"]), rows["tensors"], at)
        live = next(r for r in report["devices"][0]["accounts"] if r["path"].endswith("/libc10_cuda/tensors"))
        check_equal((live["bytes"], live["leaf"], live["evidence"]), (rows["tensors"], False, "exact"), at)


@case
def what_pins_a_segment_is_named(box):
    box.record(fixture("e2e_tensors"))
    stuck = [s for s in pool(box, "end")["segments"] if s["stuck_bytes"]]
    check_equal([(s["stuck_bytes"], s["pin_bytes"], s["blocks"]) for s in stuck],
                [(4 * MIB, 16 * MIB, 1), (2 * MIB - 512, 512, 1)])
    check(all(s["pin_age_ns"] > 0 for s in stuck), stuck)
    # At the fullest moment of tensors everything but 4 MiB and a part of the small segment was in use.
    full = pool(box, "peak:tensors")["segments"]
    check_equal(sum(s["live_bytes"] for s in full), 36 * MIB + 1536)


@case
def every_head_says_that_the_card_is_simulated(box):
    box.record(fixture("e2e_tensors"))
    seen = 0
    for by in (None, "line", "owner", "category", "tensor", "module", "pool", "stream", "graph"):
        head = box.tare("report", "rec.tare", *(("--by", by) if by else ())).out.partition("\n")[0]
        check("NVIDIA H200" not in head or "NVIDIA H200 (simulated)" in head, by, head)
        seen += "NVIDIA H200 (simulated)" in head
    check(seen >= 6, seen)
    check("It is of a simulated GPU" in " ".join(json.loads(box.tare("whatif", "rec.tare", "--json").out)["lacks"]))


@case
def a_program_without_tensors_is_told_so(box):
    box.record(fixture("e2e_tensors"), options=("--no-tensors",))
    done = box.tare("report", "rec.tare", "--by", "pool")
    check_equal(done.code, 0, done)
    check("holds no tensor events" in done.out, done)


@case
def figures_at_marked_instants_are_compared_to_the_byte(box):
    if WRAPPER:
        raise Skip("the script runs tare itself")
    right, wrong = (compare(box, "compare.py", "e2e_torch_pool", *how) for how in ((), ("wrong",)))
    check_equal(right["verdict"], "ok", right)
    check("7 of 7" in right["rows"], right)
    check_equal(wrong["verdict"], "DIFFERS", wrong)
    check("6 of 7" in wrong["rows"], wrong)


if __name__ == "__main__":
    main()
