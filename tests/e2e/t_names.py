#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings, rows and titles have the names that people know: of the script, of its workers, of ranks."""

import json
import os
import re

from harness import case, check, check_equal, check_says, main, needs, needs_exec, tare_argv

PYTHON = "/usr/bin/python3"

# Takes MIBS MiB of the GPU in a function that multiprocessing can call.
TRAIN = """
import ctypes, multiprocessing, sys

def take(mibs):
    cuda = ctypes.CDLL("libcuda.so.1")
    context, memory = ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0 and cuda.cuMemAlloc_v2(ctypes.byref(memory), mibs << 20) == 0

def work(mibs, has_taken, may_end):
    take(mibs)
    has_taken.set()
    may_end.wait()

def start(mibs, how, may_end):
    has_taken = how.Event()
    how.Process(target=work, args=(mibs, has_taken, may_end)).start()
    has_taken.wait()

if __name__ == "__main__":
    how = multiprocessing.get_context(sys.argv[1] if sys.argv[1:] else "spawn")
    may_end = how.Event()
    for mibs in range(3, 7, 2) if sys.argv[1:] else ():
        start(mibs, how, may_end)
    take(7)
    may_end.set()
"""


def write(box, name="train.py"):
    needs_exec()
    needs(os.path.exists(PYTHON), "python3")
    os.makedirs(os.path.dirname(box.path(name)), exist_ok=True)
    with open(box.path(name), "w", encoding="utf-8") as file:
        file.write(TRAIN)


def row_labels(box, rec):
    done = box.tare("report", rec, "--at", "peak", "--json")
    check_equal(done.code, 0, done)
    rows = [row for device in json.loads(done.out)["devices"] for row in device["accounts"]]
    return sorted({re.sub(r" \(pid \d+\)", "", row["label"]) for row in rows if "(pid " in row["label"]})


def record(box, *args, **more):
    done = box.tare("run", "--sim", "h200", "-o", "rec.tare", "--", PYTHON, "train.py", *args, **more)
    check_equal(done.code, 0, done)
    return done


@case
def a_recording_has_the_scripts_name(box):
    write(box, "lib/train.py")
    done = box.tare("run", "--sim", "h200", "--", PYTHON, "-u", "lib/train.py")
    check_equal(done.code, 0, done)
    found = [name for name in os.listdir(box.path()) if name.endswith(".tare")]
    check(len(found) == 1 and re.fullmatch(r"train\.py-\d{8}-\d{6}-\d+\.tare", found[0]), found)
    done = box.tare("run", "--sim", "h200", "-o", "code.tare", "--", PYTHON, "-c", "print(1)")
    check_equal(done.code, 0, done)
    swept = box.tare("sweep", "--sim", "h200", "--grid", "a=1", "--", PYTHON, "lib/train.py")
    check_equal(swept.code, 0, swept)
    check([name for name in os.listdir(box.path()) if re.fullmatch(r"train\.py-sweep-\d{8}-\d{6}-\d+\.db", name)])


@case
def rows_and_titles_have_it(box):
    write(box)
    record(box)
    check_equal(row_labels(box, "rec.tare"), ["train.py"])
    check_says(box.tare("report", "rec.tare", "--by", "process").out, "train.py (pid ")


@case
def forked_workers_are_numbered(box):
    write(box)
    record(box, "fork")
    check_equal(row_labels(box, "rec.tare"), ["train.py", "train.py worker 1", "train.py worker 2"])


@case
def spawned_workers_are_numbered(box):
    """multiprocessing starts them as `python3 -c CODE`."""
    write(box)
    record(box, "spawn")
    check_equal(row_labels(box, "rec.tare"), ["train.py", "train.py worker 1", "train.py worker 2"])


@case
def ranks_have_their_number(box):
    write(box)
    os.mkdir(box.path("job"))
    for rank in range(2):
        env = {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank), "TORCHELASTIC_RUN_ID": "a job",
               "MASTER_ADDR": "here", "MASTER_PORT": "1"}
        done = box.tare("run", "--sim", "h200", "-o", "job/r%d.tare" % rank, "--", PYTHON, "train.py", env=env)
        check_equal(done.code, 0, done)
    labels = [row_labels(box, "job/r%d.tare" % rank) for rank in range(2)]
    check_equal(labels, [["train.py rank 0"], ["train.py rank 1"]])
    picture = box.tare("report", "job", "--svg", "job.svg")
    check_equal(picture.code, 0, picture)


@case
def a_program_that_is_no_python_keeps_its_name(box):
    needs_exec()
    done = box.run(tare_argv("demo", "--sim", "h200", "-o", "rec.tare"))
    check_equal(done.code, 0, done)
    check_says(done.err, "host  demo (pid ")


if __name__ == "__main__":
    main()
