#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs with sanitizers, and programs and preloads that have functions of libc's: the same with tare.

Each looks for the real function by dlsym, which is ours; whatever of libc's we called by name on the
way would be theirs, and would look again, without end."""

import os
import shutil

from harness import ROOT, case, check, check_equal, check_says, main, needs_exec, needs_program

SOURCES = os.path.join(ROOT, "tests", "e2e", "fixtures")
FUNCTIONS = ("dl_iterate_phdr", "strlen", "strcmp", "memcpy", "memset", "memcmp", "getauxval", "errno_location",
             "pthread_self", "malloc", "getpid", "dlopen", "dlsym", "all")


def build(box, compiler, name, sources, *flags):
    needs_program(compiler)
    out = box.path(name)
    done = box.run([compiler, "-g", "-O1", "-D_GNU_SOURCE", "-fno-builtin", "-o", out]
                   + [os.path.join(SOURCES, source) for source in sources] + list(flags) + ["-ldl", "-lpthread"])
    check_equal(done.code, 0, done)
    return out


def check_same(box, argv, env=None, is_recorded=True):
    needs_exec()
    alone = box.run(argv, env=env, sim=True)
    check_equal(alone.code, 7, "alone", alone)
    check_says(alone.out, "init 0", "allocated 0, errno 77", "a child of it")
    done = box.record(argv, env=env, exit_code=None)
    check_equal((done.code, done.out), (alone.code, alone.out), done.err)
    seen = {event["api"] for event in box.events()}
    check(not is_recorded or "cuMemAlloc_v2" in seen, "nothing of it was recorded", done, seen)
    shutil.rmtree(box.path("rec.tare"))


def sanitized(compiler, sanitizer, *more):
    def run(box):
        program = build(box, compiler, "program", ["ordinary.c"], "-fsanitize=" + sanitizer, *more)
        check_same(box, [program])
    run.__name__ = "%s_%s" % (compiler, "_".join((sanitizer,) + more).replace("-", ""))
    return case(run)


for _sanitizer in ("address", "thread", "memory", "undefined"):
    sanitized("clang", _sanitizer)
sanitized("gcc", "thread")
sanitized("gcc", "undefined")
sanitized("gcc", "address", "-static-libasan")


@case
def gcc_address_sanitizer_wants_to_be_first(box):
    """Its library is found to come second and ends the program; what tare says to do works."""
    needs_exec()
    program = build(box, "gcc", "program", ["ordinary.c"], "-fsanitize=address")
    done = box.record([program], rec="second.tare", exit_code=1)
    check_says(done.err, "AddressSanitizer", "ASAN_OPTIONS=verify_asan_link_order=0", "-static-libasan")
    check_same(box, [program], env={"ASAN_OPTIONS": "verify_asan_link_order=0"})


@case
def doctor_says_what_address_sanitizer_wants(box):
    wanted = "ASAN_OPTIONS=verify_asan_link_order=0"
    check_says(box.tare("doctor", env={"ASAN_OPTIONS": "halt_on_error=1"}).out, wanted)
    check(wanted not in box.tare("doctor", env={"ASAN_OPTIONS": "verify_asan_link_order=0"}).out, "still says so")
    check(wanted not in box.tare("doctor").out, "says so to everybody")


def preloaded(name):
    def run(box):
        library = build(box, "gcc", "interposer.so", ["interposer.c"], "-DINTERPOSE_" + name, "-shared", "-fPIC")
        program = build(box, "gcc", "program", ["ordinary.c"])
        check_same(box, [program], env={"LD_PRELOAD": library})
    run.__name__ = "preload_with_" + name
    return case(run)


def linked(name):
    def run(box):
        program = build(box, "gcc", "program", ["ordinary.c", "interposer.c"], "-DINTERPOSE_" + name, "-rdynamic")
        check_same(box, [program], is_recorded=name != "dlsym")  # its own looks past us (docs/IN_PROCESS.md)
    run.__name__ = "program_with_" + name
    return case(run)


for _name in FUNCTIONS:
    preloaded(_name)
    linked(_name)

main()
