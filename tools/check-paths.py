#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What documents and comments name is there: links and paths in *.md, and source files named in comments. And what is there has a place.

    tools/check-paths.py

A path is looked for from the root, beside the file that names it, below src/, and as the end of a file that git knows
(`phase.h`, `recorder/phase/phase.c`). What is named but is not part of the sources stands in tools/check-paths.txt, a regular
expression a line. A file that git knows lies in a folder of ROOMS or stands in the root by a name of ROOT, has a plain name, and is not empty: what a
command left behind by mistake does not."""

import os
import re
import subprocess
import sys

ROOMS = {".ci", "docs", "examples", "include", "python", "simgpu", "src", "tests", "tools", "web"}
ROOT = re.compile(r"\.(clang-format|editorconfig|git[\w-]+)|[A-Z]+(\.md|\.\w+)?|Makefile|meson(_options\.txt|\.build)")
NAME = re.compile(r"[\w./@+-]+")
ENDINGS = r"(?:c|h|cpp|def|py|sh|ini|txt|md|build|profile|facts|supp)"
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"^[\w.{},*-]+(?:/[\w.{},*-]+)*\.%s$|^(?:src|docs|tests|tools|simgpu|include|python|examples)/[\w./*{},-]*$"
                  % ENDINGS)
IN_COMMENT = re.compile(r"(?<![\w/.$%%-])((?:[a-z_]\w*/)*[a-z_]\w*\.%s)(?![\w*/(-]|\.\w)" % ENDINGS)
C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
HASH_COMMENT = re.compile(r"(?m)(?:^|\s)#[ \t][^\n]*")


def read_exceptions():
    with open("tools/check-paths.txt", encoding="utf-8") as file:
        rows = [line.split(" #")[0].strip() for line in file]
    return [re.compile(row + "$") for row in rows if row and not row.startswith("#")]


def expand(name):
    """a{b,c}d → abd acd"""
    match = re.search(r"\{([^{}]*)\}", name)
    if not match:
        return [name]
    return [one for part in match.group(1).split(",") for one in expand(name[:match.start()] + part + name[match.end():])]


class Tree:
    def __init__(self):
        self.files = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
        self.files = [name for name in self.files if name and os.path.exists(name)]
        self.ends = set()
        for name in self.files:
            parts = name.split("/")
            self.ends.update("/".join(parts[at:]) for at in range(len(parts)))
        self.exceptions = read_exceptions()
        self.used = set()

    def has(self, name, beside):
        if "*" in name:
            pattern = re.compile(r"(?:.*/)?" + re.escape(name).replace(r"\*", "[^/]*") + r"(?:/.*)?$")
            return any(pattern.match(one) for one in self.files)
        name = os.path.normpath(name)
        return (name in self.ends or os.path.exists(name) or os.path.exists(os.path.join(beside, name))
                or self.excepted(name))

    def excepted(self, name):
        for row in self.exceptions:
            if row.match(name):
                self.used.add(row)
                return True
        return False


def named(name, text):
    """(line, path) of all that a file names."""
    if name.endswith(".md"):
        for match in LINK.finditer(text):
            if "://" not in match.group(1) and not match.group(1).startswith("mailto:"):
                yield match.start(), match.group(1)
        for match in CODE.finditer(text):
            word = match.group(1).split(" ")[0]
            if PATH.match(word):
                yield match.start(), word
        return
    comments = C_COMMENT if re.search(r"\.(c|h|cpp|def)$", name) else HASH_COMMENT
    for comment in comments.finditer(text):
        for match in IN_COMMENT.finditer(comment.group(0)):
            yield comment.start() + match.start(), match.group(1)


def misplaced(name):
    """Why a file has no place; None: it has one."""
    room, is_in_room, _ = name.partition("/")
    if room not in ROOMS if is_in_room else not ROOT.fullmatch(name):
        return "is in no folder of ROOMS, nor a file of the root"
    if not NAME.fullmatch(name):
        return "has a name that is not plain"
    return None if os.path.getsize(name) else "is empty"


def main():
    tree, wrong, read = Tree(), 0, 0
    for name in tree.files:
        if misplaced(name):
            print("%s: %s" % (name, misplaced(name)))
            wrong += 1
    for name in tree.files:
        if not re.search(r"\.(md|c|h|cpp|def|py|sh|txt)$|meson\.build$", name):
            continue
        with open(name, encoding="utf-8") as file:
            text = file.read()
        for at, path in named(name, text):
            read += 1
            for one in expand(path):
                if not tree.has(one, os.path.dirname(name)):
                    print("%s:%d: there is no %s" % (name, text.count("\n", 0, at) + 1, one))
                    wrong += 1
    for row in tree.exceptions:
        if row not in tree.used:
            print("tools/check-paths.txt: nothing names %s" % row.pattern)
            wrong += 1
    if read < 200:
        print("only %d paths found" % read)
    print("%d paths named, %d not there" % (read, wrong))
    return wrong > 0 or read < 200


sys.exit(main())
