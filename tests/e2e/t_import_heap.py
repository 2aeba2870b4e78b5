#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Heaps that massif and heaptrack counted, as recordings."""

import gzip
import json
import os
import subprocess

from harness import case, check, check_equal, check_says, main, needs_program, real_files

# main() keeps 300 of 1000 bytes of load(), grow() comes and goes; the peak is 1500 with what malloc has around it and a stack.
MASSIF = """desc: --time-unit=ms
cmd: ./app --fast
time_unit: ms
#-----------
snapshot=0
#-----------
time=0
mem_heap_B=0
mem_heap_extra_B=0
mem_stacks_B=0
heap_tree=empty
#-----------
snapshot=1
#-----------
time=1000
mem_heap_B=1000
mem_heap_extra_B=24
mem_stacks_B=100
heap_tree=detailed
n2: 1000 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 n1: 700 0x10915E: load(char const*, std::vector<int, std::allocator<int> >&) (load.cpp:12)
  n0: 700 0x1091C2: main (app.c:20)
 n0: 300 in 7 places, all below massif's threshold (1.00%)
#-----------
snapshot=2
#-----------
time=2000
mem_heap_B=1400
mem_heap_extra_B=40
mem_stacks_B=60
heap_tree=peak
n2: 1400 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 n2: 1100 0x109200: grow (grow.c:7)
  n0: 600 0x1091D0: main (app.c:21)
  n0: 500 0x1091E0: ??? (in /usr/lib/libfoo.so.1)
 n0: 300 0x10915E: load(char const*, std::vector<int, std::allocator<int> >&) (load.cpp:12)
#-----------
snapshot=3
#-----------
time=3000
mem_heap_B=300
mem_heap_extra_B=8
mem_stacks_B=100
heap_tree=empty
"""

# The program of a peak inside of 10 ms: 0x100 + 0x200 + 0x300 at once, of which 0x100 stays.
HEAPTRACK = """v 10550 3
X ./app --fast
I 1000 7d09db
s 8 /bin/app
s 4 main
s 5 app.c
s 12 /usr/lib/libc.so.6
s 4 grow
s 6 grow.c
s 3 box
i 1000 1 2 3 14
t 1 0
i 2000 1 5 6 7 7 6 9
t 2 1
i 3000 4
t 3 2
a 100 1
a 200 3
a 300 2
+ 0
c 5
+ 1
+ 2
- 2
- 1
c a
R 10
+ 1
- 1
c 14
# strings: 7
"""


def write(box, content, name):
    with open(box.path(name), "wb") as out:
        out.write(content if isinstance(content, bytes) else content.encode())
    return box.path(name)


def imported(box, content, name="massif.out.4711"):
    return box.tare("import", write(box, content, name), "-f", "-o", box.path("log.tare"))


def rows(box, at, by="line"):
    """What every row of `--by` has, and what is in use."""
    report = json.loads(box.tare("report", box.path("log.tare"), "--json", "--at", at, "--by", by).out)
    check_equal([d["unexplained_bytes"] for d in report["devices"]], [0])
    found = {}
    for row in report["rows"]:
        found[row["label"]] = found.get(row["label"], 0) + row["bytes"]
    return {k: v for k, v in found.items() if v}, report["devices"][0]["used_bytes"]


def accounts(box, at):
    device, = json.loads(box.tare("report", box.path("log.tare"), "--json", "--at", at).out)["devices"]
    check_equal(sum(r["bytes"] for r in device["accounts"] if r["leaf"]), device["used_bytes"])
    return {r["account"]: r["bytes"] for r in device["accounts"] if r["leaf"] and r["bytes"]}


@case
def massif_at_each_instant(box):
    done = imported(box, MASSIF)
    check_equal(done.code, 0, done)
    check_says(done.out, "4 snapshots, 2 of them by place")
    check_equal(accounts(box, "peak"), {"heap": 1400, "heap_extra": 40, "stacks": 60})
    check_equal(accounts(box, "1.5s"), {"heap": 1000, "heap_extra": 24, "stacks": 100})
    check_equal(accounts(box, "end"), {"heap": 300, "heap_extra": 8, "stacks": 100})
    said = box.tare("report", box.path("log.tare")).out
    check_says(said, "heap of the process", "heap, as asked for", "around the heap", "4 moments", "by place at 2")
    check("GPU" not in said, said)
    check_says(box.tare("report", box.path("log.tare"), "--by", "process").out, "./app --fast (pid 4711)")


@case
def massif_by_place(box):
    imported(box, MASSIF)
    load = "load.cpp:12 in load(char const*, std::vector<int, std::allocator<int> >&)"
    check_equal(rows(box, "1.5s"), ({load: 700, "no line": 424}, 1124))
    check_equal(rows(box, "peak"), ({"grow.c:7 in grow": 1100, load: 300, "no line": 100}, 1500))
    stacks, _ = rows(box, "peak", "stack")
    check_equal({k: v for k, v in stacks.items() if "grow" in k},
                {"grow.c:7 in grow < app.c:21 in main": 600, "grow.c:7 in grow < /usr/lib/libfoo.so.1": 500})


@case
def places_hold_until_the_next_tree(box):
    """A snapshot without a tree: what was added has no place; a heap that fell below its tree has none at all."""
    more = MASSIF + "".join("#-----------\nsnapshot=%d\n#-----------\ntime=%d\nmem_heap_B=%d\nmem_heap_extra_B=0\n"
                            "mem_stacks_B=0\nheap_tree=empty\n" % step for step in ((4, 4000, 250), (5, 5000, 50)))
    more = more.replace("mem_heap_B=300\nmem_heap_extra_B=8\nmem_stacks_B=100", "mem_heap_B=1450\nmem_heap_extra_B=8\nmem_stacks_B=100")
    imported(box, more)
    found, used = rows(box, "3.5s")
    check_equal((found["grow.c:7 in grow"], found["no line"], used), (1100, 158, 1558))
    check_equal(rows(box, "4.5s"), ({"no line": 250}, 250))
    check_equal(rows(box, "end"), ({"no line": 50}, 50))


@case
def massif_counts_in_instructions(box):
    imported(box, MASSIF.replace("time_unit: ms", "time_unit: i").replace("time=2000", "time=2000000000").replace("time=3000", "time=3000000000"))
    check_equal(accounts(box, "2.5s")["heap"], 1400)
    check_says(box.tare("report", box.path("log.tare")).out, "times are instructions", "a billion of them")


@case
def massif_that_was_cut(box):
    imported(box, MASSIF[:MASSIF.index("  n0: 500 0x1091E0")])
    check_equal(accounts(box, "end"), {"heap": 1000, "heap_extra": 24, "stacks": 100})
    check_says(box.tare("report", box.path("log.tare")).out, "ends in the middle of a snapshot, at line 34", "by place at 1", "left out")


@case
def massif_that_is_damaged(box):
    for what, by, line, says in (
            ("time_unit: ms", "time_unit: weeks", "time_unit", "a time is in i, ms, B or s"),
            ("mem_heap_B=1400", "mem_heap_B=-1400", "mem_heap_B=-1400", "is no size"),
            ("mem_heap_B=1400", "mem_heap_B=99999999999999999999", "mem_heap_B=999", "is no size"),
            ("mem_heap_B=1400", "mem_heap_B=20000000000000", "mem_heap_B=2", "is no size"),
            ("time=2000", "time=2e3", "time=2e3", "is no time"),
            ("time=2000", "time=18446744073709551615", "time=18", "is no time"),
            (" n2: 1100", " n2: 1800", " n2: 1800", "has more bytes than"),
            ("  n0: 500", "n0: 500", "n0: 500", "is not indented"),
            (" n2: 1100", " n3: 1100", " n0: 300 0x10915E", "is not indented"),
            ("heap_tree=peak", "heap_tree=oak", "heap_tree=oak", "a tree is"),
            ("mem_stacks_B=60\n", "", "heap_tree=peak", "a time or a size is missing"),
            ("mem_stacks_B=60", "stack overflow", "stack overflow", "is no line of massif")):
        check(what in MASSIF, what)
        damaged = MASSIF.replace(what, by, 1)
        done = imported(box, damaged)
        check_equal(done.code, 125, (by, done))
        check_says(done.err, "massif.out.4711:%d: %s" % (1 + damaged[:damaged.index(line)].count("\n"), says))
    check_says(imported(box, "desc: x\ncmd: y\ntime_unit: i\n").err, "no whole snapshot")
    deep = "n1: 9 (heap allocation functions)\n" + "".join(" " * i + "n1: 9 0x1: f (a.c:1)\n" for i in range(1, 1500))
    done = imported(box, MASSIF[:MASSIF.index("n2: 1400")] + deep)
    check_equal(done.code, 125, done)
    check_says(done.err, "deeper than 1024 frames")


# As heaptrack_print 1.4 -M writes: the head last, children that are missing, or have more than their parent.
PRINTED = """#-----------
snapshot=0
#-----------
time=0.01
mem_heap_B=1000
mem_heap_extra_B=0
mem_stacks_B=0
heap_tree=detailed
n3: 1000 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 n2: 600 0x10915e: load(char const*) (load.cpp:12)
  n0: 600 0x1091c2: main (app.c:20)
 n0: 900 0x7f0000: ??? (libfoo.so.1)
#-----------
snapshot=1
#-----------
time=2.5
mem_heap_B=2000
mem_heap_extra_B=0
mem_stacks_B=0
heap_tree=empty
#-----------
snapshot=2
#-----------
time=1e+01
mem_heap_B=500
mem_heap_extra_B=0
mem_stacks_B=0
heap_tree=detailed
n5: 500 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
"""
HEAD = "desc: heaptrack\ncmd: ./app --fast\ntime_unit: s\n"


@case
def massif_as_heaptrack_prints_it(box):
    """Its head behind the snapshots, or in front of them."""
    for content in (PRINTED + HEAD, HEAD + PRINTED):
        done = imported(box, content)
        check_equal(done.code, 0, done)
        check_says(done.out, "3 snapshots, 1 of them by place")
        check_equal(rows(box, "1s"), ({"load.cpp:12 in load(char const*)": 600, "libfoo.so.1": 400}, 1000))
        check_equal(rows(box, "peak"), ({"load.cpp:12 in load(char const*)": 600, "libfoo.so.1": 400, "no line": 1000}, 2000))
        check_equal(rows(box, "end"), ({"no line": 500}, 500))
        report = box.tare("report", box.path("log.tare"))
        check_says(report.out, "heap of the process", " 10.0 s")
        check_says(report.out + box.tare("report", box.path("log.tare"), "--by", "process").out, "./app --fast")
        check("degraded" not in report.out and "times are" not in report.out, report)
    check_equal(imported(box, PRINTED[:PRINTED.index("  n0: 600")]).code, 0)
    check_says(box.tare("report", box.path("log.tare")).out, "ends before its last line")
    for what, by, line, says in (
            ("time=2.5", "time=-2.5", "time=-2.5", "is no time"),
            ("time=2.5", "time=nan", "time=nan", "is no time"),
            ("time=2.5", "time=1e300", "time=1e300", "is no time"),
            ("time=2.5", "time=2.5s", "time=2.5s", "is no time"),
            (PRINTED[PRINTED.index("n3: 1000"):PRINTED.index("#-----------\nsnapshot=1")], "", "snapshot=1", "the snapshot above is not whole"),
            ("n5: 500", "n5: 501", "n5: 501", "has more bytes than"),
            ("  n0: 600", "    n0: 600", "    n0: 600", "is not indented"),
            ("time_unit: s", "time_unit: ms", "time_unit: ms", "times above were taken for another unit")):
        damaged = (PRINTED + HEAD).replace(what, by, 1)
        done = imported(box, damaged)
        check_equal(done.code, 125, (by, done))
        check_says(done.err, "massif.out.4711:%d: %s" % (1 + damaged[:damaged.index(line)].count("\n"), says))


@case
def heaptrack_has_its_peak(box):
    """The most is between two times of the file: what was asked for then is there, to the byte, by place."""
    done = imported(box, HEAPTRACK, "heaptrack.app.4711")
    check_equal((done.code, done.err), (0, ""))
    check_says(done.out, "4 allocations")
    check_equal(rows(box, "peak"), ({"app.c:20 in main": 0x100, "grow.c:7 in grow": 0x500}, 0x600))
    check_equal(rows(box, "end"), ({"app.c:20 in main": 0x100}, 0x100))
    stacks, _ = rows(box, "peak", "stack")
    check_equal(stacks["grow.c:7 in grow < grow.c:9 in box < app.c:20 in main"], 0x300, stacks)
    said = box.tare("report", box.path("log.tare")).out
    check_says(said, "./app --fast (pid 4711)", "AT PEAK 10 ms", "host", "asked malloc for")


@case
def heaptrack_as_it_is_packed(box):
    imported(box, gzip.compress(HEAPTRACK.encode()), "heaptrack.app.4711.gz")
    check_equal(rows(box, "peak")[1], 0x600)
    needs_program("zstd")
    path = write(box, HEAPTRACK, "heaptrack.app.1")
    subprocess.run(["zstd", "-q", "-f", path], check=True)
    with open(path + ".zst", "rb") as file:
        packed = file.read()
    imported(box, packed, "heaptrack.app.4711.zst")
    check_equal(rows(box, "peak")[1], 0x600)
    check("packed" not in box.tare("report", box.path("log.tare")).out, "it is whole")
    done = imported(box, packed[:-30], "cut.zst")
    check(done.code == 125 or "ends in the middle" in box.tare("report", box.path("log.tare")).out, done)
    done = imported(box, packed[:40] + b"\xff" * 40 + packed[80:], "damaged.zst")
    check_equal(done.code, 125, done)
    check_says(done.err, "damaged.zst", "zstd")


def folder_bytes(box):
    folder = box.path("log.tare")
    return sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))


@case
def a_large_one_is_kept_in_segments(box):
    """Of every allocation and free a record; the whole is smaller than the text was."""
    changes = "".join("+ 2\n- 2\nc %x\n" % (0x14 + i) for i in range(1, 20001))
    content = HEAPTRACK[:HEAPTRACK.index("# strings")] + changes + "+ 2\n"
    done = imported(box, content, "heaptrack.app.1")
    check_equal(done.code, 0, done)
    check(folder_bytes(box) < len(content) / 2, (folder_bytes(box), len(content)))
    check("segments.json" in os.listdir(box.path("log.tare")), os.listdir(box.path("log.tare")))
    _, used = rows(box, "end")
    _, most = rows(box, "peak")
    check_equal((used, most), (0x100 + 0x300, 0x100 + 0x200 + 0x300))
    check_equal(rows(box, "end", "stack")[1], used)
    check_equal(box.tare("compact", box.path("log.tare")).code, 0)
    check_equal(rows(box, "end")[1], used)


RAW = """v 10550 3
x 8 /bin/app
X ./app
I 1000 7d09db
m 1 -
m 1 x 400000 0 1000
m 12 /usr/lib/libc.so.6 7000 0 100 200 100
t 400010 0
t 7250 1
+ 40 2 1000
+ 10 1 2000
- 1000
- 9999
+ 20 2 2000
"""


@case
def heaptrack_that_is_raw(box):
    imported(box, RAW, "heaptrack.app.raw")
    check_equal(rows(box, "peak"), ({"/bin/app in 0x10": 0x50}, 0x50))
    stacks, _ = rows(box, "end", "stack")
    check_equal(list(stacks), ["/usr/lib/libc.so.6 in 0x250 < /bin/app in 0x10"])
    check_says(box.tare("report", box.path("log.tare")).out, "raw", "1 were given back that the file does not know")


@case
def heaptrack_that_is_damaged(box):
    for what, by, says in (
            ("v 10550 3", "v 10550 4", "damaged:1: is version 4"),
            ("t 2 1", "t 2 9", "damaged:14: "),
            ("t 2 1", "t 9 1", "damaged:14: "),
            ("a 200 3", "a 200 4", "damaged:18: "),
            ("a 200 3", "a 200000000000 3", "damaged:18: "),
            ("a 200 3", "a -200 3", "damaged:18: "),
            ("s 4 main", "s 40 main", "damaged:5: "),
            ("c 5", "c five", "damaged:21: "),
            ("+ 2", "+ 3", "damaged:23: "),
            ("R 10", "R ffffffffffffffff", "damaged:27: "),
            ("I 1000", "I 0", "damaged:3: ")):
        check(what in HEAPTRACK, what)
        done = imported(box, HEAPTRACK.replace(what, by, 1), "damaged")
        check_equal(done.code, 125, (by, done))
        check_says(done.err, says)
    imported(box, HEAPTRACK[:HEAPTRACK.index("- 2\n")] + "-", "cut")
    check_equal(rows(box, "peak")[1], 0x600)
    check_says(box.tare("report", box.path("log.tare")).out, "the last line of the file, 24, is not whole")
    check_says(imported(box, "v 10550 3\nX app\n", "none").err, "asked for nothing")


@case
def what_moves_changes_no_sum(box):
    """From place to place: nothing in between has less in use, or more."""
    lines, sizes = ["v 10550 3", "X app", "I 1000 1"], 50
    for i in range(sizes):
        lines += ["i %x 0" % (i + 1), "t %x 0" % (i + 1), "a %x %x" % (1000, i + 1)]
    lines += ["+ 0", "c 1"]
    for i in range(1, sizes):
        lines += ["- %x" % (i - 1), "+ %x" % i, "c %x" % (i * 10)]
    imported(box, "\n".join(lines) + "\n", "moves")
    check_equal(rows(box, "end")[1], 1000)
    found, _ = rows(box, "0.3s")
    check_equal(list(found.values()), [1000], found)
    dump = [dict(pair.split("=", 1) for pair in line.split() if "=" in pair)
            for line in box.tare("dump", box.path("log.tare")).out.splitlines() if "class=heap" in line]
    check_equal(len(dump), sizes)
    check_equal([(e["before"], e["after"]) for e in dump[1:]], [("1000", "1000")] * (sizes - 1))


def explained(box, at):
    """What each tool shows: word → bytes, of those that are known."""
    got = json.loads(box.tare("explain", box.path("log.tare"), "--at", at, "--json").out)
    return {t["word"]: t["bytes"] for t in got["tools"] if t["bytes"] is not None}, got


@case
def explain_has_what_the_tool_says(box):
    """Of a file of massif, what ms_print draws and the heap alone; of one of heaptrack, its consumption and what was resident."""
    imported(box, MASSIF)
    check_equal(explained(box, "peak")[0], {"massif": 1500, "heaptrack": 1400})
    check_equal(explained(box, "1.5s")[0], {"massif": 1124, "heaptrack": 1000})
    imported(box, HEAPTRACK, "heaptrack.app.4711")
    known, got = explained(box, "11ms")
    check_equal((known["heaptrack"], known["ps"], "massif" in known), (0x100, 0x10000, False))
    check_equal([w for w in known if "nvidia" in w or "nvtop" in w], [], "a heap is no GPU")
    row, = [t for t in got["tools"] if t["word"] == "heaptrack"]
    check_equal((row["max_bytes"], row["prints"]), (0x600, "0.00MB"))
    massif, = [t for t in got["tools"] if t["word"] == "massif"]
    check_says(massif["not_known_because"], "valgrind", "tare import")


@case
def files_that_others_wrote(box):
    """To their last line, and as large as the tools themselves say they are."""
    for kind in ("massif", "heaptrack"):
        for path in real_files(kind + "/*"):
            done = box.tare("import", path, "-f", "-o", box.path("log.tare"))
            check_equal((done.code, done.err), (0, ""), path)
            said = box.tare("report", box.path("log.tare")).out
            check("not whole" not in said and "middle" not in said, said)
    kde, = real_files("heaptrack/kde_heaptrack.david.18594.gz")
    box.tare("import", kde, "-f", "-o", box.path("log.tare"))
    check_equal(accounts(box, "peak"), {"heap": 996970})  # heaptrack_print: 996.97K
    check_equal(accounts(box, "end"), {"heap": 30463})    # 25.26K leaked and 5.20K suppressed


main()
