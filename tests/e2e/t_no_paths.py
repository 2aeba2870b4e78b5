#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`--no-paths`: no byte of what Tare writes has a folder's name in it, and reports still name functions, lines and owners.

Every program is in a folder of an unmistakable name, and is run from it; so is whatever else has a path."""

import json
import os
import shutil
import signal
import subprocess

from harness import (FIXTURES, PYTHON, ROOT, SIMGPU, WRAPPER, case, check, check_equal, check_says, main, needs,
                     needs_exec, needs_own_command, needs_torch, program_of, record_args, tare_argv)
from phases import phases_of
from sweeps import query, sweep_argv

WORD = "unmistakable"
LINES = os.path.join(ROOT, "tests", "e2e", "fixtures", "lines.py")

# A model, whose module is installed, and which makes tensors in PyTorch's own files too.
TRAIN = """
import torch
from installed_here import Model

def step(model):
    return model(torch.ones(64, 256)).sum().backward()

model = Model()
step(model)
"""
MODEL = """
import torch

class Model(torch.nn.Linear):
    def __init__(self):
        super().__init__(256, 256)
"""


def place(box, source, *names):
    """A copy of the file in a folder of that name; its path from the box."""
    names = (WORD,) + names
    os.makedirs(os.path.dirname(box.path(*names)), exist_ok=True)
    if not os.path.exists(box.path(*names)):  # it may run still
        shutil.copy(source, box.path(*names))
    return os.path.join(*names)


def write(box, text, *names):
    os.makedirs(os.path.dirname(box.path(WORD, *names)), exist_ok=True)
    with open(box.path(WORD, *names), "w", encoding="utf-8") as file:
        file.write(text)
    return os.path.join(WORD, *names)


def program(box, name):
    return WRAPPER + [os.path.join(".", place(box, os.path.join(FIXTURES, name), name))]


def files_of(path):
    if not os.path.isdir(path):
        return [path]
    return [os.path.join(place, name) for place, _, names in os.walk(path) for name in names]


def check_no_paths(box, *written):
    """In no file, whole or in part: not the word, not the box, not the home, not where Tare itself is."""
    folders = [WORD, os.path.basename(box.dir), os.path.dirname(SIMGPU), ROOT]
    home = os.path.realpath(os.path.expanduser("~"))
    folders += [home + "/"] if len(home) > 1 else []
    for name in written:
        files = files_of(box.path(name))
        check(files, name)
        for file in files:
            with open(file, "rb") as opened:
                content = opened.read()
            for folder in folders:
                at = content.find(folder.encode())
                check(at < 0, "%s has %s" % (file, folder), content[max(at - 80, 0):at + 80])


def record(box, argv, rec="rec.tare", options=(), **more):
    return box.record(argv, rec=rec, options=("--no-paths",) + tuple(options), **more)


def records(box, kind, rec="rec.tare"):
    done = box.tare("dump", rec, "--json")
    check_equal(done.code, 0, done)
    lines = [json.loads(line) for line in done.out.splitlines()]
    return [line for line in lines if line.get("kind") == kind]


def owners(box, rec):
    done = box.tare("report", rec, "--by", "owner", "--at", "end")
    check_says(done.out, "e2e_alloc")
    return done.out


def functions(box, rec):
    return sorted({r["text"] for r in records(box, "symbol", rec)})


@case
def a_program_of_c(box):
    needs_own_command()
    argv = program(box, "e2e_alloc")
    record(box, argv)
    check_no_paths(box, "rec.tare")
    box.record(argv, rec="all.tare")
    check_equal(functions(box, "rec.tare"), functions(box, "all.tare"))
    check("main" in functions(box, "rec.tare") or WRAPPER, functions(box, "rec.tare"))
    check_equal(owners(box, "rec.tare"), owners(box, "all.tare"))
    check_equal({os.path.basename(r["text"]) for r in records(box, "object", "all.tare")},
                {r["text"] for r in records(box, "object")})
    with open(box.path("all.tare", "recording.json"), encoding="utf-8") as file:
        check(WORD in file.read(), "this test finds nothing")


@case
def children_and_other_programs(box):
    needs_exec()
    argv = program(box, "e2e_exec")
    record(box, argv + ["chain", "3"])
    check_no_paths(box, "rec.tare")
    found = {(r["pid"], r["generation"]) for r in records(box, "symbol") if r["text"] == "main"}
    check(len(found) > 1, "only these have a function's name: %s" % sorted(found))


@case
def what_recording_json_has(box):
    argv = program(box, "e2e_alloc")
    profile = place(box, os.path.join(ROOT, "simgpu", "profiles", "h200.profile"), "own.profile")
    record(box, argv + [box.path(WORD)], sim=profile, env={
        "XLA_FLAGS": "--xla_dump_to=" + box.path(WORD), "PYTORCH_ALLOC_CONF": "expandable_segments:True",
        "RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "MASTER_ADDR": "here", "MASTER_PORT": "1",
        "TORCHELASTIC_RUN_ID": box.path(WORD, "job17"), "TMPDIR": box.path(WORD)})
    check_no_paths(box, "rec.tare")
    with open(box.path("rec.tare", "recording.json"), encoding="utf-8") as file:
        said = json.load(file)
    check_equal((said["rank"], said["world"], said["job"]), (1, 2, "job17"))
    check_equal(said["environment"], {"PYTORCH_ALLOC_CONF": "expandable_segments:True"})
    check("TORCHELASTIC_RUN_ID=job17\n" in records(box, "launch")[0]["text"], records(box, "launch"))


@case
def a_program_of_python(box):
    needs_exec()
    script = place(box, LINES, "src", "lines.py")
    record(box, [PYTHON, script], options=("--phase", script + ":19", "--phase", "src/lines.py:45"), exit_code=7)
    check_no_paths(box, "rec.tare")
    done = box.tare("report", "rec.tare", "--by", "line", "--at", "end")
    check_says(done.out, "lines.py:14 in take")
    done = box.tare("report", "rec.tare", "--line", "lines.py:14", "--parts", "--at", "end")
    check_equal(done.code, 0, done)
    check({"lines.py:19", "lines.py:45"} <= set(phases_of(box)[0]), phases_of(box)[0])
    done = box.tare("report", "rec.tare", "--by", "line", "--annotate", script, "--at", "end")
    check_equal(done.code, 0, done)
    check_says(done.out, "assert cuda.cuMemAlloc_v2")


@case
def installed_modules_stay_libraries(box):
    needs_torch()
    write(box, MODEL, "lib", "python3", "site-packages", "installed_here.py")
    script = write(box, TRAIN, "src", "train.py")
    env = {"PYTHONPATH": box.path(WORD, "lib", "python3", "site-packages"), "PYTHONDONTWRITEBYTECODE": "1"}
    for rec, options in (("rec.tare", ("--no-paths",)), ("all.tare", ())):
        box.record([PYTHON, script], rec=rec, options=options, env=env, sim=None, timeout=300)
    check_no_paths(box, "rec.tare")
    texts = [r["text"] for r in records(box, "string")]
    check("/site-packages/installed_here.py" in texts and "train.py" in texts, texts)
    own, all_paths = (box.tare("report", rec, "--by", "line", "--at", "end").out for rec in ("rec.tare", "all.tare"))
    found = [[word for word in text.split() if word.startswith("train.py:")] for text in (own, all_paths)]
    check(found[0], own)
    check_equal(found[0], found[1])


@case
def a_sweep(box):
    needs_exec()
    argv = program(box, "e2e_cell")
    grid = ("--no-paths", "--launcher", "env A=" + box.path(WORD), "--grid")
    done = box.run(sweep_argv(*grid, "n=1,2", command=argv + ["mib={n}"]))
    check_equal(done.code, 0, done)
    check_no_paths(box, "t.db", "t.db.d")
    check_equal(query(box, "SELECT status,note FROM runs"), [("ok", None)] * 2)
    check_equal(json.loads(query(box, "SELECT value FROM sweep WHERE key='command'")[0][0]),
                [os.path.basename(argv[0])])
    check("main" in functions(box, "t.db.d/" + query(box, "SELECT recording FROM runs")[0][0]))
    done = box.tare("sweep", "--resume", "-o", "t.db")
    check_equal(done.code, 2, done)
    check_says(done.err, "begun with --no-paths", "give --resume the command")
    done = box.run(sweep_argv("--resume", *grid, "n=1,2,3", command=argv + ["mib={n}"]))
    check_equal(done.code, 0, done)
    check_equal(query(box, "SELECT status FROM runs"), [("ok",)] * 3)
    check_no_paths(box, "t.db", "t.db.d")


def killed(box, whom, rec):
    argv = program(box, "e2e_steps")
    running = box.start(tare_argv(*record_args(argv, rec=rec, options=("--no-paths", "--cap", "1MiB"))),
                        stdin=subprocess.PIPE)
    check_equal(running.stdout.readline(), b"ready\n")
    running.stdin.write(b"storm 200\n")
    running.stdin.flush()
    while len(running.stdout.readline()) > 0:
        if os.path.exists(box.path(rec)) and any(n.endswith(".ring") for n in os.listdir(box.path(rec))):
            break
    child = program_of(running)
    for pid in whom(running.pid, child):
        os.kill(pid, signal.SIGKILL)
    if child not in whom(running.pid, child):
        running.stdin.close()
        running.stdout.read()
    for pipe in (running.stdin, running.stdout, running.stderr):
        pipe.close()
    running.wait()


@case
def after_kills(box):
    """The ring file stays, the memory in which paths were told does not."""
    for name, whom in (("tare", lambda tare, child: [tare]), ("both", lambda tare, child: [tare, child]),
                       ("program", lambda tare, child: [child])):
        killed(box, whom, name + ".tare")
        check_no_paths(box, name + ".tare")
        check(os.path.exists(box.path(name + ".tare", "control")), name)
    check([n for n in os.listdir(box.path("both.tare")) if n.endswith(".ring")], os.listdir(box.path("both.tare")))


@case
def while_it_is_on_a_network_file_system(box):
    """The recording says meanwhile where it really is: not below TMPDIR, which may be at home."""
    os.mkdir(box.path(WORD))
    env = {"TARE_TEST_REMOTE_FOLDER": "1", "TMPDIR": box.path(WORD)}
    running = box.start(tare_argv(*record_args(program(box, "e2e_steps"), options=("--no-paths",))), env=env,
                        stdin=subprocess.PIPE)
    check_equal(running.stdout.readline(), b"ready\n")
    check_no_paths(box, "rec.tare")
    with open(box.path("rec.tare", "recording.json"), encoding="utf-8") as file:
        spool = json.load(file)["spool"]
    check(os.path.isdir(spool), spool)
    out, err = running.communicate(b"quit\n", timeout=60)
    check_equal(running.returncode, 0, out, err)
    check(not os.path.exists(os.path.dirname(spool)), spool)
    check_no_paths(box, "rec.tare")


@case
def a_program_that_cannot_be_recorded(box):
    needs_own_command()
    static = os.path.join(FIXTURES, "e2e_static")
    needs(os.path.exists(static), "libc6-dev")
    done = record(box, [place(box, static, "e2e_static")], exit_code=None)
    check_says(done.err, "statically linked")
    check_no_paths(box, "rec.tare")


@case
def what_tare_ctl_writes(box):
    needs_exec()
    argv = program(box, "e2e_steps")
    job = {"RANK": "0", "WORLD_SIZE": "1", "TORCHELASTIC_RUN_ID": box.path(WORD, "job")}
    running = box.start(tare_argv(*record_args(argv, options=("--no-paths",))), stdin=subprocess.PIPE)
    check_equal(running.stdout.readline(), b"ready\n")
    done = box.tare("ctl", "rec.tare", "snapshot", "half", env=job)
    check_equal(done.code, 0, done)
    running.stdin.close()
    running.stdout.read()
    running.stdout.close()
    running.stderr.close()
    running.wait()
    check([n for n in os.listdir(box.path("rec.tare")) if n.startswith("ctl-")], os.listdir(box.path("rec.tare")))
    check_no_paths(box, "rec.tare")


@case
def only_tares_own_memory_is_told(box):
    """Whatever TARE_NO_PATHS names by now: a file of the user's is not written."""
    needs_exec()
    write(box, "mine", "file")
    box.record(program(box, "e2e_alloc"), env={"TARE_NO_PATHS": box.path(WORD, "file")})
    with open(box.path(WORD, "file"), encoding="utf-8") as file:
        check_equal(file.read(), "mine")
    check("e2e_alloc" in {r["text"] for r in records(box, "object")}, records(box, "object"))


@case
def a_limit_for_files_ends_no_program(box):
    needs_exec()
    done = record(box, ["/bin/sh", "-c", 'ulimit -f 0; exec "$@"', "sh"] + program(box, "e2e_alloc"), exit_code=None)
    check_equal(done.code, 0, done)


if __name__ == "__main__":
    main()
