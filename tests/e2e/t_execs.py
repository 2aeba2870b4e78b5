#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Executing in odd ways: what a program is answered is the kernel's, and what it becomes is recorded."""

import json
import os
import shutil
import subprocess
import sys

from harness import (FIXTURES, Skip, case, check, check_equal, check_recording, fixture, main, needs_exec,
                     needs_root)

ALLOC = os.path.join(FIXTURES, "e2e_alloc_link")  # finds the simulated driver by itself
WRAP = os.path.join(FIXTURES, "libe2e_exec_wrap.so")
LEAST_STACK = 16384
OURS = 4096  # of a stack


def both(box, *words, **more):
    """(recorded, alone) of the fixture, each in a folder of its own."""
    out = []
    for name in ("recorded", "alone"):
        os.makedirs(box.path(name), exist_ok=True)
        argv = fixture("e2e_execs", *words)
        script = 'cd %s && exec "$@"' % box.path(name)
        command = ["/bin/sh", "-c", script, "sh"] + argv
        out.append(box.record(command, sim=None, exit_code=None, options=("-f",), **more) if name == "recorded"
                   else box.run(command, **more))
    check_equal(out[0].code, out[1].code, out[0], out[1])
    return out


@case
def what_cannot_be_executed(box):
    needs_exec()
    done, alone = both(box, "refused")
    wanted, got = alone.out.splitlines(), done.out.splitlines()
    check(len(wanted) > 150, alone)
    for i, line in enumerate(wanted):
        check_equal(got[i] if i < len(got) else None, line, "line %d" % i, *got[max(0, i - 9):i + 1])
    check_equal(len(got), len(wanted))
    check_equal(done.err.split("tare: ")[0], alone.err)


@case
def largest_environment(box):
    """What the kernel takes without us it takes with us; then the child is not recorded."""
    needs_exec()
    done, alone = both(box, "most")
    check("most" in alone.out, alone)
    check_equal(done.out, alone.out)


@case
def arguments_at_the_limit(box):
    """The same where the environment has us in it already."""
    needs_exec()
    script = ("import subprocess,sys\nlow,high=1,1<<22\nwhile high-low>1:\n"
              "    m=(low+high)//2\n"
              "    try: subprocess.check_call(['/bin/true']+['x'*999]*(m//1000)+['x'*(m%1000)]); low=m\n"
              "    except OSError: high=m\nprint(low)")
    alone = box.run([sys.executable, "-c", script])
    done = box.record([sys.executable, "-c", script], sim=None)
    check_equal(done.out, alone.out)


@case
def spawn_with_attributes(box):
    needs_exec()
    done, alone = both(box, "attributes")
    check("what was in the input" in alone.out and "errno 0 status 0" in alone.out, alone)
    check_equal(done.out, alone.out)


@case
def small_stacks(box):
    """Threads of 16 KiB start programs; of their stack we take less than a page."""
    needs_exec()
    for size in (LEAST_STACK, 1 << 18):
        done, alone = both(box, "stack", str(size))
        used = [[int(line.split()[1]) for line in r.out.splitlines()] for r in (done, alone)]
        check_equal(len(used[0]), 6, done)
        more = [a - b for a, b in zip(*used)]
        check(max(more) < OURS, "bytes of stack that we take: %s" % more)


@case
def many_children_leave_nothing(box):
    needs_exec()
    done = box.record(fixture("e2e_execs", "again", "500", "/bin/true"), sim=None)
    check_equal(done.out, "more mappings 0\n")


@case
def becomes_it_in_every_way(box):
    needs_exec()
    for how in ("fexecve", "execveat", "empty", "null", "execle"):
        done = box.record(fixture("e2e_execs", "by", how, ALLOC), rec=how + ".tare")
        check_recording(box, done, how + ".tare")


@case
def is_not_said_to_be_killed(box):
    """What an exec left is told from what was killed, by itself and behind an exec."""
    needs_exec()
    for states, command in ((["replaced", "ended"], ["sh", "-c", ":"]), (["replaced", "killed"], ["sh", "-c", "kill -9 $$"]),
                            (["ended"], ["true"])):  # which asks for no memory, and so has no log
        box.record(["env"] + command, sim=None, exit_code=None, options=("-f", "--host=full"))
        processes = json.loads(box.tare("info", "rec.tare", "--json").out)["processes"]
        check_equal([p["state"] for p in processes], states, processes)


@case
def through_a_preload_of_the_program(box):
    """Whoever wraps exec still does."""
    needs_exec()
    env = {"LD_PRELOAD": WRAP}
    script = [sys.executable, "-c", "import os; os.execve('/bin/echo', ['echo', 'done'], {})"]
    alone = box.run(script, env=env)
    done = box.record(script, sim=None, env=env)
    check_equal((alone.out, done.out), ("wrapped\ndone\n",) * 2, done)


@case
def options_reach_every_child(box):
    """What the recording was started with, also where the environment was emptied."""
    needs_exec()
    done = box.record(["env", "-i", "/usr/bin/env"], sim=None,
                      options=("--no-tensors", "--no-scan", "--stacks", "none", "--phase", "a.py:1"))
    names = {line.split("=")[0] for line in done.out.splitlines()}
    check({"LD_PRELOAD", "TARE_RECORDING", "TARE_TENSORS", "TARE_SCAN", "TARE_STACKS", "TARE_PHASES"} <= names, done)


# ---- what cannot load us ----

def elf32(path):
    """What the kernel takes for a 32-bit program, and cannot run."""
    phdr = (3, 0x54 + 32, 0, 0, 32, 32, 4, 1)
    words = [2 | 3 << 16, 1, 0x8048054, 0x34, 0, 0, 0x34 | 32 << 16, 1, 0]
    data = b"\x7fELF\x01\x01\x01" + bytes(9) + b"".join(w.to_bytes(4, "little") for w in words)
    data += b"".join(v.to_bytes(4, "little") for v in phdr)
    with open(path, "wb") as out:
        out.write(data + b"\0" * 64)
    os.chmod(path, 0o755)


@case
def programs_of_32_bits(box):
    """By path, along PATH, by a script: LD_PRELOAD is taken out of the environment that they get."""
    needs_exec()
    os.mkdir(box.path("bin"))
    elf32(box.path("bin", "small32"))
    with open(box.path("bin", "script32"), "w", encoding="utf-8") as out:
        out.write("#! %s x\n" % box.path("bin", "small32"))
    os.chmod(box.path("bin", "script32"), 0o755)
    env = {"LD_PRELOAD": WRAP, "EXEC_SHOW": "1", "PATH": box.path("bin") + ":" + os.environ["PATH"]}
    calls = ["os.execve(%r, ['x'], dict(os.environ))" % box.path("bin", "small32"),
             "os.execve(%r, ['x'], dict(os.environ))" % box.path("bin", "script32"),
             "os.posix_spawnp('small32', ['x'], dict(os.environ))",
             "os.posix_spawnp('script32', ['x'], dict(os.environ))",
             "ctypes.CDLL(None).execvp(b'small32', (ctypes.c_char_p * 2)(b'x', None))",
             "os.execve('/bin/true', ['x'], dict(os.environ))"]
    for i, call in enumerate(calls):
        done = box.record([sys.executable, "-c", "import ctypes,os,sys\ntry: %s\nexcept OSError: pass" % call],
                          sim=None, env=env, rec="rec%d.tare" % i, exit_code=None)
        is_64 = "true" in call
        check_equal(done.out, "recording %d loaded %d\n" % (is_64, is_64), call, done)
        check("ld.so" not in done.err, done)


@case
def behind_a_chroot(box):
    """Where the library is not, ld.so would complain of it on the program's stderr."""
    needs_exec()
    needs_root()
    root = box.path("root")
    for program in ("/bin/sh", "/bin/true"):
        wanted = subprocess.run(["ldd", program], stdout=subprocess.PIPE, check=True).stdout.decode().split()
        for path in [program] + [w for w in wanted if w.startswith("/")]:
            os.makedirs(root + os.path.dirname(path), exist_ok=True)
            shutil.copy(path, root + path)
    command = ["chroot", root, "/bin/sh", "-c", "/bin/true; echo inside $LD_PRELOAD"]
    alone = box.run(command)
    if alone.code != 0:
        raise Skip("this machine lets nobody chroot: " + alone.err)
    done = box.record(command, sim=None)
    check_equal(done.out, alone.out)
    check_equal([line for line in done.err.splitlines() if not line.startswith("tare: ")], alone.err.splitlines())


main()
