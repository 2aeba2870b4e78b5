#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No path of the recorder takes more than 4 KiB of stack: a program calls us on threads of 16 KiB and on
alternate signal stacks.

gcc says what every function takes and whom it calls (-fcallgraph-info); whom a call through a pointer may
reach stands in tools/recorder-indirect.txt. What is behind `foreign` (the driver, NVML, Python, torch,
libc) is its own affair: it is called only where there is room (tare_stack_has).

    tools/check-recorder-stack.py BUILD_DIR [FUNCTION]     FUNCTION: show its deepest path"""

import glob
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMIT = 4096
CALL = {"x86_64": 8, "aarch64": 0}  # what a call puts on the stack besides the frame
FOREIGN = "foreign"
DROP = ("-c", "-MD", "-MMD", "-g")
DROP_WITH_NEXT = ("-o", "-MQ", "-MF", "-MT")


def compile_commands(build):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        for row in json.load(file):
            if re.search(r"libtare_recorder(_host)?\.so\.p/", row.get("output", "")):
                yield row


def source_of(row):
    return os.path.relpath(os.path.join(row["directory"], row["file"]), ROOT)


def call_graph(row, out):
    """Compiles one file once more, past a compiler cache, for its graph alone: (source, graph)."""
    words = shlex.split(row["command"])
    if os.path.basename(words[0]) in ("ccache", "sccache"):
        words = words[1:]
    kept, skip = [], False
    for word in words:
        if not skip and word not in DROP and word not in DROP_WITH_NEXT:
            kept.append(word)
        skip = not skip and word in DROP_WITH_NEXT
    name = os.path.join(out, source_of(row).replace("/", "_"))
    done = subprocess.run(kept + ["-S", "-fcallgraph-info=su", "-dumpbase", name, "-o", name + ".s"],
                          cwd=row["directory"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit("%s: %s" % (row["file"], done.stdout.decode()[-500:]))
    with open(glob.glob(name + "*.ci")[0], encoding="utf-8") as file:
        return source_of(row), file.read()


def machine_of(build):
    compiler = shlex.split(next(compile_commands(build))["command"])
    compiler = compiler[os.path.basename(compiler[0]) in ("ccache", "sccache")]
    return subprocess.check_output([compiler, "-dumpmachine"]).decode().split("-")[0]


class Graph:
    """own: bytes of a function's frame; calls: whom it calls; source: its file; dynamic: of no fixed size."""

    def __init__(self, texts):
        self.own, self.calls, self.source, self.dynamic = {}, {}, {}, set()
        for source, text in texts:
            self.read(source, text)

    def read(self, source, text):
        for title, label in re.findall(r'node: \{ title: "([^"]*)" label: "([^"]*)"', text):
            size = re.search(r"(\d+) bytes \(([\w,]+)", label)
            if size:
                self.own[title] = int(size.group(1))
                self.source[title] = source
                if size.group(2) == "dynamic":
                    self.dynamic.add(title)
        for caller, target in re.findall(r'edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)"', text):
            self.calls.setdefault(caller, set()).add(target)


def short(title):
    """Of "file.c:name.constprop.0", too."""
    return title.rsplit(":", 1)[-1].split(".")[0]


def read_table():
    """{function or folder: [called …]}, {function: times round}, {function: bytes of its caller}, what grows, what is early"""
    table, again, behind, grows, early = {}, {}, {}, set(), set()
    with open(os.path.join(ROOT, "tools", "recorder-indirect.txt"), encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if words and words[0] == "again":
                again[words[1].rstrip(":")] = int(words[2])
            elif words and words[0] == "behind":
                behind[words[1].rstrip(":")] = int(words[2])
            elif words and words[0] == "grows":
                grows.add(words[1])
            elif words and words[0] == "early":
                early.add(words[1])
            elif words:
                table[words[0].rstrip(":")] = words[1:]
    return table, again, behind, grows, early


class Depth:
    def __init__(self, graph, call):
        self.graph, self.call, self.known, self.mistakes = graph, call, {}, set()
        self.table, self.again, self.behind, self.grows, self.early = read_table()
        self.by_name = {}
        for title in graph.own:
            self.by_name.setdefault(short(title), []).append(title)
        named = [name for names in self.table.values() for name in names]
        for name in list(self.again) + list(self.behind) + sorted(self.grows | self.early) + named:
            if name != FOREIGN and name not in self.by_name:
                self.mistakes.add("tools/recorder-indirect.txt: there is no %s" % name)

    def indirect(self, title):
        for key in (short(title), os.path.dirname(self.graph.source[title]) + "/"):
            if key in self.table:
                return [name for name in self.table[key] if name != FOREIGN]
        self.mistakes.add("%s: %s calls through a pointer; whom, tools/recorder-indirect.txt must say"
                          % (self.graph.source[title], short(title)))
        return []

    def targets(self, title):
        for target in self.graph.calls.get(title, ()):
            if target == "__indirect_call":
                for name in self.indirect(title):
                    yield from self.by_name.get(name, ())
            elif target in self.graph.own and short(target) not in self.early:
                yield target

    def frame(self, title):
        return self.call + self.graph.own[title] + self.behind.get(short(title), 0)

    def loop(self, titles):
        """What going round once more takes, as often as the table says it may."""
        names = [short(title) for title in titles]
        times = [self.again[name] for name in names if name in self.again]
        if not times:
            self.mistakes.add("a loop of calls, of no known depth: %s" % " → ".join(names))
        return min(times or [0]) * sum(self.frame(title) for title in titles)

    def of(self, title, path=()):
        """(bytes, titles of the deepest path)"""
        if title in path:
            return self.loop(path[path.index(title):]), ()
        if title not in self.known:
            size, below = max((self.of(target, path + (title,)) for target in self.targets(title)), default=(0, ()))
            self.known[title] = (self.frame(title) + size, (title,) + below)
        return self.known[title]


def show(depth, path):
    return " → ".join("%s %d" % (short(title), depth.frame(title)) for title in path)


def main():
    build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        graph = Graph(pool.map(lambda row: call_graph(row, folder), list(compile_commands(build))))
    depth = Depth(graph, CALL[machine_of(build)])
    for title in graph.own:
        size, path = depth.of(title)
        if short(title) in sys.argv[2:]:
            print("%d bytes: %s" % (size, show(depth, path)))
        if title in graph.dynamic and short(title) not in depth.grows:
            depth.mistakes.add("%s: %s takes as much stack as it is told" % (graph.source[title], short(title)))
    called = {target for title in graph.own for target in depth.targets(title)}
    roots = sorted((depth.of(title) for title in graph.own if title not in called), reverse=True)
    deep = [root for root in roots if root[0] > LIMIT]
    if len(deep) > 12:
        depth.mistakes.add("%d entries take too much; the deepest of them:" % len(deep))
    for size, path in deep[:12]:
        depth.mistakes.add("%s: %d bytes of stack, at most %d: %s"
                           % (graph.source[path[0]], size, LIMIT, show(depth, path)))
    if len(graph.own) < 300 or len(roots) < 100:
        depth.mistakes.add("only %d functions and %d entries found" % (len(graph.own), len(roots)))
    print("\n".join(sorted(depth.mistakes)) or "the deepest of %d entries takes %d bytes: %s"
          % (len(roots), roots[0][0], show(depth, roots[0][1])))
    return bool(depth.mistakes)


sys.exit(main())
