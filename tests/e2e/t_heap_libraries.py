#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whose memory of the host is, where libraries come and go (tare run --host)."""

import json
import os
import shutil

from harness import BUILD, WRAPPER, Skip, case, check, check_equal, fixture, main, needs, needs_cplusplus
from heaps import function_of, heap_of, lines_of, record, total_of

A, B = (os.path.join(BUILD, "tests/e2e/e2e_plugin_%s.so" % which) for which in "ab")


LIBRARIES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64")


def names(box, function):
    return sum(row["bytes"] for row in lines_of(box) if function_of(row["label"]) == function)


@case
def libraries_that_lie_where_others_were(box):
    """After dlclose the same addresses are another library's; and then the first one's again."""
    argv = fixture("e2e_plugins", A, "1000", B, "20000", A, "300000")
    if record(box, argv) != [1]:
        raise Skip("the libraries were not loaded at one place")
    device = heap_of(box.report())
    check_equal(total_of(device, "e2e_plugin_a"), (301000, 2))
    check_equal(total_of(device, "e2e_plugin_b"), (20000, 1))
    check_equal((names(box, "ask_a"), names(box, "ask_b")), (301000, 20000))
    box.tare("compact", "rec.tare")
    device = heap_of(box.report())
    check_equal(total_of(device, "e2e_plugin_a"), (301000, 2))
    check_equal((names(box, "ask_a"), names(box, "ask_b")), (301000, 20000))


@case
def a_library_by_a_relative_name(box):
    """It is one of the folder that the program is in, wherever `tare run` and `tare report` are."""
    os.makedirs(box.path("there"))
    shutil.copy(A, box.path("there/plugin.so"))
    record(box, ["/bin/sh", "-c", "cd there && exec \"$@\"", "sh"] + fixture("e2e_plugins", "./plugin.so", "301000"))
    check_equal(names(box, "ask_a"), 301000, lines_of(box))


def check_operators(box, program, *args, **more):
    """What its operators are asked for is recorded once, whoever's they are; what they throw is caught."""
    for mode in ("sample", "full"):
        rec = mode + ".tare"
        wanted = record(box, fixture(program, *args), mode, rec=rec, **more)
        check_equal(wanted, [50960, 8])
    totals = [total_of(heap_of(box.report(rec)), owner) for owner in (program, "libe2e_own_new", "libe2e_allocator")]
    check_equal([sum(column) for column in zip(*totals)], wanted)
    # 1,000 pairs of new[] and delete[] besides; of libstdc++'s and libc's own there are some, too.
    dumped = box.tare("dump", rec, "--json", "--kind", "heap_block", "--kind", "heap_freed").out
    kinds = [json.loads(line).get("kind") for line in dumped.split("\n") if line]
    check(1020 <= kinds.count("heap_block") < 1100, kinds.count("heap_block"))
    check(1012 <= kinds.count("heap_freed") < 1100, kinds.count("heap_freed"))


@case
def operators_that_call_malloc(box):
    needs_cplusplus("e2e_operators")
    check_operators(box, "e2e_operators")


@case
def operators_of_an_allocator_that_is_linked(box):
    needs_cplusplus("e2e_operators")
    check_operators(box, "e2e_operators_linked")


@case
def operators_of_a_library_of_its_own(box):
    needs_cplusplus("e2e_operators")
    check_operators(box, "e2e_operators_own")


def preloaded(package, name, *args):
    def operators_of_one_that_is_preloaded(box):
        needs_cplusplus("e2e_operators")
        needs(not WRAPPER and any(os.path.exists(os.path.join(folder, name)) for folder in LIBRARIES), package)
        check_operators(box, "e2e_operators", *args, env={"LD_PRELOAD": name})

    operators_of_one_that_is_preloaded.__name__ = "operators_of_" + name.split(".")[0]
    return case(operators_of_one_that_is_preloaded)


preloaded("libjemalloc2", "libjemalloc.so.2")
preloaded("libtcmalloc-minimal4", "libtcmalloc_minimal.so.4")
preloaded("libmimalloc2.0", "libmimalloc.so.2", "granted")


@case
def a_program_in_c_gives_libraries_the_operators_that_they_are_linked_with(box):
    needs_cplusplus("e2e_operators")
    plugin = os.path.join(BUILD, "tests/e2e/e2e_plugin_own.so")
    record(box, fixture("e2e_plugins", plugin, "12345"))
    check_equal(total_of(heap_of(box.report()), "e2e_plugin_own")[0], 0)
    check_equal(total_of(heap_of(box.report()), "libe2e_own_new")[0], 12345)


if __name__ == "__main__":
    main()
