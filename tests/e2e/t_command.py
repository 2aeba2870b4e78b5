#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tare makes of the command: how it starts, what of it is passed on, how it ends."""

import os
import re
import shutil
import stat

from harness import (IS_LONG, Skip, WRAPPER, case, check, check_equal, check_says, fixture, main,
                     needs_exec, needs_own_command, needs_root)


def script(box, name, text, mode=0o755):
    path = box.path(name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    os.chmod(path, mode)
    return path


@case
def command_that_is_not_there(box):
    done = box.record(["no-such-program-4711"], sim=None, exit_code=127)
    check_says(done.err, "no-such-program-4711", "no such command", "PATH")
    check(not os.path.exists(box.path("rec.tare")), "a recording of nothing was left")


@case
def file_that_is_not_executable(box):
    path = script(box, "plain.txt", "hello\n", 0o644)
    done = box.record([path], sim=None, exit_code=126)
    check_says(done.err, path, "cannot be executed", "chmod +x")
    check(not os.path.exists(box.path("rec.tare")), "a recording of nothing was left")


@case
def pipe_as_command(box):
    """Nobody waits for whoever writes into it."""
    os.mkfifo(box.path("pipe"), 0o755)
    done = box.record([box.path("pipe")], sim=None, exit_code=126, timeout=20)
    check_says(done.err, box.path("pipe"), "cannot be executed")


@case
def folder_as_command(box):
    os.mkdir(box.path("folder"))
    done = box.record([box.path("folder")], sim=None, exit_code=126)
    check_says(done.err, box.path("folder"), "folder", "program in it")


@case
def script_without_an_interpreter(box):
    """The shell runs it, as everywhere."""
    needs_exec()
    path = script(box, "job", "echo started; exit 6\n")
    done = box.record([path], sim=None, exit_code=6)
    check_equal(done.out, "started\n")


@case
def interpreter_that_is_not_there(box):
    path = script(box, "script", "#!/no/such/interpreter\n")
    done = box.record([path], sim=None, exit_code=127)
    check_says(done.err, path, "interpreter")


@case
def nothing_to_run(box):
    done = box.tare("record", "-o", "rec.tare")
    check_equal(done.code, 2, done)
    check_says(done.err, "record", "CMD")


@case
def script_with_an_interpreter(box):
    needs_exec()
    path = script(box, "job", "#!/bin/sh\necho started\n%s\nexit 7\n" % fixture("e2e_alloc")[0])
    done = box.record([path], exit_code=7)
    check(done.out.startswith("started\nexpect"), done)
    check(box.report()["opened_gpu"], "the program in the script was not recorded")


@case
def exit_codes_are_the_commands(box):
    needs_exec()
    for code in range(256) if IS_LONG else (0, 1, 2, 77, 125, 126, 127, 128, 200, 255):
        box.record(["/bin/sh", "-c", "exit %d" % code], rec="rec%d.tare" % code, sim=None,
                   exit_code=code)


@case
def signals_become_exit_codes(box):
    needs_exec()
    for number in (1, 2, 6, 9, 11, 13, 15):
        box.record(["/bin/sh", "-c", "kill -%d $$" % number], rec="rec%d.tare" % number, sim=None,
                   exit_code=128 + number)


@case
def streams_are_passed_through(box):
    needs_exec()
    data = bytes(range(256)) * 4096
    done = box.record(["/bin/sh", "-c", "cat; printf 'on stderr\\377' >&2"], sim=None, input=data)
    check(done.stdout == data, "stdout is not what went in")
    check(done.err.startswith("on stderr\ufffd"), done)


@case
def closed_streams_stay_closed(box):
    needs_exec()
    done = box.run(["/bin/sh", "-c", '"$@" <&- >&-', "sh"] + tare(box, "/bin/sh", "-c",
                   "ls -l /proc/self/fd/0 /proc/self/fd/1 >fds 2>&1; exit 3"))
    check_equal(done.code, 3, done)
    with open(box.path("fds"), encoding="utf-8") as text:
        check("rec.tare" not in text.read(), "tare's files took the place of closed streams")


def tare(box, *command):
    from harness import record_args, tare_argv
    return tare_argv(*record_args(command, sim=None))


@case
def what_the_hint_says_records_it(box):
    """A program with neither GPU nor PyTorch: what `tare run` tells to try has its memory."""
    needs_exec()
    done = box.record(fixture("e2e_heap", "each"), sim=None)
    hint = re.search(r"nothing was recorded: .*tare run (--host=\w+)", done.err)
    check(hint, done)
    done = box.record(fixture("e2e_heap", "each"), rec="heap.tare", sim=None, options=[hint.group(1)])
    check("nothing was recorded" not in done.err, done)
    check(any(device["heap"] for device in box.report("heap.tare")["devices"]), done)
    check_says(" ".join(box.tare("doctor").out.split()), "tare run --host=sample")


@case
def program_that_never_opens_the_gpu(box):
    for arguments in ([], ["open"]):
        name = "rec%d.tare" % len(arguments)
        done = box.record(fixture("e2e_idle", *arguments), rec=name)
        check_equal(done.out, "idle\n")
        if not WRAPPER:
            check_says(done.err, "nothing was recorded", "tare run --host=sample", "tare doctor")
        left = sorted(f for f in os.listdir(box.path(name)) if not f.startswith("tare."))
        check_equal(left, ["control", "recording.json"], "an idle program recorded something")
        check_equal(box.report(name)["opened_gpu"], False)


@case
def run_shows_the_ledger(box):
    """On stderr; stdout is the program's. `tare CMD` is short for it."""
    for words in (["run", "--sim", "h200", "-o", "rec1.tare", "--"], ["--sim", "h200", "--"]):
        done = box.tare(*(words + fixture("e2e_ends", "_exit")))
        check_equal(done.code, 3, done)
        check(all(l.split("\t")[0] in ("expect", "used") for l in done.out.splitlines()), done)
        check_says(done.err, "tare: exit 3", "AT PEAK", "AT END", "unexplained", "allocations: e2e_ends")


@case
def static_program(box):
    needs_own_command()
    done = box.record(fixture("e2e_static", "x"), exit_code=9)
    check_equal(done.out, "static x\n")
    check_says(done.err, "e2e_static", "statically linked", "link it dynamically")
    check(any("statically linked" in d for d in box.report()["degraded"]), "the report does not say so")


@case
def setuid_program(box):
    needs_root()
    needs_exec()
    path = box.path("changes_user")
    shutil.copy(fixture("e2e_idle")[0], path)
    os.chown(path, 65534, 65534)
    os.chmod(path, 0o755 | stat.S_ISUID)
    if os.statvfs(box.dir).f_flag & os.ST_NOSUID:
        raise Skip("the folder for temporary files is mounted nosuid")
    done = box.record([path])
    check_equal(done.out, "idle\n")
    check_says(done.err, path, "setuid", "run tare as that user")


# _start: exit(7) by int 0x80.
ELF32 = (b"\x7fELF\x01\x01\x01" + bytes(9) + bytes.fromhex(
    "0200030001000000548004083400000000000000000000003400200001000000"
    "00000000" "01000000000000000080040800800408600000006000000005000000"
    "00100000") + bytes.fromhex("b807000000" "89c3" "b801000000" "cd80"))[:]


@case
def program_of_32_bits(box):
    needs_exec()
    if os.uname().machine != "x86_64":
        raise Skip("this kernel runs no 32-bit programs of x86")
    path = box.path("small")
    with open(path, "wb") as out:
        out.write(ELF32)
    os.chmod(path, 0o755)
    try:
        alone = box.run([path])
    except OSError as why:
        raise Skip("this kernel runs no 32-bit programs: %s" % why)
    check_equal(alone.code, 7, alone)
    done = box.record([path], exit_code=7)
    check_says(done.err, path, "32-bit")
    check("ld.so" not in done.err and "wrong ELF class" not in done.err, done)
    job = script(box, "job", "#! %s argument\n" % path)
    done = box.record([job], rec="job.tare", exit_code=7)
    check_says(done.err, job, "32-bit")
    check("ld.so" not in done.err and "wrong ELF class" not in done.err, done)


@case
def commands_that_start_it_elsewhere(box):
    needs_exec()
    os.mkdir(box.path("bin"))
    for name in ("docker", "ssh", "kubectl"):
        path = script(box, "bin/" + name, "#!/bin/sh\nexit 0\n")
        done = box.record([path], rec=name + ".tare", sim=None)
        check_says(done.err, "nothing was recorded", name, "tare")


main()
