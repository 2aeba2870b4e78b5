#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many lines the sources have, by folder and by what they were written for: the rows of a table in docs/measurements/shape.md.

    tools/count-lines.py [COMMIT]

Lines of C, headers, .def and Python of src, as `wc -l` counts them, of a commit (HEAD), beside those of the tree of then (THEN) in
today's format. Whose a line is says `git blame -w -M`; what such a commit was for, whether it put a line into the list of changes.
"""

import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
THEN = "ce02b29b"
ENDINGS = (".c", ".h", ".def", ".py")

# Commits that users see and that have no line in the list of their own: another of the same work has it.
FOR_USERS = """
    f89093c8 d7492df0 cab28133 cc55fd1a 453b2f80 86f842be f7e654b2 90ca7ed9 eea91eb2
    1f13e533 61647d18 9c93f533 101fe37e 913a02eb 9aa0c757 723614d5 bbc8f865 d1367322
    281f542e cad160fb e82f5975 a38c11c6
    09ff3d93 54f64f29 9844d07e 5e6ed5d4
    b3a6a1d2 d7a76d44 1213d59f
    c568f4b5 3a1ea430 a1a5c183 6c262f24 07002337 51c236a8
    35645ee7 a28e37a7 24f10c0b c4f472cd 3bdec3a5
""".split()

COLUMNS = ["then", "left", "subject", "both", "users", "now"]


def git(*words, cwd=ROOT):
    return subprocess.run(["git", *words], cwd=cwd, check=True, stdout=subprocess.PIPE).stdout.decode(errors="replace")


def sources_of(commit):
    names = git("ls-tree", "-r", "--name-only", commit, "src").splitlines()
    return [name for name in names if name.endswith(ENDINGS)]


def folder_of(path):
    return "/".join(path.split("/")[:2]) if path.count("/") > 1 else "src"


def is_one_of(commit, shorts):
    return commit.startswith(tuple(shorts))


def commits_in_list(commit):
    """Those that put a line into the list of changes."""
    found, current = set(), None
    for line in git("log", "--format=%H", "--numstat", "%s..%s" % (THEN, commit), "--", "CHANGELOG.md", "docs/changes").splitlines():
        if re.fullmatch("[0-9a-f]{40}", line):
            current = line
        elif line and line.split("\t")[0] not in ("0", "-"):
            found.add(current)
    return found


def lines_by_purpose(path, commit, listed):
    """What the lines of a file were written for, each counted: left, subject or users."""
    text = git("blame", "-w", "-M", "--ignore-revs-file", ".git-blame-ignore-revs", "--porcelain", "%s..%s" % (THEN, commit), "--", path)
    boundary, counts, current = set(), collections.Counter(), None
    for line in text.split("\n"):
        head = re.match(r"([0-9a-f]{40}) \d+ \d+", line)
        if head and not line.startswith("\t"):
            current = head.group(1)
        elif line == "boundary":
            boundary.add(current)
        elif line.startswith("\t"):
            if current in boundary:
                counts["left"] += 1
            else:
                counts["users" if current in listed or is_one_of(current, FOR_USERS) else "subject"] += 1
    return counts


def lines_of_then(pool):
    """The lines of each folder at THEN, after today's format."""
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        tar = subprocess.run(["git", "archive", THEN, "src"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=tar, check=True)
        style = "--style=file:" + os.path.join(ROOT, ".clang-format")
        names = sources_of(THEN)

        def format_some(some):
            subprocess.run(["clang-format", style, "-i", *some], cwd=folder, check=True)

        formatted = [name for name in names if name.endswith((".c", ".h"))]
        list(pool.map(format_some, [formatted[i : i + 50] for i in range(0, len(formatted), 50)]))
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                counts[folder_of(name)] += file.read().count(b"\n")
    return counts


def main():
    commit = git("rev-parse", sys.argv[1] if len(sys.argv) > 1 else "HEAD").strip()
    listed = commits_in_list(commit)
    table = collections.defaultdict(collections.Counter)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for folder, lines in lines_of_then(pool).items():
            table[folder]["then"] = lines
        names = sources_of(commit)
        for name, counts in zip(names, pool.map(lambda name: lines_by_purpose(name, commit, listed), names)):
            table[folder_of(name)].update(counts)
    for row in table.values():
        row["both"] = row["left"] + row["subject"]
        row["now"] = row["both"] + row["users"]
    print("| Folder | then | of it left | written for this page's subject since | both | for what users see | now |")
    print("|---" * 7 + "|")
    for folder in sorted(table):
        print("| `%s` | " % folder + " | ".join(format(table[folder][c], ",") for c in COLUMNS) + " |")
    print("| all | " + " | ".join(format(sum(row[c] for row in table.values()), ",") for c in COLUMNS) + " |")


main()
