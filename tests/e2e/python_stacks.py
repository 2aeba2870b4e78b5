# SPDX-License-Identifier: Apache-2.0
"""What the tests of Python stacks share: interpreters, and python/program.py run in them.

What an allocation is, of the driver or of a caching allocator like PyTorch's, `box.tensors` says.
"""

import glob
import json
import os
import subprocess
import sys

from harness import FIXTURES, ROOT, WRAPPER, Skip, case, check, check_equal

PROGRAM = os.path.join(ROOT, "tests", "e2e", "python", "program.py")
FRAMES = 128  # TARE_PYTHON_FRAMES
SOME = 0x7654321  # bytes that c10_cuda_take_some() hands out


def asked_of(python, expression):
    """What an expression of the module sysconfig is in that Python."""
    done = subprocess.run([python, "-c", "import sys, sysconfig; print(%s)" % expression], stdout=subprocess.PIPE)
    return done.stdout.decode().strip()


def version_of(python):
    return asked_of(python, "'%d.%d' % sys.version_info[:2]")


def find_pythons():
    """version → path of an interpreter; Debian's own under "system"."""
    paths = [p for p in os.environ.get("TARE_TEST_PYTHONS", "").split(":") if p]
    paths += sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")))
    found = {}
    for path in paths:
        found.setdefault(version_of(path), path)
    if os.path.exists("/usr/bin/python3"):
        found["system"] = "/usr/bin/python3"
    return found


PYTHONS = {} if WRAPPER else find_pythons()
# Those besides the system's own, which is always wanted: there are cases for each that is here.
VERSIONS = [version for version in ("3.%d" % minor for minor in range(6, 14)) if version in PYTHONS]


def python_of(version):
    if WRAPPER:
        raise Skip("the interpreters here are of another machine")
    check(version in PYTHONS, "there is no /usr/bin/python3")
    return PYTHONS[version]


def embeddable():
    """(version, library, home) of each Python that has a library to embed."""
    for version, python in PYTHONS.items():
        library = asked_of(python, "'%s/%s' % tuple(map(sysconfig.get_config_var, ('LIBDIR', 'INSTSONAME')))")
        if ".so" in library and os.path.exists(library):
            yield version, library, asked_of(python, "sys.base_prefix")


def is_of_tensors(box):
    return getattr(box, "tensors", False)


def record(box, version, what, rec="rec.tare", **more):
    """Runs the program; returns what it wrote down, by size."""
    more.setdefault("env", {})["TRUTH"] = box.path("truth")
    more["env"]["PYTHONDONTWRITEBYTECODE"] = "1"
    if is_of_tensors(box):
        more["env"]["TENSORS"] = os.path.join(FIXTURES, "libc10_cuda.so")
    done = box.record([python_of(version), PROGRAM, what], rec=rec, **more)
    truth = {}
    with open(box.path("truth"), encoding="utf-8") as file:
        for line in file:
            entry = json.loads(line)
            truth[entry["size"]] = entry
    return truth, done


def recorded(box, rec="rec.tare"):
    """Allocations and what frees them as a list of (record, frames), frames as in the truth."""
    done = box.tare("dump", rec, "--json")
    check_equal(done.code, 0, done)
    records = [json.loads(line) for line in done.out.splitlines()]
    strings = {(r["log"], r["id"]): r["text"] for r in records if r.get("kind") == "string"}
    strings.update({(r["log"], 0): "" for r in records if "log" in r})
    lines = {(r["log"], r["id"]): [strings[r["log"], r["file"]], r["line"], strings[r["log"], r["function"]]]
             for r in records if r.get("kind") == "line"}
    stacks = {(r["log"], r["id"]): [lines[r["log"], int(i, 16)] for i in r["pcs"]]
              for r in records if r.get("kind") == "line_stack"}
    kind = "tensor" if is_of_tensors(box) else "event"
    return [(r, stacks[r["log"], r["python"]] if r["python"] else None)
            for r in records if r.get("kind") == kind]


def asked(event):
    """The size by which the truth knows an allocation."""
    return event["asked"] if "asked" in event else event["bytes"]


def check_stacks(truth, events):
    """Every allocation that Python wrote down has exactly its stack."""
    found = {asked(event): frames for event, frames in events if asked(event) in truth}
    check_equal(sorted(found), sorted(truth), "allocations")
    for size, entry in truth.items():
        frames = [tuple(f) for f in found[size] or []]
        check_equal(frames, [tuple(f) for f in entry["frames"]][:FRAMES], "the stack of %#x" % size)


def check_nothing_said(box):
    report = box.report("rec.tare", "end")
    check_equal([d for d in report["degraded"] if "Python" in d], [])


def check_version(box, version):
    truth, _ = record(box, version, "plain")
    check_stacks(truth, recorded(box))
    check(len(truth) >= 30, "the program allocated %d times" % len(truth))
    check_nothing_said(box)


def check_generated(box, version):
    truth, _ = record(box, version, "generated")
    check_stacks(truth, recorded(box))
    check_equal(len(truth), 1001)


CODE_DEALLOC = "import ctypes; kind = type((lambda: 0).__code__); " \
    "print(ctypes.c_void_p.from_address(id(kind) + 48).value - id(kind))"


def check_deaths(box, version):
    where = subprocess.run([python_of(version), "-c", CODE_DEALLOC], stdout=subprocess.PIPE).stdout.decode()
    truth, done = record(box, version, "code_dealloc_is_taken_back", env={"CODE_DEALLOC": where})
    check_stacks(truth, recorded(box))
    check_equal(done.out.strip(), "led through the recorder")


def check_random(box, version):
    truth, _ = record(box, version, "random_threads")
    check_stacks(truth, recorded(box))
    check(len(truth) >= 3000, "the program allocated %d times" % len(truth))


def check_names(box, version):
    truth, _ = record(box, version, "unicode_names")
    check_stacks(truth, recorded(box))


def check_threads(box, version):
    for what in ("threads", "signals"):
        truth, _ = record(box, version, what, rec=what + ".tare")
        check_stacks({s: t for s, t in truth.items()}, recorded(box, what + ".tare"))
        os.unlink(box.path("truth"))


def check_bare_thread(box, version):
    truth, _ = record(box, version, "bare_thread")
    events = recorded(box)
    check_stacks(truth, events)
    if is_of_tensors(box):
        bare = [frames for event, frames in events if event["bytes"] == SOME]
    else:
        bare = [frames for event, frames in events if event["effect"] == "del" and event["class"] == "allocation"]
    check_equal(bare, [None], "a thread without Python has no Python stack")


def check_forked(box, version):
    truth, _ = record(box, version, "forked")
    events = recorded(box)
    found = [(asked(event), frames) for event, frames in events if asked(event) in truth]
    check_equal(len(found), 4 if is_of_tensors(box) else 3)
    check_equal(len({event["log"] for event, _ in events}), 2, "parent and child have a log each")
    for size, frames in found:
        check(frames[0][2] == "alloc" and frames[-1][2] == "<module>", frames)


def record_interpreters(box, version, what):
    truth, done = record(box, version, what)
    check("no sub-interpreters" not in done.out, done)
    return truth


def check_sub_interpreters(box, version):
    truth = record_interpreters(box, version, "sub_interpreters")
    found = {asked(event): frames for event, frames in recorded(box) if asked(event) in truth}
    check_equal(len(truth), 49)
    for size, entry in truth.items():
        frames = [list(f) for f in found[size] or []]
        check_equal(frames[:len(entry["frames"])], entry["frames"], "the stack of %#x" % size)


def check_sub_interpreter(box, version):
    truth = record_interpreters(box, version, "sub_interpreter")
    events = recorded(box)
    found = {asked(event): frames for event, frames in events if asked(event) in truth}
    is_followed = version != "system" and int(version.split(".")[1]) >= 12 or \
        version == "system" and sys.version_info >= (3, 12)
    for size, entry in truth.items():
        frames = [list(f) for f in found[size] or []]
        if entry.get("inside") == 2 and not is_followed:
            # docs/PYTHON.md: without the GIL, the line that runs the sub-interpreter
            check([f[2] for f in frames[:2]] == ["run", "sub_interpreter"], frames)
        else:
            check_equal(frames[:len(entry["frames"])], entry["frames"], "the stack of %#x" % size)


def checks_of(version):
    checks = [check_version, check_generated, check_deaths, check_random, check_names, check_threads,
              check_bare_thread, check_forked]
    if version not in ("3.6", "3.7"):  # their Python code cannot make sub-interpreters
        checks += [check_sub_interpreter, check_sub_interpreters]
    return checks


def define(tensors=False):
    """A case for each of the checks above and each version."""
    for version in VERSIONS + ["system"]:
        for check_one in checks_of(version):
            def run(box, check_one=check_one, version=version):
                box.tensors = tensors
                check_one(box, version)
            run.__name__ = "%s_%s" % (check_one.__name__.replace("check_", ""), version.replace(".", "_"))
            case(run)
