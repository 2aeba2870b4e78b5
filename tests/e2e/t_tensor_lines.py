#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Source lines and the tensors that they made, of a program with an allocator like PyTorch's."""

import json
import os

from harness import FIXTURES, MIB, ROOT, case, check, check_equal, check_says, main, needs_exec
from python_stacks import python_of

PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "tensors.py")


def line_of(word):
    with open(PROGRAM, encoding="utf-8") as file:
        return [number for number, text in enumerate(file, 1) if text.rstrip().endswith("# " + word)][0]


def record(box, **more):
    needs_exec()
    box.record([python_of("system"), PROGRAM, os.path.join(FIXTURES, "libc10_cuda.so")], **more)


def rows(box, by="line", at="end", rec="rec.tare"):
    done = box.tare("report", rec, "--by", by, "--at", at, "--json")
    check_equal(done.code, 0, done)
    report = json.loads(done.out)
    return report["rows"], report


def tensors_of(rows, word):
    """bytes and count now, bytes and count ever, of the rows of that line."""
    found = [row for row in rows if row["file"] == PROGRAM and row["line"] == line_of(word)]
    return tuple(sum(row[key] for row in found)
                 for key in ("tensor_bytes", "tensors", "handed_bytes", "handed"))


@case
def lines_have_the_tensors_that_they_made(box):
    record(box)
    lines, report = rows(box)
    check_equal(tensors_of(lines, "SEGMENT"), (0, 0, 0, 0))
    check_equal(tensors_of(lines, "WEIGHTS"), (3 * MIB, 1, 3 * MIB, 1))
    check_equal(tensors_of(lines, "ACTIVATIONS"), (0, 0, 51 * 2 * MIB, 51))
    live = [row for row in report["devices"][0]["accounts"] if row["label"] == "live tensors"]
    check_equal(sum(row["tensor_bytes"] for row in lines), live[0]["bytes"])
    segment = [row for row in lines if row["line"] == line_of("SEGMENT")]
    check_equal([row["bytes"] for row in segment], [20 * MIB])


@case
def at_the_peak_of_tensors_both_are_there(box):
    record(box)
    lines, _ = rows(box, at="peak:tensors")
    check_equal(tensors_of(lines, "ACTIVATIONS"), (2 * MIB, 1, 2 * MIB, 1))


@case
def stacks_tell_the_callers_apart(box):
    record(box)
    stacks, _ = rows(box, by="stack")
    found = sorted(row["handed"] for row in stacks if row["line"] == line_of("ACTIVATIONS"))
    check_equal(found, [1, 50])


@case
def a_table_on_the_screen(box):
    record(box)
    done = box.tare("report", "rec.tare", "--by", "line", "--at", "end")
    check_equal(done.code, 0, done)
    cells = {line.split(" in ")[0].strip(): line.split()[-5:] for line in done.out.splitlines()}
    check_equal(cells["tensors.py:%d" % line_of("WEIGHTS")], ["–", "3.0", "1", "1", "3.0"], done.out)
    check_equal(cells["tensors.py:%d" % line_of("ACTIVATIONS")], ["–", "0.0", "0", "51", "102.0"])
    check_equal(cells["tensors.py:%d" % line_of("SEGMENT")], ["20.0", "–", "–", "–", "–"])
    check_says(done.out, "unexplained", "ever MiB")
    check(max(map(len, done.out.splitlines())) <= 80, done.out)


@case
def without_python_lines_there_is_one_row_for_all(box):
    record(box, options=["--stacks", "native"])
    lines, _ = rows(box)
    mine = [row for row in lines if row["handed"]]
    check_equal([(row["file"], row["tensors"], row["handed"]) for row in mine], [(None, 1, 52)])


@case
def sums_of_lines_outlive_their_events(box):
    needs_exec()
    program = [python_of("system"), PROGRAM, os.path.join(FIXTURES, "libc10_cuda.so"), "long"]
    box.record(program)
    box.drop_events()
    check_says(box.tare("report", "rec.tare", "--at", "1us").out, "under its cap")
    lines, report = rows(box)
    check_equal(tensors_of(lines, "WEIGHTS"), (3 * MIB, 1, 3 * MIB, 1))
    check_equal(tensors_of(lines, "ACTIVATIONS"), (0, 0, 40001 * 2 * MIB, 40001), report["degraded"])



LOAD = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
sys.path.insert(0, sys.argv[1])
def load(name):
    try:
        __import__(name)
    except (ImportError, SystemError):
        pass
context = ctypes.c_void_p()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
load("e2e_module")
"""


@case
def loading_a_module_shows_on_the_host(box):
    """What it took while it was loaded, not what it did when it was initialised."""
    needs_exec()
    box.record([python_of("system"), "-c", LOAD, FIXTURES])
    lines, _ = rows(box)
    mine = [row for row in lines if row["function"] == "load"]
    check_equal(len(mine), 1, lines)
    check(16 * MIB <= mine[0]["host_anon_bytes"] < 17 * MIB, mine)
    done = box.tare("report", "rec.tare", "--by", "line", "--at", "end")
    check(any(" load " in line and "+16." in line for line in done.out.splitlines()), done.out)


@case
def a_module_that_is_not_found_is_no_load(box):
    needs_exec()
    box.record([python_of("system"), "-c", LOAD.replace('load("e2e', 'load("no_such"); load("e2e'), FIXTURES])
    lines, _ = rows(box)
    check_equal(len([row for row in lines if row["host_anon_bytes"] >= 16 * MIB]), 1, lines)


@case
def libraries_are_found_from_where_they_are_asked_for(box):
    """By the RUNPATH of the library that calls dlopen, and $ORIGIN of it: with us as without."""
    needs_exec()
    program = """
import ctypes, sys
opener = ctypes.CDLL(sys.argv[1] + "/libe2e_opener.so")
for name in (b"libc10.so", b"$ORIGIN/libc10.so", b"libnothing.so.7", b"./libc10.so", sys.argv[1].encode() + b"/libc10.so"):
    print(name.split(b"/")[-1], opener.opener_open(name, b"c10_reported"))
"""
    argv = [python_of("system"), "-c", program, FIXTURES]
    alone = box.run(argv)
    check_equal(alone.code, 0, alone)
    check_equal([line.split()[-1] for line in alone.out.splitlines()], ["1", "1", "0", "0", "1"], alone)
    done = box.record(argv)
    check_equal(done.out, alone.out)



PARTS = """
import ctypes, sys
sys.path.insert(0, sys.argv[1])
cuda = ctypes.CDLL("libcuda.so.1")
def load():
    try:
        import e2e_module
    except (ImportError, SystemError):
        pass
def start():
    context, block = ctypes.c_void_p(), ctypes.c_void_p()
    cuda.cuInit(0); load(); cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0); cuda.cuCtxSetCurrent(context)
    cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(4 << 20))
start()
"""


def parts(box, line, *args):
    done = box.tare("report", "rec.tare", "--line", line, "--parts", "--at", "end", "--json", *args)
    check_equal(done.code, 0, done)
    report = json.loads(done.out)
    check_equal(len(report["parts"]), 1, report)
    return report["parts"][0]["rows"], report["parts"][0]


@case
def one_line_taken_apart(box):
    needs_exec()
    with open(box.path("start.py"), "w", encoding="utf-8") as file:
        file.write(PARTS)
    box.record([python_of("system"), box.path("start.py"), FIXTURES])
    found, _ = parts(box, "start.py:12")
    by_part = {row["part"]: row["device_bytes"] for row in found}
    check(by_part["context"] > 400 * MIB, found)
    check(by_part["driver"] > MIB, found)
    total = sum(value for part, value in by_part.items() if part != "sum" and value)
    check_equal(by_part["sum"], total)
    row = [row for row in rows(box)[0] if row["line"] == 12]
    check_equal(by_part["sum"], row[0]["bytes"])
    found, _ = parts(box, "start.py:13")
    check_equal([(row["part"], row["device_bytes"]) for row in found], [("allocations", 4 * MIB), ("sum", 4 * MIB)])
    found, _ = parts(box, "start.py:7")
    host = {row["part"]: row["host_bytes"] for row in found}
    check(host["host_anon"] >= 16 * MIB and host["sum"] == host["host_anon"] + host.get("host_file", 0), found)


UNEXPLAINED = """import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
context, block, stream = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
def make():
    cuda.cuStreamCreate(ctypes.byref(stream), 0); cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(4 << 20))
def free():
    cuda.cuMemFree_v2(block)
make()
free()
make()
"""


@case
def what_nothing_explains_has_its_line(box):
    """A driver that takes 6 MiB in the first allocation and gives 1 MiB of that back in the first free."""
    needs_exec()
    with open(box.path("hidden.py"), "w", encoding="utf-8") as file:
        file.write(UNEXPLAINED)
    box.record([python_of("system"), box.path("hidden.py")],
               env={"TARE_SIM_SCRIPT": "takes cuMemAlloc 1 6MiB;gives cuMemFree 1 1MiB"})
    found, _ = parts(box, "hidden.py:8")
    by_part = {row["part"]: (row["device_bytes"], row["evidence"]) for row in found}
    check_equal(by_part["unexplained"], (5 * MIB, "weighed"), found)
    check_equal(by_part["allocations"], (4 * MIB, "exact"), found)
    check_equal(by_part["sum"][0], sum(size for part, (size, _) in by_part.items() if part != "sum"), found)
    lines, report = rows(box)
    check_equal({row["line"]: row["unexplained_bytes"] for row in lines if row["unexplained_bytes"]}, {8: 5 * MIB})
    device, = report["devices"]
    check_equal(device["unexplained_bytes"], 5 * MIB)
    check_equal(device["used_bytes"], 5 * MIB + sum(row["bytes"] for row in lines), "the books balance")
    done = box.tare("report", "rec.tare", "--line", "hidden.py:8", "--parts", "--at", "peak")
    check_says(done.out, "unexplained, inside calls there", "5.0")
    check("of no line" not in done.out, done.out)


@case
def what_came_between_calls_is_of_no_line(box):
    needs_exec()
    with open(box.path("hidden.py"), "w", encoding="utf-8") as file:
        file.write(UNEXPLAINED)
    box.record([python_of("system"), box.path("hidden.py")], env={"TARE_SIM_SCRIPT": "drift 2MiB"})
    found, _ = parts(box, "hidden.py:8")
    check("unexplained" not in {row["part"] for row in found}, found)
    done = box.tare("report", "rec.tare", "--line", "hidden.py:8", "--parts", "--at", "end")
    check_says(done.out, "unexplained on this GPU, and of no line")


@case
def tensors_of_one_line(box):
    record(box)
    _, one = parts(box, "tensors.py:%d" % line_of("ACTIVATIONS"), "--by", "line")
    check_equal(one["tensors"], {"bytes": 0, "count": 0, "handed_bytes": 51 * 2 * MIB, "handed": 51})
    check_equal(one["made"], [])
    _, one = parts(box, "tensors.py:%d" % line_of("WEIGHTS"))
    check_equal([(row["device"], row["count"], row["bytes"]) for row in one["made"]], [(0, 1, 3 * MIB)])
    rows, one = parts(box, "tensors.py:%d" % line_of("SEGMENT"))
    check_equal([(row["label"], row["count"]) for row in rows[:1]], [("PyTorch's pool: 1 segment", 1)])
    check_equal([row["owner"] for row in rows], ["libc10_cuda", None])
    check_equal(one["made"], [])


@case
def a_line_that_only_made_tensors_on_the_screen(box):
    record(box)
    at = "tensors.py:%d" % line_of("WEIGHTS")
    out = box.tare("report", "rec.tare", "--line", at, "--parts", "--at", "end").out
    check_says(out, at, "GPU 0", "tensors made here")
    check_equal([line.split()[:3] for line in out.splitlines() if line.startswith(("now", "ever"))],
                [["now", "1", "3.0"], ["ever", "1", "3.0"]], out)
    check("sum" not in out, "no table of nothing", out)


@case
def mistakes_in_a_line(box):
    record(box)
    for line, code, says in (("tensors.py", 2, "FILE:N"), ("tensors.py:0", 2, "FILE:N"), (":7", 2, "FILE:N"),
                             ("tensors.py:99999999999", 2, "FILE:N"), ("tensors.py:7x", 2, "FILE:N"),
                             ("other.py:3", 125, "--by line"), ("ensors.py:26", 125, "--by line"),
                             ("tensors.py:1", 125, "nearest")):
        done = box.tare("report", "rec.tare", "--line", line, "--parts")
        check_equal(done.code, code, done)
        check_says(done.err, line, says)
    for args in (("--parts",), ("--line", "a.py:1"), ("--line", "a.py:1", "--parts", "--by", "owner"),
                 ("--line", "a.py:1", "--parts", "--cost", "time")):
        done = box.tare("report", "rec.tare", *args)
        check_equal(done.code, 2, done)


SAME = """
import ctypes, importlib.util, sys
cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
for folder, size in (("a", 2 << 20), ("b", 6 << 20)):
    spec = importlib.util.spec_from_file_location(folder, sys.argv[1] + "/" + folder + "/same.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.take(cuda, size)
"""


@case
def two_files_of_one_name_are_told_apart(box):
    needs_exec()
    for folder in ("a", "b"):
        os.mkdir(box.path(folder))
        with open(box.path(folder, "same.py"), "w", encoding="utf-8") as file:
            file.write("def take(cuda, size):\n    import ctypes\n    block = ctypes.c_void_p()\n"
                       "    cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(size))\n")
    box.record([python_of("system"), "-c", SAME, box.dir])
    done = box.tare("report", "rec.tare", "--line", "same.py:4", "--parts")
    check_equal(done.code, 125, done)
    check_says(done.err, "several files", "a/same.py", "b/same.py")
    found, _ = parts(box, "b/same.py:4")
    check_equal(found[-1]["device_bytes"], 6 * MIB)



def annotated(box, file, *args, code=0):
    done = box.tare("report", "rec.tare", "--annotate", file, "--at", "end", *args)
    check_equal(done.code, code, done)
    return done


@case
def a_source_file_beside_what_its_lines_hold(box):
    record(box)
    report = json.loads(annotated(box, "tensors.py", "--json").out)
    with open(PROGRAM, encoding="utf-8") as file:
        source = file.read().splitlines()
    check_equal([row["source"] for row in report["rows"]], source)
    check_equal([row["line"] for row in report["rows"]], list(range(1, len(source) + 1)))
    check_equal(report["rows"][line_of("ACTIVATIONS") - 1]["handed"], 51)
    check_equal(sum(row["bytes"] for row in report["rows"]),
                sum(row["bytes"] for row in rows(box)[0] if row["file"] == PROGRAM))
    text = annotated(box, PROGRAM).out.splitlines()
    weights = [line for line in text if line.endswith("# WEIGHTS")]
    check_equal(weights[0].split()[:3], [str(line_of("WEIGHTS")), "3.0", "1"])
    check_equal(len(annotated(box, "tensors.py", "--csv").out.splitlines()), 1 + len(source))


@case
def a_source_file_that_changed_or_went(box):
    needs_exec()
    path = box.path("start.py")
    with open(path, "wb") as file:
        file.write(PARTS.encode() + b"# \xff\xfe\x1b[31m\n")
    os.utime(path, (1, 1))
    box.record([python_of("system"), "-c", "exec(compile(open(%r, 'rb').read().decode('latin-1'), %r, 'exec'))"
                % (path, path), FIXTURES])
    done = annotated(box, "start.py")
    check("!" not in done.out and "\x1b" not in done.out, done.out)
    check_equal(json.loads(annotated(box, "start.py", "--json").out)["note"], None)
    with open(path, "a", encoding="utf-8") as file:
        file.write("# and more\n")
    check_says(annotated(box, "start.py").out, "changed after the recording")
    os.unlink(path)
    done = annotated(box, "start.py")
    check_says(done.out, "cannot be read")
    check(any(line.split()[:1] == ["13"] for line in done.out.splitlines()), done.out)
    os.mkdir(path)
    check_says(annotated(box, "start.py").out, "is a folder")


@case
def mistakes_in_a_source_file(box):
    record(box)
    check_says(annotated(box, "other.py", code=125).err, "--by line")
    check_says(annotated(box, "", code=125).err, "--by line")
    annotated(box, "tensors.py", "--by", "owner", code=2)
    annotated(box, "tensors.py", "--line", "tensors.py:3", "--parts", code=2)


main()
