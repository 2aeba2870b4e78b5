#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where recordings go, and what may not be lost there."""

import os
import re
import shutil
import signal
import subprocess
import time

from harness import (BUILD, FIXTURES, case, check, check_equal, check_recording, check_says, fixture, main, needs_exec,
                     record_args, row_of, tare_argv, wait_until)


def write(path, text="precious\n"):
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def read(path):
    with open(path, encoding="utf-8") as text:
        return text.read()


@case
def refuses_what_exists(box):
    os.mkdir(box.path("rec.tare"))
    done = box.record(fixture("e2e_idle"), exit_code=125)
    check_says(done.err, box.path("rec.tare"), "exists already", "-f")
    check_equal(done.out, "", "the program ran though there was nowhere to record")


@case
def force_does_not_replace_other_folders(box):
    os.mkdir(box.path("rec.tare"))
    write(box.path("rec.tare", "thesis.tex"))
    done = box.record(fixture("e2e_idle"), options=["-f"], exit_code=125)
    check_says(done.err, box.path("rec.tare"), "no recording", "choose another name")
    check_equal(read(box.path("rec.tare", "thesis.tex")), "precious\n")


@case
def force_does_not_replace_what_is_written(box):
    """Its programs would go on writing into files that nobody sees any more."""
    needs_exec()
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"))), stdin=subprocess.PIPE)
    check_equal(running.stdout.readline(), b"ready\n")
    done = box.record(fixture("e2e_idle"), options=["-f"], exit_code=125)
    check_says(done.err, box.path("rec.tare"), "still being written", "choose another name")
    running.stdin.write(b"alloc 1048576\n")
    running.communicate(b"quit\n", timeout=30)
    check_equal(row_of(box.report(), "allocations/e2e_steps"), 1048576)
    box.record(fixture("e2e_alloc"), options=["-f"])
    check_equal(row_of(box.report(), "allocations/e2e_steps"), None)


@case
def force_replaces_what_a_killed_tare_left(box):
    needs_exec()
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"))), stdin=subprocess.PIPE)
    check_equal(running.stdout.readline(), b"ready\n")
    os.kill(running.pid, signal.SIGKILL)
    running.wait(timeout=30)
    done = box.record(fixture("e2e_idle"), options=["-f"], exit_code=125)
    check_says(done.err, "still being written")
    running.communicate(b"quit\n", timeout=30)
    wait_until(lambda: box.record(fixture("e2e_alloc"), options=["-f"], exit_code=None).code == 0, "it is not replaced")


@case
def force_does_not_replace_files(box):
    write(box.path("rec.tare"))
    done = box.record(fixture("e2e_idle"), options=["-f"], exit_code=125)
    check_says(done.err, box.path("rec.tare"), "is a file", "choose another name")
    check_equal(read(box.path("rec.tare")), "precious\n")


@case
def force_does_not_follow_links(box):
    os.mkdir(box.path("elsewhere"))
    write(box.path("elsewhere", "recording.json"), "{}\n")
    os.symlink("elsewhere", box.path("rec.tare"))
    done = box.record(fixture("e2e_idle"), options=["-f"], exit_code=125)
    check_says(done.err, box.path("rec.tare"), "choose another name")
    check_equal(read(box.path("elsewhere", "recording.json")), "{}\n")


@case
def force_replaces_a_recording(box):
    box.record(fixture("e2e_alloc"))
    write(box.path("rec.tare", "1-0.events.7"))
    done = box.record(fixture("e2e_pitch"), options=["-f"])
    check_recording(box, done)
    check(not os.path.exists(box.path("rec.tare", "1-0.events.7")), "a file of the old recording is left")


@case
def folder_of_the_recording_is_private(box):
    box.record(fixture("e2e_alloc"))
    check_equal(os.stat(box.path("rec.tare")).st_mode & 0o777, 0o700)


@case
def name_of_its_own(box):
    done = box.tare("record", "--sim", "h200", "--", *fixture("e2e_idle"))
    check_equal(done.code, 0, done)
    names = [n for n in os.listdir(box.dir) if n.endswith(".tare")]
    check_equal(len(names), 1, names)
    check(re.match(r"[\w-]+-\d{8}-\d{6}-\d+\.tare$", names[0]), names)
    check_says(done.err, names[0])


@case
def nowhere_to_write(box):
    for folder in ("/proc/nowhere.tare", box.path("no/such/folder/rec.tare")):
        done = box.record(fixture("e2e_idle"), rec=folder, exit_code=125)
        check_says(done.err, folder, "cannot be made", "-o")
        check_equal(done.out, "", "the program ran though there was nowhere to record")


@case
def recording_removed_meanwhile(box):
    """Somebody tidies up: the program must not notice, and tare must end with its exit code."""
    argv = tare_argv(*record_args(fixture("e2e_steps")))
    running = box.start(argv, stdin=subprocess.PIPE)
    check_equal(running.stdout.readline(), b"ready\n")
    shutil.rmtree(box.path("rec.tare"))
    running.stdin.write(b"alloc 1000000\nstorm 2000\nquit\n")
    out, err = running.communicate(timeout=60)
    check_equal(running.returncode, 0, err.decode())
    check_equal(out.count(b"t\n"), 2000)


@case
def network_folder(box):
    """Recorded on the local disk first, and moved when it is done."""
    os.mkdir(box.path("local"))
    env = {"TARE_TEST_REMOTE_FOLDER": "1", "TMPDIR": box.path("local")}
    argv = tare_argv(*record_args(fixture("e2e_steps")))
    running = box.start(argv, env=env, stdin=subprocess.PIPE)
    check_equal(running.stdout.readline(), b"ready\n")
    check_equal(os.listdir(box.path("rec.tare")), ["recording.json"])
    meanwhile = box.report(env=env)
    check(row_of(meanwhile, "/context"), "nothing to see while it is written")
    running.stdin.write(b"alloc 1000000\nexpect end\nquit\n")
    out, err = running.communicate(timeout=60)
    check_equal(running.returncode, 0, err.decode())
    check_equal(os.listdir(box.path("local")), [], "the spool was left behind")
    check_equal(row_of(box.report(), "allocations/e2e_steps"), 1000000)


@case
def network_folder_that_fills_up(box):
    """What cannot be moved stays where it is, and the last line says where."""
    needs_exec()
    os.mkdir(box.path("local"))
    env = {"TARE_TEST_REMOTE_FOLDER": "1", "TMPDIR": box.path("local")}
    running = box.start(tare_argv(*record_args(fixture("e2e_steps"))), env=env, stdin=subprocess.PIPE)
    check_equal(running.stdout.readline(), b"ready\n")
    shutil.rmtree(box.path("rec.tare"))
    running.stdin.write(b"alloc 1000000\nquit\n")
    out, err = running.communicate(timeout=60)
    check_equal(running.returncode, 0, err.decode())
    check_says(err.decode(), "stays in " + box.path("local"))
    spool = re.search(r"stays in ([^\s:]+)", err.decode()).group(1)
    check_equal(row_of(box.report(spool), "allocations/e2e_steps"), 1000000)


def copy_of_build(box, name):
    """tare and what it needs, somewhere else."""
    base = box.path(name)
    os.makedirs(os.path.join(base, "src", "recorder"))
    shutil.copy(os.path.join(BUILD, "tare"), base)
    shutil.copy(os.path.join(BUILD, "src", "recorder", "libtare_recorder.so"),
                os.path.join(base, "src", "recorder"))
    os.mkdir(os.path.join(base, "simgpu"))
    for library in ("libcuda.so.1", "libnvidia-ml.so.1"):
        shutil.copy(os.path.join(BUILD, "simgpu", library), os.path.join(base, "simgpu"))
    shutil.copytree(os.path.join(BUILD, "simgpu", "profiles"),
                    os.path.join(base, "simgpu", "profiles"))
    return os.path.join(base, "tare")


@case
def installed_under_a_path_that_preload_cannot_say(box):
    needs_exec()
    for name in ("a b", "a b:c", "d;e"):
        tare = copy_of_build(box, name)
        rec = name.replace(":", "_").replace(";", "_") + ".tare"
        done = box.run([tare] + record_args(fixture("e2e_alloc"), rec=rec))
        check_equal(done.code, 0, done)
        check("ld.so" not in done.err and "cannot be preloaded" not in done.err, done)
        check_recording(box, done, rec)


@case
def preloads_of_the_user_are_kept(box):
    for name in ("libe2e_interpose.so", "libe2e_interpose_dl.so"):
        env = {"LD_PRELOAD": os.path.join(FIXTURES, name)}
        done = box.record(fixture("e2e_interposed"), rec=name + ".tare", env=env)
        check_recording(box, done, name + ".tare")
        alone = box.run(fixture("e2e_interposed"), sim=True, env=env)
        check_equal(alone.code, 0, alone)
        check_equal(done.out.splitlines()[0], alone.out.splitlines()[0], name)


@case
def recording_goes_on_when_tare_is_gone(box):
    argv = tare_argv(*record_args(fixture("e2e_steps")))
    running = box.start(argv, stdin=subprocess.PIPE)
    check_equal(running.stdout.readline(), b"ready\n")
    running.send_signal(signal.SIGKILL)
    running.wait()
    running.stdin.write(b"alloc 1000000\nstorm 40000\nexpect end\nquit\n")
    running.stdin.close()
    out = running.stdout.read()
    check_equal(out.count(b"t\n"), 40000, "the program did not go on")
    time.sleep(0.1)
    report = box.report()
    check_equal(row_of(report, "allocations/e2e_steps"), 1000000 + 20000 * 1001)


main()
