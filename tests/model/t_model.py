#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models of the recorder's ring, searched by Spin: t_model.py [-DNAME=VALUE…] [MODEL [MUTANT]]

A model (MODEL.pml beside this file) must hold in every state that can be reached, and every statement of it must be
reached. With each MUTANT_… that it names it must fail. With a MUTANT named here, the order of steps in which that one
fails is printed.
"""

import glob
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CPU_S = 600  # that one search may take; as a rule it takes a few seconds
MEMORY_MIB = 1000
DEPTH = 1000000


def mutants_of(path):
    with open(path) as file:
        return sorted(set(re.findall(r"\bMUTANT_[A-Z_]+", file.read())))


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))


def call(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limit)
    return done.stdout.decode()


def search(path, defines, folder, is_order_wanted=False):
    """What Spin's search of the model says, and at the end the order, if that is wanted."""
    said = call(["spin", "-a"] + defines + [path], folder)
    # An order in which a mutant fails is found at once: there compiling is what takes time.
    level = "-O0" if any(word.startswith("-DMUTANT_") for word in defines) else "-O2"
    said += call(["cc", level, "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=%d" % MEMORY_MIB, "-o", "pan", "pan.c"], folder)
    if not os.path.exists(os.path.join(folder, "pan")):
        return said
    said += call(["./pan", "-m%d" % DEPTH], folder)
    if is_order_wanted:
        said += call(["spin", "-t", "-p", "-g"] + defines + [path], folder)
    return said


def unreached(said, path):
    """Statements that no order reaches; the ends of processes that go round for ever are none."""
    with open(path) as file:
        source = file.read().splitlines()
    found = re.findall(r"^\t\S+:(\d+), (state \d+, .*)", said, re.M)
    return ["unreached: line %s, %s" % (line, what) for line, what in found
            if '"-end-"' not in what and "reached by the thread only" not in source[int(line) - 1]]


def problems(said, path, is_mutant):
    is_whole = "errors: 0" in said and "Search not completed" not in said and "max search depth" not in said
    if is_mutant:
        return [] if re.search(r"assertion violated.*\n(.*\n)*.*errors: 1", said) else ["the mutant lives"]
    return ([] if is_whole else ["an error, or the search was not completed"]) + unreached(said, path)


def judge(number, path, mutant, defines):
    name = os.path.splitext(os.path.basename(path))[0]
    folder = tempfile.mkdtemp()
    try:
        said = search(path, defines + (["-D" + mutant] if mutant else []), folder)
    finally:
        shutil.rmtree(folder)
    wrong = problems(said, path, bool(mutant))
    states = re.search(r"(\d+) states, stored", said)
    print("# %s states" % (states.group(1) if states else "no"))
    for line in said.splitlines() + wrong if wrong else []:
        print("# " + line)
    print("%sok %d - %s %s" % ("not " if wrong else "", number, name,
                              "fails with " + mutant if mutant else "holds"), flush=True)
    return not wrong


def main():
    defines = [word for word in sys.argv[1:] if word.startswith("-D")]
    words = [word for word in sys.argv[1:] if not word.startswith("-D")]
    paths = sorted(glob.glob(os.path.join(HERE, (words[0] if words else "*") + ".pml")))
    if not shutil.which("spin"):
        print("1..0 # SKIP not installed: spin")
        return
    if len(words) > 1:
        with tempfile.TemporaryDirectory() as folder:
            print(search(paths[0], defines + ["-D" + words[1]], folder, is_order_wanted=True))
        return
    cases = [(path, mutant) for path in paths for mutant in [None] + mutants_of(path)]
    print("1..%d" % len(cases), flush=True)
    sys.exit(not all([judge(number, path, mutant, defines) for number, (path, mutant) in enumerate(cases, 1)]))


if __name__ == "__main__":
    main()
