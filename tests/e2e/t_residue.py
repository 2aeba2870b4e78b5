#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What stays, and which call gives it back: the program that makes each call on a real card, on a simulated one."""

import json
import os
import subprocess

from harness import MIB, ROOT, WRAPPER, Skip, case, check, check_equal, check_says, fixture, main

VENV = subprocess.run([os.path.join(ROOT, "tools", "cuda-venv.sh"), "--path"], stdout=subprocess.PIPE, text=True,
                      check=True).stdout.strip()
PROGRAM = os.path.join(ROOT, "tests", "gpu", "residue", "program.py")

# By how much the row of each call must fall, in MiB: what the program took in that way.
GIVES_BACK = {"empty_cache": 190, "clear_workspaces": 33, "graph_reset": 48, "graph_trim": 128, "pool_trim": 128,
              "cublas_destroy": 64, "fft_clear": 7, "module_unload": 64, "managed_free": 256, "direct_free": 100,
              "vmm_sleep": 64, "nccl_destroy": 388}


def rows_of(box, instants):
    """For each instant: bytes by the kind of row, what is in use, which is their sum, and what is asleep."""
    ask = [word for instant in instants for word in ("--at", instant)]
    said = json.loads(box.tare("report", box.path("run.tare"), "--by", "residue", *ask, "--json").out)
    out = {}
    for at in [said] + said["also"]:
        device, rows = at["devices"][0], {}
        for row in at["rows"]:
            rows[row["residue"]] = rows.get(row["residue"], 0) + row["bytes"]
        check_equal((sum(rows.values()), device["unexplained_bytes"]), (device["used_bytes"], 0), at["at"])
        out[at["at"]["label"]] = rows, device["used_bytes"], device["asleep_bytes"]
    return out


@case
def each_call_gives_back_its_row(box):
    if WRAPPER:
        raise Skip("PyTorch is of this processor, not of the emulated one")
    if not os.path.exists(os.path.join(VENV, ".ready")):
        raise Skip("PyTorch's CUDA build is not there: tools/cuda-venv.sh makes %s" % VENV)
    done = box.tare("record", "--sim", "h100", "-o", box.path("run.tare"), "--", os.path.join(VENV, "bin", "python"),
                    PROGRAM, "rows", "--pinned-gib", "0.02", "--nodes", "500", timeout=120)
    check_equal(done.code, 0, done)
    steps = [json.loads(line) for line in done.out.splitlines() if line.startswith("{")]
    check_equal([step for step in steps[:-1] if step["error"]], [])
    asked = [step for step in steps if step.get("step") in GIVES_BACK]
    known = rows_of(box, ["phase:%s:%s" % (step["step"], end) for step in asked for end in ("begin", "end")])
    for step in asked:
        before, used_before, _ = known["phase:%s:begin" % step["step"]]
        after, used_after, asleep = known["phase:%s:end" % step["step"]]
        # A workspace is told from a tensor by a look through the program's objects; it may not have come yet.
        rows = ("workspace", "tensors") if step["row"] == "workspace" else (step["row"],)
        fell = sum(before.get(row, 0) - after.get(row, 0) for row in rows)
        check(fell >= GIVES_BACK[step["step"]] * MIB, step, fell)
        check_equal(used_after - used_before, step["after"] - step["before"], step)
        if step["step"] == "vmm_sleep":
            check_equal(asleep, 64 * MIB)
    said = json.loads(box.tare("diff", box.path("run.tare"), "--at", "peak:tensors", "--at", "phase:give_back:end",
                               "--residue", "--json").out)
    check_equal((said["by"], said["after"]["simulated"]), ("residue", True))
    calls = {row["label"]: row["call"] for row in said["rows"] if row["call"]}
    check_equal(calls["cached, can be given back"], "torch.cuda.empty_cache()")
    check_equal(sum(row["after_bytes"] for row in said["rows"]), said["totals"][0]["after_bytes"])


@case
def a_sentence_for_what_makes_no_sense(box):
    check_equal(box.record(fixture("e2e_alloc"), rec="a.tare").code, 0)
    rec = box.path("a.tare")
    for args, code, sentence in (((rec, rec, "--residue", "--by", "line"), 2, "--residue and --by line exclude each other"),
                                 ((rec, "--residue"), 2, "say --at twice"),
                                 ((rec + "@phase:none", rec + "@end", "--residue"), 2, "no phases")):
        done = box.tare("diff", *args)
        check_equal(done.code, code, done)
        check_says(done.err, sentence)
    done = box.tare("diff", rec + "@peak", rec + "@end", "--residue")
    check_equal(done.code, 0, done)
    check("WHAT GIVES IT BACK" in done.out and "cudaFree()" in done.out, done)


if __name__ == "__main__":
    main()
