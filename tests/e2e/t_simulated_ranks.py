#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--ranks-simulated K of N: a program sees a larger world than the ranks that run, and is itself otherwise."""

import json
import os

from harness import PYTHON, case, check, check_equal, check_says, main, needs_exec

# What torch.distributed has in place of a network: it says how many ranks it would wait for.
GROUPS = """
import os
class ProcessGroupGloo:
    def __init__(self, store, rank, size):
        self.size = size
def _store_based_barrier(rank, store, group_name, rendezvous_count, timeout):
    return rendezvous_count
def new_group(count):
    return _store_based_barrier(0, None, "g", count, None), _store_based_barrier(
        0, None, "g", rendezvous_count=count, timeout=None)
def init_process_group(backend=None, timeout=None, world_size=-1, rank=-1):
    return world_size if world_size > 0 else int(os.environ["WORLD_SIZE"])
"""
RENDEZVOUS = """
def _create_c10d_store(hostname, port, rank, world_size, timeout, use_libuv=True):
    return world_size
def store(count):
    return _create_c10d_store("localhost", 1, 0, count, None)
"""
PROGRAM = """
import os, sys
import sitecustomize
from torch.distributed import distributed_c10d as groups, rendezvous
print(os.environ["RANK"], sys.argv[1:], os.environ["WORLD_SIZE"], os.environ["TARE_SIM_DEVICES"], sitecustomize.NAME)
print(groups.new_group(64), groups.new_group(1), rendezvous.store(64), groups.init_process_group())
print(groups.ProcessGroupGloo(None, 0, 2).size)
try:
    groups.ProcessGroupGloo(None, 0, 64)
except RuntimeError as error:
    print(error)
sys.exit(7)
"""
SPAWNED = """
import sys
from torch.distributed import distributed_c10d as groups
print(groups.init_process_group("nccl", rank=int(sys.argv[1]), world_size=int(sys.argv[2])))
"""


def write(box, path, text):
    os.makedirs(os.path.dirname(box.path(path)), exist_ok=True)
    with open(box.path(path), "w", encoding="utf-8") as file:
        file.write(text)


def make_torch(box):
    write(box, "site/sitecustomize.py", "NAME = 'of the user'\n")
    write(box, "site/torch/__init__.py", "")
    write(box, "site/torch/distributed/__init__.py", "")
    write(box, "site/torch/distributed/distributed_c10d.py", GROUPS)
    write(box, "site/torch/distributed/rendezvous.py", RENDEZVOUS)


def ranks(box, part, *command, sim="h200", **env):
    needs_exec()
    for name in ("RANK", "WORLD_SIZE"):
        env.setdefault(name, None)
    return box.tare("record", "--sim", sim, "--ranks-simulated", *part.split(), "-f", "-o", box.path("run.tare"), "--", *command,
                    env=dict(env, PYTHONPATH=box.path("site"), PYTHONDONTWRITEBYTECODE="1"))


@case
def the_program_sees_a_larger_world(box):
    make_torch(box)
    write(box, "train.py", PROGRAM)
    for started in ("2", "64"):  # the launcher starts those that run, or all
        done = ranks(box, "2 of 64", PYTHON, box.path("train.py"), "--lr", "1", RANK="1", WORLD_SIZE=started)
        lines = done.out.splitlines()
        check_equal(lines[:3], ["1 ['--lr', '1'] 64 2 of the user", "(2, 2) (1, 1) 2 64", "2"], done)
        check_says(lines[3], "--ranks-simulated 2 of 64", "gloo", "init_process_group(\"nccl\")")
        check_equal(done.code, 7, done)


@case
def a_rank_that_does_not_run_leaves_at_once(box):
    make_torch(box)
    write(box, "train.py", "print('ran')\n")
    done = ranks(box, "2 of 64", PYTHON, box.path("train.py"), RANK="2", WORLD_SIZE="64")
    check_equal((done.out, done.code), ("", 0), done)
    write(box, "train.py", SPAWNED)
    for started, rank, said in (("2", "1", "64\n"), ("64", "1", "64\n"), ("64", "2", "")):
        done = ranks(box, "2 of 64", PYTHON, box.path("train.py"), rank, started)
        check_equal((done.out, done.code), (said, 0), done)


@case
def another_number_of_ranks_is_refused(box):
    make_torch(box)
    write(box, "train.py", "print('ran')\n")
    done = ranks(box, "2 of 64", PYTHON, box.path("train.py"), RANK="0", WORLD_SIZE="4")
    check_equal((done.out, done.code), ("", 1), done)
    check_says(done.err, "--ranks-simulated 2 of 64, but 4 ranks were started", "torchrun --nproc-per-node 2")


@case
def other_machines_are_not_waited_for(box):
    make_torch(box)
    write(box, "site/torch/distributed/launcher/__init__.py", "")
    write(box, "site/torch/distributed/launcher/api.py", "def launch_agent(config):\n    print('launched')\n")
    write(box, "launcher.py", "import sys\nfrom torch.distributed.launcher import api\nclass Config:\n"
          "    min_nodes = int(sys.argv[1])\napi.launch_agent(Config())\n")
    done = ranks(box, "2 of 64", PYTHON, box.path("launcher.py"), "1")
    check_equal((done.out, done.code), ("launched\n", 0), done)
    done = ranks(box, "2 of 64", PYTHON, box.path("launcher.py"), "8")
    check_equal((done.out, done.code), ("", 1), done)
    check_says(done.err, "would wait for 8 machines", "--nnodes 1 --nproc-per-node 2")


@case
def a_program_that_knows_nothing_of_it_runs(box):
    done = ranks(box, "3 of 64", "sh", "-c", "echo $TARE_SIM_DEVICES $TARE_SIM_RANKS $TARE_SIM_WORLD")
    check_equal((done.out, done.code), ("3 3 64\n", 0), done)
    with open(box.path("run.tare", "recording.json"), encoding="utf-8") as file:
        check_equal(json.load(file)["ranks_simulated"], "3 of 64")


@case
def what_makes_no_sense_is_refused(box):
    for part, sim, said in (("65 of 64", "h200", "the first no larger than the second"),
                            ("2 of 99999", "h200", "64 ranks can run, of 65536 at most"),
                            ("65 of 128", "h200", "64 ranks can run"),
                            ("4 of 64", "h200:2", "give --sim PROFILE:4")):
        done = ranks(box, part, "true", sim=sim)
        check_equal((done.out, done.code), ("", 2), done)
        check_says(done.err, said, part)
    done = box.tare("record", "--ranks-simulated", "2", "of", "64", "--", "true")
    check_equal(done.code, 2, done)
    check_says(done.err, "--ranks-simulated 2 of 64", "give --sim")
    check_equal(json.dumps([name for name in os.listdir(box.path(".")) if name.endswith(".tare")]), "[]")


if __name__ == "__main__":
    main()
