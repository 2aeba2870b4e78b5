#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python -m tare.simulated_ranks: a program sees a larger world than the ranks that run, and is itself otherwise."""

import os
import subprocess

from harness import PYTHON, ROOT, case, check, check_equal, check_says, main

# What torch.distributed has in place of a network: it says how many ranks it would wait for.
GROUPS = """
def _store_based_barrier(rank, store, group_name, rendezvous_count, timeout):
    return rendezvous_count
def new_group(count):
    return _store_based_barrier(0, None, "g", count, None), _store_based_barrier(
        0, None, "g", rendezvous_count=count, timeout=None)
"""
RENDEZVOUS = """
def _create_c10d_store(hostname, port, rank, world_size, timeout, use_libuv=True):
    return world_size
def store(count):
    return _create_c10d_store("localhost", 1, 0, count, None)
"""
PROGRAM = """
import os, sys
from torch.distributed import distributed_c10d, rendezvous
print(__name__, sys.argv[1:], os.environ["WORLD_SIZE"], os.environ["TARE_SIM_RANKS"])
print(distributed_c10d.new_group(64), distributed_c10d.new_group(1), rendezvous.store(64))
import beside
print(beside.NAME, sys.path[0] == os.path.dirname(os.path.abspath(__file__)))
sys.exit(7)
"""


def write(box, path, text):
    os.makedirs(os.path.dirname(box.path(path)), exist_ok=True)
    with open(box.path(path), "w") as file:
        file.write(text)


def ranks(box, *arguments, **env):
    full = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "python") + ":" + box.path("site"), "PYTHONDONTWRITEBYTECODE": "1"}
    for name in ("RANK", "WORLD_SIZE", "TARE_SIM_RANKS"):
        full.pop(name, None)
    full.update(env)
    return subprocess.run([PYTHON, "-m", "tare.simulated_ranks", *arguments], cwd=box.path("."), env=full, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)


@case
def the_program_sees_a_larger_world(box):
    write(box, "site/torch/__init__.py", "")
    write(box, "site/torch/distributed/__init__.py", "")
    write(box, "site/torch/distributed/distributed_c10d.py", GROUPS)
    write(box, "site/torch/distributed/rendezvous.py", RENDEZVOUS)
    write(box, "programs/train.py", PROGRAM)
    write(box, "programs/beside.py", "NAME = 'beside'\n")
    done = ranks(box, "64", "programs/train.py", "--lr", "1", RANK="0", WORLD_SIZE="2")
    check_equal(done.stderr, "")
    check_equal(done.stdout.splitlines(), ["__main__ ['--lr', '1'] 64 2", "(2, 2) (1, 1) 2", "beside True"])
    check_equal(done.returncode, 7)


@case
def a_program_without_torch_runs(box):
    write(box, "programs/plain.py", "print('plain')\n")
    done = ranks(box, "4", "programs/plain.py", RANK="0", WORLD_SIZE="4")
    check_equal([done.stdout, done.stderr, done.returncode], ["plain\n", "", 0])


@case
def what_makes_no_sense_is_refused(box):
    for arguments, env, said in ((["train.py"], {}, "how many ranks the job has"),
                                 (["64", "train.py"], {}, "start it by torchrun"),
                                 (["1", "train.py"], {"RANK": "0", "WORLD_SIZE": "2"}, "2 ranks run of a job of 1")):
        done = ranks(box, *arguments, **env)
        check(done.returncode == 1 and not done.stdout, done)
        check_says(done.stderr, "tare.simulated_ranks", said)


main()
