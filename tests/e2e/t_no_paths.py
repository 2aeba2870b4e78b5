#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`--no-paths`: no byte of what `tare` writes has a folder's name in it.

Every program is in a folder of an unmistakable name, and is run from it; so is whatever else has a path."""

import json
import os
import shutil
import subprocess

from harness import (FIXTURES, ROOT, SIMGPU, WRAPPER, Skip, case, check, check_equal, check_says, main, needs_exec,
                     needs_own_command, record_args, tare_argv)

WORD = "unmistakable"

def place(box, source, *names):
    """A copy of the file in a folder of that name; its path from the box."""
    names = (WORD,) + names
    os.makedirs(os.path.dirname(box.path(*names)), exist_ok=True)
    if not os.path.exists(box.path(*names)):  # it may run still
        shutil.copy(source, box.path(*names))
    return os.path.join(*names)


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


def by_tare(box):
    """What `tare` itself writes of a recording."""
    names = os.listdir(box.path("rec.tare"))
    return [os.path.join("rec.tare", n) for n in names if n == "recording.json" or n.startswith(("tare.", "ctl-"))]


def record(box, argv, rec="rec.tare", options=(), **more):
    return box.record(argv, rec=rec, options=("--no-paths",) + tuple(options), **more)


def records(box, kind, rec="rec.tare"):
    done = box.tare("dump", rec, "--json")
    check_equal(done.code, 0, done)
    lines = [json.loads(line) for line in done.out.splitlines()]
    return [line for line in lines if line.get("kind") == kind]


@case
def what_recording_json_has(box):
    argv = program(box, "e2e_alloc")
    profile = place(box, os.path.join(ROOT, "simgpu", "profiles", "h200.profile"), "own.profile")
    record(box, argv + [box.path(WORD)], sim=profile, env={
        "XLA_FLAGS": "--xla_dump_to=" + box.path(WORD), "PYTORCH_ALLOC_CONF": "expandable_segments:True",
        "RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "MASTER_ADDR": "here", "MASTER_PORT": "1",
        "TORCHELASTIC_RUN_ID": box.path(WORD, "job17"), "TMPDIR": box.path(WORD)})
    check_no_paths(box, *by_tare(box))
    with open(box.path("rec.tare", "recording.json"), encoding="utf-8") as file:
        said = json.load(file)
    check_equal((said["rank"], said["world"], said["job"]), (1, 2, "job17"))
    check_equal(said["environment"], {"PYTORCH_ALLOC_CONF": "expandable_segments:True"})
    told = [r["text"] for r in records(box, "launch") if r["log"] == "tare.events"]
    check("TORCHELASTIC_RUN_ID=job17\n" in told[0], told)


@case
def while_it_is_on_a_network_file_system(box):
    """The recording says meanwhile where it really is: not below TMPDIR, which may be at home."""
    os.mkdir(box.path(WORD))
    env = {"TARE_TEST_REMOTE_FOLDER": "1", "TMPDIR": box.path(WORD)}
    running = box.start(tare_argv(*record_args(program(box, "e2e_steps"), options=("--no-paths",))), env=env,
                        stdin=subprocess.PIPE)
    check_equal(running.stdout.readline(), b"ready\n")
    check_no_paths(box, "rec.tare/recording.json")
    with open(box.path("rec.tare", "recording.json"), encoding="utf-8") as file:
        spool = json.load(file)["spool"]
    check(os.path.isdir(spool), spool)
    out, err = running.communicate(b"quit\n", timeout=60)
    check_equal(running.returncode, 0, out, err)
    check(not os.path.exists(os.path.dirname(spool)), spool)
    check_no_paths(box, *by_tare(box))


@case
def a_program_that_cannot_be_recorded(box):
    needs_own_command()
    static = os.path.join(FIXTURES, "e2e_static")
    if not os.path.exists(static):
        raise Skip("there is no static libc")
    done = record(box, [place(box, static, "e2e_static")], exit_code=None)
    check_says(done.err, "statically linked")
    check_no_paths(box, *by_tare(box))


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
    check_no_paths(box, *by_tare(box))


if __name__ == "__main__":
    main()
