#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What NCCL takes, by communicator: made, collectives, messages, memory to be registered; and its ranges end."""

import json
import os

from harness import FIXTURES, Skip, case, check, check_equal, check_says, degraded, fixture, main
from phases import phases_of

MIB = 1 << 20
TAKEN = {
    "communicator 1": {"made": 196, "collectives": 288 + 4, "messages": 384},
    "communicator 2": {"made": 32, "collectives": 96 + 8},
    "communicator 3": {"made": 48},
    "messages": 60,          # in a group of two communicators
    "to be registered": 128,
    "collectives": 2,        # NCCL did not say which communicator
    "not told for what": 16,  # on a thread of NCCL's while two of the program's are in calls
}


def record_nccl(box, **more):
    done = box.record(fixture("e2e_nccl"), exit_code=None, **more)
    if done.code == 77:
        raise Skip("NVIDIA's nvtx3 headers were not there when this was built")
    check_equal(done.code, 0, done)
    return json.loads(box.tare("report", "rec.tare", "--at", "end", "--json").out)


def sums(value):
    return sum(map(sums, value.values())) if isinstance(value, dict) else value


def check_sum(report):
    bytes_of = [row["bytes"] for row in report["devices"][0]["accounts"] if row["path"].endswith("/libnccl_like")]
    check_equal(bytes_of, [sums(TAKEN) * MIB])
    check_equal(degraded(report), [])


@case
def rows_by_communicator(box):
    report = record_nccl(box)
    device = report["devices"][0]
    rows = {row["path"].split("/", 1)[1]: row for row in device["accounts"] if "/" in row["path"]}
    library = next(path for path in rows if path.endswith("/libnccl_like"))
    check_equal(rows[library]["bytes"], sums(TAKEN) * MIB)
    for name, taken in TAKEN.items():
        check_equal(rows[library + "/" + name]["bytes"], sums(taken) * MIB, name)
        for part, mib in taken.items() if isinstance(taken, dict) else ():
            check_equal(rows["%s/%s/%s" % (library, name, part)]["bytes"], mib * MIB, name, part)
    check_equal(len([path for path in rows if path.startswith(library + "/")]), len(TAKEN) + 6, rows)
    check_equal(device["unexplained_bytes"], 0)
    check_equal(degraded(report), [])
    own = [row for path, row in rows.items() if path.endswith("/e2e_nccl")]
    check_equal([row["bytes"] for row in own], [30 * MIB], "the program's own is not NCCL's")


@case
def the_library_is_one_for_whoever_sums(box):
    record_nccl(box)
    for by, name in (("owner", "NCCL"), ("library", "libnccl_like")):
        said = json.loads(box.tare("report", "rec.tare", "--at", "end", "--by", by, "--json").out)
        check_equal([row["bytes"] for row in said["rows"] if row["label"] == name], [sums(TAKEN) * MIB], by)
    said = json.loads(box.tare("report", "rec.tare", "--at", "end", "--by", "residue", "--json").out)
    check_equal([row["bytes"] for row in said["rows"] if row["residue"] == "nccl"], [sums(TAKEN) * MIB])


@case
def every_view_has_them(box):
    """As a table, with the sums in order; the rows below a library are in every format, so one of each kind is looked at."""
    record_nccl(box)
    text = box.tare("report", "rec.tare", "--at", "end").out
    for line in ("libnccl_like", "communicator 1", "made", "to be registered"):
        check_says(text, line)
    at = [text.index(name) for name in ("communicator 1", "communicator 2", "communicator 3", "not told for what")]
    check_equal(at, sorted(at))
    check_says(box.tare("report", "rec.tare", "--at", "end", "--csv").out, "libnccl_like/communicator 2/made")
    check_equal(box.tare("report", "rec.tare", "--html", "page.html").code, 0)
    with open(box.path("page.html")) as file:
        check_says(file.read(), "communicator 2")
    check_equal(box.tare("info", "rec.tare", "--check").code, 0)


@case
def fewer_channels_and_smaller_buffers_are_advised(box):
    """Of communicator 1, which took 196 MiB to be made, so 32 channels of messages; its collectives, 292, and the others are not by the law."""
    report = record_nccl(box)
    found = {a["advice"]: (a["saves_bytes"], a["count"]) for a in report["advice"] if a["advice"].startswith("nccl")}
    check_equal(found, {"nccl-channels": ((3 * 24 * 2 + 384 * 24 // 32) * MIB, 1), "nccl-buffers": (32 * 2 * MIB, 1)})
    text = box.tare("report", "rec.tare", "--at", "end").out
    check_says(" ".join(text.split()), "NCCL has 1 communicator with buffers of more than 1 MiB. NCCL_BUFFSIZE=1048576")


@case
def ranges_that_end_with_a_payload_end(box):
    record_nccl(box)
    rows, _ = phases_of(box)
    check_equal([path for path in rows[None] if rows[path]["unclosed"]], [], rows[None])
    check_equal(rows["ncclCommInitRank"]["count"], 2)
    check_equal([rows["ncclCommInitRank"]["bytes"], rows["ncclCommSplit"]["bytes"]], [(196 + 32) * MIB, 48 * MIB])


@case
def another_tool_gets_payloads(box):
    """It gives all names one handle, so that calls are not told apart; what is taken in them is NCCL's all the same."""
    env = {"NVTX_INJECTION64_PATH": os.path.join(FIXTURES, "libe2e_nvtx_tool.so"), "NVTX_TOOL_OUT": box.path("alone")}
    alone = box.run(fixture("e2e_nccl"), sim=True, env=env)
    if alone.code == 77:
        raise Skip("NVIDIA's nvtx3 headers were not there when this was built")
    check_equal(alone.code, 0, alone)
    env["NVTX_TOOL_OUT"] = box.path("beside")
    check_sum(record_nccl(box, env=env))
    with open(box.path("alone")) as a, open(box.path("beside")) as b:
        said = a.read()
        check_equal(b.read(), said)
    check_equal([said.count("schema of "), said.count("pop with 1 of ")], [3, 4], said)
    env["NVTX_TOOL_REFUSES"] = "1"
    check_sum(record_nccl(box, env=env, options=["-f"]))
    check_says(box.tare("report", "rec.tare", "--at", "end").out, "communicator 1", "communicator 3: made")


main()
