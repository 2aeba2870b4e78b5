#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Distributed jobs: which rank a process is, and what their recordings say when opened together."""

import json
import os
import signal
import subprocess
import sys

from harness import (MIB, ROOT, Missing, Skip, case, check, check_balance, check_equal, check_says, fixture, main,
                     needs_exec, needs_own_command, record_args, show, tare_argv, wait_until)
from slurm import free_ports

TORCHRUN = {"RANK": "%(rank)d", "LOCAL_RANK": "%(local)d", "WORLD_SIZE": "%(world)d",
            "TORCHELASTIC_RUN_ID": "%(job)s", "TORCHELASTIC_RESTART_COUNT": "0",
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
OPENMPI = {"OMPI_COMM_WORLD_RANK": "%(rank)d", "OMPI_COMM_WORLD_LOCAL_RANK": "%(local)d",
           "OMPI_COMM_WORLD_SIZE": "%(world)d", "PMIX_NAMESPACE": "%(job)s", "PMIX_RANK": "%(rank)d",
           "LOCAL_RANK": "%(local)d"}
SLURM = {"SLURM_PROCID": "%(rank)d", "SLURM_LOCALID": "%(local)d", "SLURM_NTASKS": "%(world)d",
         "SLURM_JOB_ID": "%(job)s", "SLURM_STEP_ID": "0", "LOCAL_RANK": "%(local)d"}


def environment(launcher, rank, world=2, job="17", local=None):
    """As a launcher of that kind would set it for a rank."""
    values = {"rank": rank, "world": world, "job": job, "local": rank if local is None else local}
    return {name: value % values for name, value in launcher.items()}


class Job:
    """Ranks that are led by files, each with a tare of its own unless told otherwise."""

    def __init__(self, box, launcher=TORCHRUN, world=2, gpus=2, folder="job", preexec=None, **more):
        self.box, self.folder, self.orders = box, box.path(folder), {}
        os.makedirs(self.folder, exist_ok=True)
        self.ranks = []
        for rank in range(world):
            env = environment(launcher, rank, world, local=rank % gpus, **more)
            env["TARE_SIM_DEVICES"] = str(gpus)
            self.ranks.append(box.start(
                tare_argv(*record_args(fixture("e2e_rank", self.folder, str(rank)),
                                       rec="%s/p.r%d.tare" % (folder, rank))), env=env,
                preexec_fn=preexec))
            # One after the other: contexts made at once cannot be told apart by the counter.
            self.wait(rank, 0)

    @classmethod
    def below(cls, box, command, world, **more):
        """Started by a launcher: one recording, rec.tare, in which the ranks are processes."""
        self = cls.__new__(cls)
        self.box, self.folder, self.orders, self.ranks = box, box.path("job"), {}, []
        os.makedirs(self.folder, exist_ok=True)
        self.tare = box.start(tare_argv(*record_args(command(self.folder))),
                              env={"TARE_SIM_DEVICES": str(world)}, **more)
        for rank in range(world):
            self.wait(rank, 0)
        return self

    def wait(self, rank, number):
        path = os.path.join(self.folder, "r%d.%d.done" % (rank, number))
        wait_until(lambda: os.path.exists(path), "rank %d did not carry out order %d" % (rank, number), seconds=60)

    def give(self, rank, order):
        number = self.orders[rank] = self.orders.get(rank, 0) + 1
        path = os.path.join(self.folder, "r%d.%d" % (rank, number))
        with open(path + ".new", "w", encoding="utf-8") as text:
            text.write(order + "\n")
        os.rename(path + ".new", path)
        return number

    def order(self, rank, order):
        """… and waits until it was carried out."""
        self.wait(rank, self.give(rank, order))

    def end(self, rank, order="exit 0"):
        self.give(rank, order)
        if self.ranks:
            self.ranks[rank].communicate(timeout=60)

    def end_all(self):
        for rank in range(len(self.ranks)):
            self.end(rank)


def report_ranks(box, *recordings, at="peak", options=()):
    done = box.tare("report", *recordings, "--by", "rank", "--at", at, "--json", *options)
    check_equal(done.code, 0, done)
    report = json.loads(done.out)
    check_balance(report, at)
    return report


def ranks_of(report):
    return {(row["rank"], row["device"]): row for row in report["rows"]}


def other_bytes(report):
    return sum(row["bytes"] for device in report["devices"] for row in device["accounts"]
               if row["leaf"] and row["path"].startswith("other"))


@case
def each_launcher_is_recognised(box):
    needs_exec()
    for name, launcher, job in (("torchrun", TORCHRUN, "17"), ("Open MPI", OPENMPI, "17"),
                                ("Slurm", SLURM, "17.0")):
        led = Job(box, launcher, world=1, gpus=1, folder=name.replace(" ", ""))
        led.end_all()
        done = box.tare("report", name.replace(" ", ""), "--by", "rank")
        check_equal(done.code, 0, done)
        check_says(done.out, name, "job " + job)


@case
def ranks_with_a_tare_each_are_one_ledger(box):
    """Two on one GPU, so that each sees the other there: nothing may be counted twice."""
    needs_exec()
    job = Job(box, world=3, gpus=2)
    for rank in range(3):
        job.order(rank, "alloc %d" % ((rank + 1) * 100 * MIB))
    job.end_all()
    report = report_ranks(box, "job")
    rows = ranks_of(report)
    check_equal(sorted(k for k in rows if rows[k]["allocation_bytes"]), [(0, 0), (1, 1), (2, 0)], show(report))
    for (rank, device), row in rows.items():
        if row["allocation_bytes"]:
            check_equal(row["allocation_bytes"], (rank + 1) * 100 * MIB, show(report))
    check_equal(other_bytes(report), 0, show(report))
    check_equal([d["unexplained_bytes"] for d in report["devices"]], [0, 0], show(report))
    check_equal(report["imbalance"]["most_rank"], 2)
    check_equal(report["imbalance"]["part"], "allocation_bytes")
    check_equal(report["imbalance"]["part_bytes"], 200 * MIB)
    alone = report_ranks(box, "job/p.r0.tare")
    # Whose it is depends on when tare looked, but it is not this rank's.
    left = other_bytes(alone) + alone["devices"][0]["unexplained_bytes"]
    check(left >= 300 * MIB, "alone it has a neighbour", show(alone))


def check_alone(box, recording, used):
    """What the others have is told by this rank's own readings; with or without what `tare` saw."""
    for at in ("peak", "end"):
        report = box.report(recording, at)
        device = report["devices"][0]
        check_balance(report, at)
        check_equal(device["unexplained_bytes"], 0, recording, at, show(report))
        check(at != "peak" or (other_bytes(report) > 0 and device["used_bytes"] >= used), recording, show(report))


@case
def a_rank_that_is_opened_alone_balances(box):
    """Three on one GPU that take memory in turn: the peak, and the end, of each lie where others have just moved."""
    needs_exec()
    job, used = Job(box, world=3, gpus=1), 0
    for step in range(9):
        job.order(step % 3, "alloc %d" % ((step + 1) * 10 * MIB))
        used += (step + 1) * 10 * MIB
    job.end(1)
    job.order(0, "alloc %d" % (300 * MIB))
    job.order(2, "alloc %d" % (20 * MIB))
    job.end(2)
    job.end(0)
    for rank in range(3):
        folder = "job/p.r%d.tare" % rank
        logs = [name for name in os.listdir(box.path(folder))
                if name.endswith(".events") and name != "tare.events"]
        check_equal(len(logs), 1, logs)
        check_alone(box, folder, used)
        check_alone(box, os.path.join(folder, logs[0]), used)


@case
def what_other_tools_show_of_one_rank(box):
    """Each of five on a GPU of its own, which all see: what they show is of the one that the rank is on."""
    needs_exec()
    job = Job(box, world=5, gpus=5)
    for rank in range(5):
        job.order(rank, "alloc %d" % ((rank + 1) * 10 * MIB))
    for rank in range(5):
        job.end(rank)
    for rank in (0, 4):
        folder = "job/p.r%d.tare" % rank
        report = box.report(folder, "peak")
        used = {d["index"]: d["used_bytes"] for d in report["devices"]}
        check(sum(1 for size in used.values() if size > 100 * MIB) > 1, "no neighbour is seen", used)
        done = box.tare("explain", folder, "--json")
        check_equal(done.code, 0, done)
        tools = {t["word"]: t for t in json.loads(done.out)["tools"]}
        check_equal(tools["nvidia-smi-used"]["bytes"], used[rank], used)
        check(tools["nvidia-smi-used"]["max_bytes"] < 2 * used[rank], tools["nvidia-smi-used"], used)
        check(tools["cudamemgetinfo"]["bytes"] <= report["devices"][rank]["total_bytes"] - used[rank], tools["cudamemgetinfo"])


@case
def several_operands_are_one_job(box):
    needs_exec()
    job = Job(box)
    job.end_all()
    report = report_ranks(box, "job/p.r0.tare", "job/p.r1.tare", "job/p.r0.tare")
    check_equal({row["rank"] for row in report["rows"]}, {0, 1}, show(report))
    for device in report["devices"]:
        for row in device["accounts"]:
            if row["path"].startswith("process"):
                check(row["rank"] in (0, 1), row)
    check_equal(report["degraded"], [])


@case
def recordings_of_two_jobs_are_refused(box):
    needs_exec()
    Job(box, job="17", world=1).end_all()
    Job(box, job="18", world=1, folder="more").end_all()
    os.rename(box.path("more", "p.r0.tare"), box.path("job", "q.r0.tare"))
    done = box.tare("report", "job", "--by", "rank")
    check_equal(done.code, 2, done)
    check_says(done.err, "2 jobs", "17 (1)", "18 (1)", "--job")
    report = report_ranks(box, "job", options=("--job", "18"))
    check_equal([row["job"] for row in report["rows"] if row["device"] == 0], ["18"])
    done = box.tare("report", "job", "--job", "19")
    check_equal(done.code, 2, done)
    check_says(done.err, "--job 19", "there are 17 (1), 18 (1)")


@case
def runs_that_cannot_be_told_apart_are_refused(box):
    """torchrun names no run unless it is asked to: the second has the same name as the first."""
    needs_exec()
    Job(box, job="none", world=1).end_all()
    Job(box, job="none", world=1, folder="more").end_all()
    done = box.tare("report", "job", "more")
    check_equal(done.code, 2, done)
    check_says(done.err, "rank 0 is there more than once", "several runs", "tare diff")


@case
def programs_on_their_own_are_never_added_up(box):
    """Of two with one pid, or one GPU, one would vanish behind the other."""
    for rec in ("one.tare", "runs/a.tare", "runs/b.tare"):
        os.makedirs(os.path.dirname(box.path(rec)), exist_ok=True)
        box.record(fixture("e2e_alloc"), rec=rec)
    for paths in (["one.tare", "runs/a.tare"], ["runs"], ["one.tare", "runs"]):
        for options in ([], ["--json"], ["--by", "rank"]):
            done = box.tare("report", *paths, *options)
            check_equal((done.code, done.out), (2, ""), done)
            check_says(done.err, "not of one job", "tare diff", "a.tare")
    done = box.tare("diff", "runs", "one.tare")
    check_equal(done.code, 2, done)
    check_equal(box.tare("report", "one.tare", "one.tare/").code, 0, "one recording, named twice")
    logs = [box.path("one.tare", name) for name in os.listdir(box.path("one.tare")) if name.endswith(".events")]
    check(len(logs) > 1, logs)
    check_equal(box.tare("report", *logs).code, 0, "the logs of one recording")
    for command in (["info", "runs"], ["dump", "runs"], ["report", "one.tare", "runs/a.tare", "--svg", "both.svg"]):
        check_equal(box.tare(*command).code, 0, command)


@case
def bad_values_are_no_rank(box):
    needs_exec()
    for env in ({"RANK": "abc", "WORLD_SIZE": "2"}, {"RANK": "2", "WORLD_SIZE": "2"},
                {"RANK": "-1", "WORLD_SIZE": "2"}, {"RANK": "1"}, {"SLURM_PROCID": "0"}):
        done = box.tare("record", "--sim", "h200", "--", *fixture("e2e_alloc"), env=env)
        check_equal(done.code, 0, done)
        made = [name for name in os.listdir(box.dir) if name.endswith(".tare")]
        check_equal(len(made), 1, made)
        check(".r" not in made[0], made, env)
        done = box.tare("report", made[0], "--by", "rank")
        check_says(done.out, "this recording holds no rank")
        report = box.report(made[0])
        check(all(row["rank"] is None for row in report["devices"][0]["accounts"]), show(report))
        os.rename(box.path(made[0]), box.path("old"))
        box.run(["rm", "-r", "old"])


@case
def the_rank_is_in_the_name(box):
    done = box.tare("record", "--sim", "h200", "--", *fixture("e2e_alloc"), env=environment(TORCHRUN, 3, 8))
    check_equal(done.code, 0, done)
    made = [name for name in os.listdir(box.dir) if name.endswith(".r3.tare")]
    check_equal(len(made), 1, os.listdir(box.dir))
    with open(box.path(made[0], "recording.json"), encoding="utf-8") as text:
        described = json.load(text)
    check_equal([described[k] for k in ("rank", "world", "job", "launcher")], [3, 8, "17", "torchrun"])


@case
def only_rank_0_prints_a_ledger(box):
    needs_own_command()

    def run(rank):
        return box.tare("run", "--sim", "h200", "--", *fixture("e2e_alloc"), env=environment(TORCHRUN, rank))
    first, second = run(0), run(1)
    check_says(first.err, "rank 0: exit 0", "unexplained", "the other ranks: tare report", "--by rank --job 17")
    check_equal(len(second.err.splitlines()), 1, second)
    check_says(second.err, "rank 1: exit 0", "MiB at the peak of GPU 0", ".r1.tare")
    done = box.tare("report", ".", "--by", "rank", "--job", "17")
    check_equal(done.code, 0, done)


@case
def lines_of_many_ranks_are_whole(box):
    """Eight ranks print into one pipe at once: each of their lines stands there as it was written."""
    needs_exec()
    job = "; ".join("RANK=%d WORLD_SIZE=8 %s &" % (rank, " ".join(tare_argv(
        "run", "--sim", "h200", "-o", "r%d.tare" % rank, "--", *fixture("e2e_alloc")))) for rank in range(8))
    done = box.run(["/bin/sh", "-c", job.replace("&;", "&") + " wait"])
    lines = done.err.splitlines()
    ends = [line for line in lines if ": exit 0 after" in line]
    check_equal(sorted(line.split(":")[1] for line in ends), [" rank %d" % rank for rank in range(8)], done)
    check(all(line.startswith("tare: rank ") and line.endswith(("KiB)", "MiB)")) for line in ends), done)
    check(all(line.endswith(("KiB)", "MiB)")) for line in lines if line.startswith("tare: rank")), done)
    for rank in range(8):  # each has seven others that come and go
        checked = box.tare("info", "--check", "r%d.tare" % rank)
        check_equal(checked.code, 0, checked)


@case
def the_first_to_fail_is_named(box):
    needs_exec()
    job = Job(box, world=3, gpus=3)
    job.order(0, "alloc 1000")
    job.end(1, "exit 3")
    job.ranks[0].send_signal(signal.SIGTERM)
    job.ranks[0].communicate(timeout=60)
    job.end(2)
    report = report_ranks(box, "job")
    ends = {row["rank"]: (row["end"], row["code"], row["failed_first"]) for row in report["rows"]}
    check_equal(ends, {0: ("signal", 15, False), 1: ("exited", 3, True), 2: ("exited", 0, False)})
    done = box.tare("report", "job", "--by", "rank")
    check_says(done.out, "rank 1 on", "failed first: exit 3", "rank 0: signal 15", "rank 2: exit 0")


LAUNCH = os.path.join(ROOT, "tests", "e2e", "fixtures", "launch.py")


def rows_when(box, rank, end):
    """The ranks, once the recording says that this one has ended so: tare writes that within its turn."""
    def has_ended():
        rows = {row["rank"]: row for row in report_ranks(box, "rec.tare")["rows"]}
        return rows[rank]["end"] == end and rows

    return wait_until(has_ended, "rank %d has not ended by %s" % (rank, end))


@case
def ranks_below_a_launcher(box):
    """Its children are ranks, each by the environment it was started with."""
    needs_exec()
    go = box.path("go")
    job = Job.below(box, lambda folder: [sys.executable, LAUNCH, "2", "42", go] + fixture("e2e_rank", folder), 2)
    for rank in range(2):
        job.order(rank, "alloc %d" % ((rank + 1) * 10 * MIB))
        job.end(rank)
    open(go, "w", encoding="utf-8").close()
    job.tare.communicate(timeout=60)
    check_equal(job.tare.returncode, 0)
    report = report_ranks(box, "rec.tare")
    rows = ranks_of(report)
    check_equal(sorted(k for k in rows if rows[k]["context_bytes"]), [(0, 0), (1, 1)], show(report))
    check_equal([rows[r, r]["allocation_bytes"] for r in (0, 1)], [10 * MIB, 20 * MIB])
    check_equal([(rows[r, r]["end"], rows[r, r]["code"], rows[r, r]["job"]) for r in (0, 1)], [("exited", 0, "42")] * 2)
    check_equal(report["degraded"], [])


@case
def a_rank_is_killed_below_a_launcher(box):
    """Nobody but its launcher is told how it ended; tare sees it while the launcher has not looked."""
    needs_exec()
    go = box.path("go")
    job = Job.below(box, lambda folder: [sys.executable, LAUNCH, "3", "42", go] + fixture("e2e_rank", folder), 3)
    job.order(2, "alloc 1000")
    job.give(1, "signal 9")
    rows = rows_when(box, 1, "signal")
    check_equal((rows[1]["code"], rows[1]["failed_first"]), (9, True))
    check_equal({rows[0]["end"], rows[2]["end"]}, {"runs"})
    open(go, "w", encoding="utf-8").close()
    job.tare.communicate(timeout=60)
    check_equal(job.tare.returncode, 1)
    rows = {row["rank"]: row for row in report_ranks(box, "rec.tare")["rows"]}
    check_equal((rows[1]["end"], rows[1]["code"], rows[1]["failed_first"]), ("signal", 9, True))
    for rank in (0, 2):  # whether tare was quicker than the launcher depends on the machine
        check((rows[rank]["end"], rows[rank]["code"]) in (("signal", 15), ("killed", None)), rows[rank])
        check(not rows[rank]["failed_first"], rows[rank])
    done = box.tare("report", "rec.tare", "--by", "rank")
    check_says(done.out, "rank 1 on", "failed first: signal 9")


class MemoryGroup:
    """A cgroup of our own with little memory; skips where none can be made."""

    def __init__(self, limit):
        with open("/proc/self/cgroup", encoding="utf-8") as text:
            own = dict(line.strip().split(":", 2)[1:] for line in text)
        path, file = ("/sys/fs/cgroup/memory" + own["memory"], "memory.limit_in_bytes") if "memory" in own else (
            "/sys/fs/cgroup" + own.get("", "/"), "memory.max")
        self.path = os.path.join(path, "tare-test-%d" % os.getpid())
        try:
            os.mkdir(self.path)
        except OSError as why:
            raise Skip("no memory cgroup can be made here: %s" % why) from why
        try:
            with open(os.path.join(self.path, file), "w", encoding="utf-8") as out:
                out.write(str(limit))
            with open(os.path.join(self.path, "cgroup.procs"), "a", encoding="utf-8"):
                pass
        except OSError as why:
            self.remove()
            raise Skip("this memory cgroup takes no limit: %s" % why) from why

    def enter(self):
        with open(os.path.join(self.path, "cgroup.procs"), "w", encoding="utf-8") as out:
            out.write("0")

    def remove(self):
        os.rmdir(self.path)


@case
def the_oom_killer_is_named(box):
    needs_exec()
    group = MemoryGroup(200 * MIB)
    job = Job(box, world=1, gpus=1, preexec=group.enter)
    try:
        job.end(0, "eat %d" % (1000 * MIB))
    finally:
        for rank in job.ranks:
            rank.kill()
            rank.wait()
        group.remove()
    row = report_ranks(box, "job")["rows"][0]
    check_equal((row["end"], row["code"], row["oom_killer"]), ("signal", 9, True))
    check_says(box.tare("report", "job", "--by", "rank").out, "signal 9, OOM killer")


def torchrun():
    """Of Debian's python3-torch, or whatever the machine has."""
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            if subprocess.run([python, "-c", "import torch.distributed.run"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=100, check=False).returncode == 0:
                return [python, "-m", "torch.distributed.run"]
        except OSError:
            pass
    raise Missing("python3-torch")


@case
def torchrun_itself(box):
    """Both ways around: one recording of all ranks, and a recording each."""
    needs_exec()
    # Debian's 1.13 fails without --redirects and --tee, whose defaults Python 3.11 does not list. --standalone
    # would look up localhost, which a bare system does not know.
    launchers = [torchrun() + ["--master_addr", "127.0.0.1", "--master_port", str(port), "--nproc_per_node", "2",
                               "--redirects", "1", "--tee", "1", "--log_dir", box.path("logs"), "--no_python"]
                 for port in free_ports(2)]
    worker = ["/bin/sh", "-c", 'exec "$0" "$1" "$RANK"'] + fixture("e2e_rank")
    job = Job.below(box, lambda folder: launchers[0] + worker + [folder], 2)
    for rank in range(2):
        job.end(rank)
    err = job.tare.communicate(timeout=100)[1]
    check_equal(job.tare.returncode, 0, err)
    rows = [row for row in report_ranks(box, "rec.tare")["rows"] if row["context_bytes"]]
    check_equal([(row["rank"], row["device"], row["end"], row["code"]) for row in rows],
                [(0, 0, "exited", 0), (1, 1, "exited", 0)])
    each = box.start(launchers[1] + tare_argv("record", "--sim", "h200", "--") + fixture("e2e_alloc"))
    err = each.communicate(timeout=100)[1]
    check_equal(each.returncode, 0, err)
    made = sorted(name for name in os.listdir(box.dir) if name.startswith("e2e_alloc-"))
    check_equal([name[-8:] for name in made], [".r0.tare", ".r1.tare"])
    report = report_ranks(box, *made)
    check_equal(sorted((row["rank"], row["end"]) for row in report["rows"]), [(0, "exited"), (1, "exited")])
    check_equal(len({row["job"] for row in report["rows"]}), 1, show(report))


@case
def a_context_on_the_gpu_of_another_is_said(box):
    needs_exec()
    job = Job(box, world=2, gpus=2)
    job.order(1, "alloc 1000000000")
    job.order(1, "stray 0")
    job.end_all()
    done = box.tare("report", "job", "--by", "rank")
    check_says(" ".join(done.out.split()), "rank 1 holds 52", "on GPU 0 and works on another", "set_device")


main()
