#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Phases that programs mark with NVTX: version 3, beside another tool, and the old library."""

import os

from harness import BUILD, FIXTURES, Skip, case, check, check_equal, check_says, degraded, fixture, main
from phases import check_rows, phases_of

TOOL = os.path.join(FIXTURES, "libe2e_nvtx_tool.so")


def record_nvtx(box, *args, **more):
    done = box.record(fixture("e2e_nvtx", *args), exit_code=None, **more)
    if done.code == 77:
        raise Skip("NVIDIA's nvtx3 headers were not there when this was built")
    check_equal(done.code, 0, done)
    return done


def spoken(text):
    """What the fixture printed of NVTX's answers."""
    return [line for line in text.splitlines() if not line.startswith("phase\t")]


@case
def every_way_of_nvtx_3(box):
    done = record_nvtx(box)
    rows, report = phases_of(box)
    check_rows(rows, done.out)
    check_equal(degraded(report), [])
    check_equal({rows[path]["source"] for path in rows[None]}, {"nvtx"})
    check_equal([rows[path]["domain"] for path in ("mine", "mine/allreduce", "über")],
                [None, "NCCL", "wörter"])
    check_equal(rows["request"]["kind"], "range")
    check_equal(rows[""]["count"], 1)


@case
def pushes_answer_as_without_a_tool(box):
    recorded = record_nvtx(box)
    alone = box.run(fixture("e2e_nvtx"), sim=True)
    check_equal(alone.code, 0, alone)

    def pushes(done):
        return [line for line in spoken(done.out) if line.startswith(("push", "pop"))]
    check(pushes(alone))
    check_equal(pushes(recorded), pushes(alone))


@case
def texts_that_point_nowhere(box):
    """Without a tool NVTX looks at none of them."""
    record_nvtx(box, "nowhere")
    said = box.tare("report", "rec.tare", "--by", "phase", "--csv")
    check_says(said.out, ",end,")


@case
def another_tool_gets_every_call(box):
    env = {"NVTX_INJECTION64_PATH": TOOL, "NVTX_TOOL_OUT": box.path("alone")}
    alone = box.run(fixture("e2e_nvtx"), sim=True, env=env)
    if alone.code == 77:
        raise Skip("NVIDIA's nvtx3 headers were not there when this was built")
    env["NVTX_TOOL_OUT"] = box.path("beside")
    done = record_nvtx(box, env=env)
    check_equal(spoken(done.out), spoken(alone.out))
    with open(box.path("alone")) as a, open(box.path("beside")) as b:
        said = a.read()
        check_equal(b.read(), said)
    check_equal(said.count("initialize"), 2, "once in the program and once in its library", said)
    check("push outer n=1" in said and "end 4711" in said and "push 0x5000 in 0xd000" in said, said)
    rows, report = phases_of(box)
    check_rows(rows, done.out)
    check_equal(degraded(report), [])


@case
def a_tool_that_refuses_or_is_not_there_leaves_ours(box):
    for env in ({"NVTX_INJECTION64_PATH": TOOL, "NVTX_TOOL_OUT": box.path("out"),
                 "NVTX_TOOL_REFUSES": "1"},
                {"NVTX_INJECTION64_PATH": "/nowhere/libtool.so"}):
        done = record_nvtx(box, env=env, options=["-f"])
        rows, _ = phases_of(box)
        check_rows(rows, done.out)
    with open(box.path("out")) as f:
        check_equal(f.read(), "initialize\ninitialize\n")


@case
def without_the_preload_nvtx_is_left_alone(box):
    """NVTX would load the recorder by its variable alone; that must not do half of its work."""
    alone = box.run(fixture("e2e_nvtx"), sim=True)
    if alone.code == 77:
        raise Skip("NVIDIA's nvtx3 headers were not there when this was built")
    os.mkdir(box.path("rec.tare"))
    done = box.run(fixture("e2e_nvtx"), sim=True, env={
        "NVTX_INJECTION64_PATH": os.path.join(BUILD, "src", "recorder", "libtare_recorder.so"),
        "TARE_RECORDING": box.path("rec.tare")})
    check_equal((done.code, done.out), (0, alone.out))
    check_equal(os.listdir(box.path("rec.tare")), [])


@case
def the_old_library_linked_and_loaded(box):
    env = {"LD_LIBRARY_PATH": FIXTURES}
    for how in ("linked", "loaded"):
        done = box.record(fixture("e2e_nvtx_old", how), env=env, options=["-f"])
        rows, _ = phases_of(box)
        check_rows(rows, done.out)
        check_equal(spoken(done.out)[:2], ["push 40", "pop 40"])
    check_equal(spoken(done.out)[2], "unknown 0")


main()
