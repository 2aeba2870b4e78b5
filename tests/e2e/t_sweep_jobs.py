#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several cells at a time: never two on one GPU; Slurm with real daemons; launchers inside a cell."""

import os

from harness import MIB, case, check, check_equal, check_says, main, needs_exec, wait_until
from slurm import Cluster
from sweeps import cell, query, sweep, sweep_argv


def files(box, end):
    return sorted(name for name in os.listdir(box.dir) if name.endswith(end))


@case
def jobs_have_gpus_of_their_own(box):
    """Each run says that it began and waits until it is let go: the most that run at once are seen."""
    needs_exec()
    command = cell("mib=16", "touch=" + box.path("{n}.begun"), "print=CUDA_VISIBLE_DEVICES", "wait=" + box.path("{n}.go"),
                   "touch=" + box.path("{n}.ended"))
    running = box.start(sweep_argv("--jobs", "2", "--grid", "n=1,2,3,4,5", command=command),
                        env={"TARE_SIM_DEVICES": "2"})
    for number in range(1, 6):
        wait_until(lambda: len(files(box, ".begun")) >= min(number + 1, 5), "too few run")
        check_equal(len(files(box, ".begun")), min(number + 1, 5))
        open(box.path("%d.go" % number), "w", encoding="utf-8").close()
        wait_until(lambda: len(files(box, ".ended")) == number, "it does not end")
    running.communicate(timeout=60)
    check_equal(running.returncode, 0)
    rows = query(box, "SELECT status,gpus,stdout FROM runs ORDER BY run")
    check_equal([row[:2] for row in rows[:3]], [("ok", "0"), ("ok", "1"), ("ok", "0")])
    for _, gpus, stdout in rows:
        with open(box.path("t.db.d", stdout), encoding="utf-8") as text:
            check_equal(text.read(), "CUDA_VISIBLE_DEVICES=%s\n" % gpus)
    # On one simulated machine: a run that shared its GPU would see the other's context there.
    check_equal(query(box, "SELECT DISTINCT own FROM devices WHERE own > 100e6"), [(query(box, "SELECT peak FROM runs")[0][0],)])


@case
def more_jobs_than_gpus_are_refused(box):
    needs_exec()
    for options, env, says in (
            (["--jobs", "2"], {}, "there is 1 GPU here"),
            (["--jobs", "3"], {"TARE_SIM_DEVICES": "2"}, "there are 2 GPUs here"),
            (["--jobs", "2", "--gpus", "2"], {"TARE_SIM_DEVICES": "2"}, "at most 1"),
            (["--jobs", "2"], {"TARE_SIM_DEVICES": "4", "CUDA_VISIBLE_DEVICES": "3"}, "there is 1 GPU here")):
        done = sweep(box, *options, "--grid", "a=1", command=["true"], env=env, code=2, db="no.db")
        check_says(done.err, "--jobs", says)
        for name in ("no.db", "no.db.d/lock"):
            if os.path.exists(box.path(name)):
                os.unlink(box.path(name))


@case
def gpus_that_the_environment_names_are_used(box):
    needs_exec()
    sweep(box, "--jobs", "2", "--gpus", "2", "--grid", "a=1,2", command=cell("print=CUDA_VISIBLE_DEVICES"),
          env={"TARE_SIM_DEVICES": "8", "CUDA_VISIBLE_DEVICES": "7,5,3,1"})
    check_equal(query(box, "SELECT DISTINCT gpus FROM runs ORDER BY gpus"), [("3,1",), ("7,5",)])


@case
def ranks_inside_a_cell_are_one_run(box):
    """As torchrun and mpirun start them: children with a rank in their environment."""
    needs_exec()
    launch = ("for r in 0 1; do RANK=$r LOCAL_RANK=$r WORLD_SIZE=2 TORCHELASTIC_RUN_ID=j \"$0\" mib={mib} & done; wait")
    sweep(box, "--grid", "mib=32,64", command=["sh", "-c", launch] + cell())
    check_equal(query(box, "SELECT count(*),min(status),max(processes) FROM runs"), [(2, "ok", 2)])
    check_equal(query(box, "SELECT count(*) FROM hosts WHERE run=1"), [(2,)])


@case
def a_launcher_stands_before_every_run(box):
    needs_exec()
    with open(box.path("launch"), "w", encoding="utf-8") as script:
        script.write("#!/bin/sh\necho \"$1\" >> %s\nshift\nexec \"$@\"\n" % box.path("launched"))
    os.chmod(box.path("launch"), 0o755)
    # A simulated machine for each: this launcher gives no GPUs, and they would meet on one.
    sweep(box, "--launcher", "./launch 'a b'", "--jobs", "3", "--grid", "mib=16,32", command=cell("mib={mib}"),
          env={"TARE_SIM_DIR": None})
    with open(box.path("launched"), encoding="utf-8") as text:
        check_equal(text.read(), "a b\na b\n")
    small, large = [row[0] for row in query(box, "SELECT peak FROM runs WHERE status='ok' ORDER BY cell")]
    check_equal(large - small, 16 * MIB)


@case
def slurm_gives_each_run_a_gpu(box):
    needs_exec()
    with Cluster(box, gpus=2) as slurm:
        env = dict(slurm.env, TARE_SIM_DEVICES="2")
        sweep(box, "--launcher", "srun --gpus=1 --quiet", "--jobs", "2", "--vram", "1GiB",
              "--grid", "mib=16,32,64,800", "--repeat", "2",
              command=cell("print=CUDA_VISIBLE_DEVICES", "print=SLURM_JOB_ID", "mib={mib}"), env=env, timeout=120)
        rows = query(box, "SELECT mib,repeat,status FROM results")
        check_equal(rows, [(m, r, "oom" if m == 800 else "ok") for m in (16, 32, 64, 800) for r in (1, 2)], slurm.logs())
        jobs = set()
        for (stdout,) in query(box, "SELECT stdout FROM runs"):
            with open(box.path("t.db.d", stdout), encoding="utf-8") as text:
                gpus, job = text.read().splitlines()
            check(gpus in ("CUDA_VISIBLE_DEVICES=0", "CUDA_VISIBLE_DEVICES=1"), gpus)
            jobs.add(job)
        check_equal(len(jobs), 8)
        # Several tasks of one step are one run, whose recordings are read together.
        sweep(box, "--launcher", "srun --ntasks=2 --overcommit --quiet", "--grid", "mib=32", command=cell("mib={mib}"),
              db="ranks.db", env=env, timeout=120)
        check_equal(query(box, "SELECT status,processes FROM runs", db="ranks.db"), [("ok", 2)])


main()
