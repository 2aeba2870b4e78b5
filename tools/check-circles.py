#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do source files call each other in circles? Read from the objects of a build: who defines a symbol, who needs it.

    tools/check-circles.py [--max N] [--folders FOLDER] BUILD [FOLDER…]

Of the files below each FOLDER no more than N (8) may be in one circle, and no circle may go through the folders
directly below it, the files in FOLDER itself being one of them. With --folders only the latter is asked of a folder.
Without a FOLDER it is asked of all folders in src/ and of simgpu, and whether those in src/ are in circles; other figures
are in tools/circles.txt.
One C file that includes another hides a circle, so that is an error too; and so is a FOLDER of which no object is read.
Exit 1: something is wrong."""
import argparse, collections, ctypes, json, os, re, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEFINED = set("TDBRVWCGS")
LIBC = ctypes.CDLL("libc.so.6")  # who calls one of its functions means libc, though a file may stand before it


def sources(build):
    """Source, relative to the root → an object of it: of several the first that is no test's."""
    found = {}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        commands = json.load(f)
    for c in commands:
        at = os.path.relpath(os.path.normpath(os.path.join(c["directory"], c["file"])), ROOT)
        obj = os.path.normpath(os.path.join(c["directory"], c["output"]))
        if at.startswith(("src/", "simgpu/")) and not c["output"].startswith("tests/") and os.path.exists(obj):
            found.setdefault(at, obj)
    return found


def symbols(objects):
    """Object → (symbols that it defines, symbols that it needs), by one call of nm."""
    found = {obj: (set(), set()) for obj in objects}
    nm = subprocess.run(["nm", "-A", *found], capture_output=True, text=True, check=True)
    for line in nm.stdout.splitlines():
        obj, rest = line.rsplit(":", 1)
        kind, name = rest.split()[-2:]
        if kind in DEFINED:
            found[obj][0].add(name)
        elif kind == "U" and name != "main":  # a start file calls the program that it is linked to
            found[obj][1].add(name)
    return found


def arrows(objects):
    """Source → the sources whose symbols it needs."""
    found = symbols(objects.values())
    known = {source: found[obj] for source, obj in objects.items()}
    home = {}
    for source, (defined, _) in sorted(known.items()):
        for name in defined:
            home.setdefault(name, set()).add(source)
    graph = {}
    for source, (defined, needed) in known.items():
        graph[source] = set()
        for name in needed - defined:
            if hasattr(LIBC, name):
                continue
            # Of programs that each have their own, the nearest is meant.
            near = sorted(home.get(name, ()), key=lambda s: -len(os.path.commonprefix([s, source])))
            if near and near[0] != source:
                graph[source].add(near[0])
    return graph


def circles(graph):
    """Strongly connected parts of more than one, the largest first (Tarjan)."""
    index, low, stack, on, out = {}, {}, [], set(), []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        for w in sorted(graph[v]):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] != index[v]:
            return
        part = []
        while not part or part[-1] != v:
            part.append(stack.pop())
            on.discard(part[-1])
        if len(part) > 1:
            out.append(sorted(part))

    sys.setrecursionlimit(100000)
    for v in sorted(graph):
        if v not in index:
            visit(v)
    return sorted(out, key=len, reverse=True)


def inside(graph, folder):
    below = {s for s in graph if s.startswith(folder + "/")}
    return {s: graph[s] & below for s in below}


def by_folder(graph, folder):
    """The same graph between the folders directly below; "." are the files in the folder itself."""
    def of(source):
        rest = source[len(folder) + 1:]
        return rest.split("/")[0] if "/" in rest else "."

    out, why = collections.defaultdict(set), {}
    for source, targets in graph.items():
        out[of(source)] |= set()
        for target in targets:
            if of(source) != of(target):
                out[of(source)].add(of(target))
                why.setdefault((of(source), of(target)), f"{source} calls {target}")
    return out, why


def read_table(most):
    """Every folder of src/, simgpu, and src for its folders → (most files of a circle or None, may its folders be in circles?)."""
    folders = [f"src/{name}" for name in sorted(os.listdir(os.path.join(ROOT, "src")))]
    asked = {f: (most, False) for f in folders if os.path.isdir(os.path.join(ROOT, f))}
    asked["src"] = (None, False)
    asked["simgpu"] = (most, False)
    with open(os.path.join(ROOT, "tools", "circles.txt"), encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if words:
                asked[words[0]] = (None if words[1] == "-" else int(words[1]), words[2] == "yes")
    return asked


# Of a folder, those below whose files need nothing of its others: the floor that all else stands on.
FLOORS = {"src/recorder": ["base", "elf", "unwind", "ring", "log"]}


def above_floor(graph, folder):
    floor = tuple(f"{folder}/{name}/" for name in FLOORS[folder])
    for source in sorted(s for s in graph if s.startswith(floor)):
        for target in sorted(graph[source]):
            if target.startswith(folder + "/") and not target.startswith(floor):
                yield f"{source} calls {target}, which stands above the floor of {folder}"


def included():
    for root, _, names in os.walk(os.path.join(ROOT, "src")):
        for name in names:
            path = os.path.join(root, name)
            if not name.endswith((".c", ".h")):
                continue
            with open(path, encoding="utf-8") as f:
                for number, line in enumerate(f, 1):
                    if re.match(r'\s*#\s*include\s*"[^"]*\.c"', line):
                        yield f"{os.path.relpath(path, ROOT)}:{number}: includes a C file: {line.strip()}"


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    args.add_argument("--max", type=int, default=8)
    args.add_argument("--folders", action="append", default=[], metavar="FOLDER")
    args.add_argument("build")
    args.add_argument("folder", nargs="*")
    args = args.parse_args()
    graph, wrong = arrows(sources(args.build)), list(included())
    asked = {f.rstrip("/"): (args.max, False) for f in args.folder}
    asked.update({f.rstrip("/"): (None, False) for f in args.folders})
    if not asked:
        asked = read_table(args.max)
    for folder, (most, may_circle) in asked.items():
        part = inside(graph, folder)
        if not part:
            wrong.append(f"{folder}: no object of it in {args.build}")
            continue
        if most:
            largest = circles(part)
            sizes = [len(c) for c in largest]
            print(f"{folder}: {len(part)} files, {sum(map(len, part.values()))} arrows, circles of {sizes or 'none'}")
            for c in largest:
                if len(c) > most:
                    wrong.append(f"{folder}: {len(c)} files call each other in a circle, at most {most} may: "
                                 + ", ".join(c))
            if most > args.max and most > max(sizes, default=1):
                wrong.append(f"tools/circles.txt: {folder} has no circle of more than {max(sizes, default=1)} files")
        if folder in FLOORS:
            wrong += above_floor(graph, folder)
        between, why = by_folder(part, folder)
        found = circles(between)
        for c in found if not may_circle else []:
            wrong.append(f"{folder}: a circle of folders: " + ", ".join(c) + "".join(
                f"\n    {text}" for (a, b), text in sorted(why.items()) if a in c and b in c))
        if may_circle and not found:
            wrong.append(f"tools/circles.txt: {folder} has no circle of folders")
    for line in wrong:
        print(line)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
