#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/ that are swept, in tiny form on the CPU. tests/gpu/sweep.sh has the real ones."""

import os
import shutil
import subprocess

from harness import ROOT, Missing, case, check, check_equal, check_says, main, needs_exec
from sweeps import query, sweep

EXAMPLES = os.path.join(ROOT, "examples")


def python_with_torch():
    for python in ("/usr/bin/python3", shutil.which("python3")):
        if python and subprocess.run([python, "-c", "import torch"], stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL).returncode == 0:
            return python
    raise Missing("python3-torch")


def tiny(box, program, *words, grid, work, cells):
    needs_exec()
    command = [python_with_torch(), os.path.join(EXAMPLES, program), "--cpu"] + list(words)
    sweep(box, *grid, "--work", work, command=command, sim=False, timeout=110, env={"OMP_NUM_THREADS": "1"})
    check_equal(query(box, "SELECT count(*) FROM runs WHERE status='ok'"), [(cells,)],
                [open(box.path("t.db.d", row[0]), encoding="utf-8").read()[-2000:]
                 for row in query(box, "SELECT stderr FROM runs WHERE status<>'ok'")])
    done = box.tare("report", "t.db")
    check_equal(done.code, 0, done)
    return done.out


def output(box, number):
    with open(box.path("t.db.d", "cell-%d-run-1" % number, "stdout"), encoding="utf-8") as text:
        return text.read()


@case
def rollout(box):
    tiny(box, "rollout.py", "--batch", "{batch}", grid=["--grid", "batch=1,2"], work="timesteps={batch}*5", cells=2)
    check_says(output(box, 2), "batch 2, 10 realizations of 5 steps")


@case
def optimizers(box):
    tiny(box, "optimizers.py", "--optimizer", "{optimizer}", "--accumulate", "{accumulate}",
         grid=["--grid", "optimizer=sgd,adam", "--grid", "accumulate=1,4"], work="samples=8*8", cells=4)
    check_says(output(box, 4), "adam, accumulate 4")


@case
def lattice(box):
    tiny(box, "lattice.py", "--bs", "{bs}", "--L", "3", "--cross", "3", "--asym", "1", "--max-iter", "5",
         "--max-iter-se", "5", "--shifts", "2", "--nrv", "1", grid=["--grid", "bs=1,2"], work="fields={bs}", cells=2)


main()
