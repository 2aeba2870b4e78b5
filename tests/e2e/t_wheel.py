#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel: made of what is installed, the same bytes twice, and from `pip install FILE` to an answer."""

import ast
import base64
import csv
import glob
import hashlib
import os
import re
import resource
import shutil
import sys
import time
import zipfile

from harness import (BUILD, IS_LONG, ROOT, VERSION, WRAPPER, Skip, case, check, check_equal, check_recording, check_says,
                     fixture, main, needs_exec)

MOST_BYTES = 5 << 20
# The oldest Python on whose machine a wheel is to work.
OLDEST_PYTHON = (3, 6)
# The system's: the tests' own may be in an environment.
PYTHON = next((p for p in ("/usr/bin/python3", sys.executable) if os.path.exists(p)), None)

# The driver by ctypes: a Python program that takes 5 MiB of a GPU in its line 5.
JOB = """import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
context, memory = ctypes.c_void_p(), ctypes.c_void_p()
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0 and cuda.cuMemAlloc_v2(ctypes.byref(memory), 5 << 20) == 0
"""


def machine():
    """What the build is for, as wheels say it."""
    with open(os.path.join(BUILD, "tare"), "rb") as program:
        return {62: "x86_64", 183: "aarch64"}[program.read(20)[18]]


def make_dist(box):
    """The dist folder of this build, as tools/make-dist.sh makes it of its own."""
    done = box.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--strip", "--destdir", box.path("root")])
    check_equal(done.code, 0, done)
    dist = box.path("tare-%s-%s" % (VERSION, machine()))
    shutil.move(os.path.dirname(glob.glob(box.path("root", "**", "bin"), recursive=True)[0]), dist)
    for name in ("README.md", "LICENSE", "LICENSE.zstd", "LICENSE.libbacktrace", "CHANGELOG.md"):
        shutil.copy(os.path.join(ROOT, name), dist)
    return dist


def make_wheel(box, out="wheels"):
    dist = glob.glob(box.path("tare-*"))
    done = box.run([os.path.join(ROOT, "tools", "make-wheel.py"), dist[0] if dist else make_dist(box), box.path(out)])
    check_equal(done.code, 0, done)
    return done.out.splitlines()[-1]


def make_venv(box, name, wheel=None):
    """A fresh environment: answers a function that runs a program of it."""
    done = box.run([PYTHON, "-m", "venv", box.path(name)], timeout=240)
    if done.code:
        raise Skip("python3 -m venv does not work here: " + (done.out + done.err).strip().splitlines()[0])

    def run(program, *args, **more):
        return box.run([box.path(name, "bin", program)] + list(args), timeout=240, **more)

    if wheel:
        done = run("pip", "install", "--no-index", "--disable-pip-version-check", wheel)
        check_equal(done.code, 0, done)
    return run


@case
def has_what_its_record_says(box):
    with zipfile.ZipFile(make_wheel(box)) as wheel:
        check_equal(wheel.testzip(), None)
        names = wheel.namelist()
        record = [name for name in names if name.endswith(".dist-info/RECORD")]
        rows = list(csv.reader(wheel.read(record[0]).decode().splitlines()))
        check_equal([row[0] for row in rows], names)
        check_equal(names[-1], record[0])
        for name, digest, size in rows[:-1]:
            data = wheel.read(name)
            wanted = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            check_equal((digest, size), ("sha256=" + wanted, str(len(data))), name)
        programs = [name for name in names if wheel.getinfo(name).external_attr >> 16 & 0o111]
        check_equal([os.path.basename(name) for name in programs if ".so" not in name], ["tare", "demo"])
        tag = wheel.read(record[0].replace("RECORD", "WHEEL")).decode()
        check_says(tag, "Tag: py3-none-manylinux_2_27_%s\n" % machine(), "Root-Is-Purelib: false")
        check_says(wheel.read(record[0].replace("RECORD", "METADATA")).decode(), "Name: tare\n", "Requires-Python: >=3.6")


def files_that_name(folder, below):
    """As a path, or behind an option (-I): of a build in /src, "../src/main.c" is another."""
    name = re.compile(rb"(?:(?<=-[A-Z])|(?<![\w./-]))" + re.escape(folder.encode()) + rb"(?![\w.-])")
    found = []
    for path in glob.glob(os.path.join(below, "**"), recursive=True):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                found += [path] if name.search(file.read()) else []
    return found


@case
def what_names_a_folder_is_found(box):
    told = [b"\0/src/main.c\0", b"file:/src", b"in /src", b'"/src"', b"-I/src/include", b"a=/src"]
    for number, text in enumerate(told + [b"../src/main.c", b"/usr/src/main.c", b"/src-2/main.c", b"/srcs"]):
        os.mkdir(box.path(str(number)))
        with open(box.path(str(number), "file"), "wb") as file:
            file.write(text)
        check_equal(bool(files_that_name("/src", box.path(str(number)))), number < len(told), text)


@case
def is_small_and_for_old_systems(box):
    wheel = make_wheel(box)
    check(os.path.getsize(wheel) <= MOST_BYTES, "%d bytes" % os.path.getsize(wheel))
    with zipfile.ZipFile(wheel) as unpacked:
        unpacked.extractall(box.path("files"))
    done = box.run([os.path.join(ROOT, "tools", "check-symbol-versions.sh"), box.path("files")])
    check_equal(done.code, 0, done)
    check_equal(files_that_name(ROOT, box.path("files")), [], "these files name the folder that they were built in")
    for path in glob.glob(box.path("files", "tare", "*.py")):
        with open(path, encoding="utf-8") as source:
            ast.parse(source.read(), path, feature_version=OLDEST_PYTHON)


@case
def is_the_same_twice(box):
    first = make_wheel(box)
    dist = glob.glob(box.path("tare-*"))[0]
    for folder, folders, names in os.walk(dist):
        folders.reverse()
        for name in names:
            os.utime(os.path.join(folder, name), (1, 1), follow_symlinks=False)
            os.chmod(os.path.join(folder, name), os.stat(os.path.join(folder, name)).st_mode & 0o700)
    second = make_wheel(box, "again")
    with open(first, "rb") as one, open(second, "rb") as other:
        check(one.read() == other.read(), "the two wheels differ")


def is_the_same_of_two_builds(box):
    wheels = []
    for name in ("one", "other/folder"):
        env = {"TARE_DIST_BUILD": box.path(name), "TARE_DIST_DIR": box.path(name + "-dist"), "CCACHE_DISABLE": "1"}
        dist = box.run([os.path.join(ROOT, "tools", "make-dist.sh")], env=env, timeout=1800)
        check_equal(dist.code, 0, dist)
        done = box.run([os.path.join(ROOT, "tools", "make-wheel.py"), dist.out.splitlines()[-1], box.path(name + "-wheel")])
        check_equal(done.code, 0, done)
        with open(done.out.splitlines()[-1], "rb") as file:
            wheels.append(hashlib.sha256(file.read()).hexdigest())
    check_equal(wheels[0], wheels[1])


if IS_LONG:
    case(is_the_same_of_two_builds)


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def first_minute():
    """The commands of README's section Install that come behind `make wheel`."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        block = file.read().split("## Install\n\n")[1].split("\n\n")[0]
    return [line.split("  #")[0].strip() for line in block.splitlines()][1:]


@case
def answers_in_a_minute_as_the_readme_says(box):
    """Processor time, so that a busy machine fails nothing; how long it took stands in the transcript."""
    needs_exec()
    make_venv(box, "probe") # or skips
    os.mkdir(box.path("dist"))
    shutil.move(make_wheel(box), box.path("dist"))
    begin, used = time.monotonic(), processor_seconds()
    env = {"PATH": "/usr/bin:/bin", "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    for command in first_minute():
        done = box.run(["/bin/sh", "-c", command], env=env, timeout=240)
        print("# %6.1f s  $ %s" % (time.monotonic() - begin, command))
        print("".join("#           %s\n" % line for line in (done.out + done.err).splitlines()), end="")
        check_equal(done.code, 0, done)
    check_says(done.err, "unexplained")
    check(processor_seconds() - used <= 60, "%.1f s of processor time" % (processor_seconds() - used))


@case
def answers_from_a_fresh_environment(box):
    needs_exec()
    run = make_venv(box, "venv", make_wheel(box))
    check_equal(run("pip", "check").code, 0)
    version = run("tare", "--version")
    check_says(version.out, "tare ")
    check_equal(run("python", "-m", "tare", "--version").out, version.out)
    doctor = run("tare", "doctor")
    check_equal(doctor.code, 0, doctor)
    check_says("".join(doctor.out.split()), "okrecorder" + box.path("venv", "lib"), "/libtare_recorder.so")
    demo = run("tare", "demo", "--sim", "h200")
    check_equal(demo.code, 0, demo)
    check_says(demo.err, "unexplained", "0.0")
    swept = run("tare", "sweep", "--sim", "h200", "-o", "t.db", "--grid", "a=1,2", "--", "true")
    check_equal(swept.code, 0, swept)
    nobody = run("python", "-m", "tare", "no-such-command")
    check_equal(nobody.code, 127, nobody)


@case
def has_sqlite(box):
    with zipfile.ZipFile(make_wheel(box)) as wheel:
        program = next(name for name in wheel.namelist() if name.endswith("/scripts/tare"))
        check(b"database disk image is malformed" in wheel.read(program), "nothing of SQLite is in the program")


@case
def leaves_nothing_behind(box):
    run = make_venv(box, "venv")

    def tree():
        return {os.path.join(folder, name) for folder, folders, names in os.walk(box.path("venv"))
                for name in folders + names if "__pycache__" not in folder + name}

    before = tree()
    wheel = make_wheel(box)
    if WRAPPER:
        raise Skip("pip does not install a wheel for another machine into an environment")
    check_equal(run("pip", "install", "--no-index", wheel).code, 0)
    check(len(tree()) > len(before) + 20)
    check_equal(run("python", "-c", "import tare; tare.mark('compiled')").code, 0)
    check_equal(run("pip", "uninstall", "-y", "tare").code, 0)
    check_equal(sorted(tree() ^ before), [])


@case
def records_a_program_of_another_environment(box):
    """As uv tool and pipx install programs: an environment of their own, a link in a folder of PATH."""
    needs_exec()
    make_venv(box, "tools", make_wheel(box))
    job = make_venv(box, "job")
    os.mkdir(box.path("bin"))
    os.symlink(box.path("tools", "bin", "tare"), box.path("bin", "tare"))
    with open(box.path("job.py"), "w", encoding="utf-8") as file:
        file.write(JOB)
    check(job("python", "-c", "import tare").code != 0, "the job's environment has the module tare")
    env = {"PATH": box.path("bin") + ":" + os.environ["PATH"]}
    done = box.run(["tare", "run", "--sim", "h200", "-o", "rec.tare", "--", box.path("job", "bin", "python"), "job.py"],
                   env=env)
    check_equal(done.code, 0, done)
    lines = box.run(["tare", "report", "rec.tare", "--by", "line"], env=env)
    check_says(lines.out, "job.py:5")


@case
def works_where_pip_unpacks_it(box):
    """pip install --target: also what can be tried of a wheel for another machine."""
    run = make_venv(box, "venv")
    done = run("pip", "install", "--no-index", "--disable-pip-version-check", "--target", box.path("there"),
               "--only-binary=:all:", "--platform", "manylinux_2_27_" + machine(), make_wheel(box))
    check_equal(done.code, 0, done)
    program = WRAPPER + [box.path("there", "bin", "tare")]
    check_says(box.run(program + ["--version"]).out, "tare ")
    record = box.run(program + ["record", "--sim", "h200", "-o", "rec.tare", "--"] + fixture("e2e_alloc"), timeout=240)
    check_equal(record.code, 0, record)
    check_recording(box, record)
    if not WRAPPER:
        module = run("python", "-m", "tare", "--version", env={"PYTHONPATH": box.path("there")})
        check_says(module.out, "tare ")


if __name__ == "__main__":
    main()
