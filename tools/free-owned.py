#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the functions that free structs, out of their fields: tools/free-owned.py OUT.c DEPFILE SRC FOLDER

Each TARE_FREES() in a header of SRC/FOLDER is a function; SRC/base/owned.h has the words before the fields that are freed. A struct that
stands in another, or that a pointer of its own points to, is freed by its function if a header has one, else by its own fields.
"""
import re
import sys
from pathlib import Path

import c_structs

WORDS = re.compile(r"(TARE_OWNED_MANY|TARE_OWNED_LIST|TARE_OWNED_BY|TARE_OWNED)\b\s*(?:\((\w+)\))?\s*")
FREES = re.compile(r"^TARE_FREES\((\w+), (\w+)\);", re.M)
FREE = re.compile(r"^void (\w+)_free\(struct (\w+) \*\w*\);", re.M)


def fields_of(name, body):
    """Those of a struct. One that is not understood has no memory of its own, unless a word says that it has."""
    for statement in body.split(";"):
        try:
            yield from c_structs.fields_of(name, statement, WORDS)
        except ValueError as error:
            if "TARE_OWNED" in statement:
                sys.exit(error)


class Folder:
    def __init__(self, src, folder):
        self.structs, self.functions, self.headers, self.frees = {}, {}, {}, []
        self.paths = [path for path in sorted(src.rglob("*.h")) if path.relative_to(src).parts[0] != "recorder"]
        for path in self.paths:
            text, header = path.read_text(encoding="utf-8"), str(path.relative_to(src))
            for name, of in FREE.findall(text):
                if name == of:
                    self.know(of, name + "_free", header)
            for name, of in FREES.findall(text):
                self.know(of, name, header)
                if path.is_relative_to(src / folder):
                    self.frees.append((name, of))
            if path.is_relative_to(src / folder) and "TARE_OWNED" in text:
                for name, body in c_structs.structs_of(path):
                    self.structs[name] = list(fields_of(name, body))

    def know(self, struct, function, header):
        self.functions[struct] = function
        self.headers[function] = header

    def owned(self, struct):
        """What a struct owns, arenas last: what is in them may have to be looked at until then."""
        fields = [field for field in self.structs.get(struct, []) if field.word]
        return sorted(fields, key=lambda field: field.struct == "tare_arena" and not field.stars)


def count_of(field, names):
    """The field that says how many a pointer points to; None: it is one."""
    if field.word == "TARE_OWNED_MANY":
        wanted = [field.arg]
    else:
        stems = [re.sub(end + "$", start, field.name) for end, start in (("", ""), ("s", ""), ("es", ""), ("ies", "y"))]
        wanted = [stem + end for stem in stems for end in ("_nr", "_count")]
        wanted += ["nr", "count"] if field.name == "items" else []
    return next((name for name in wanted if name in names), None)


class Function:
    """The statements that free what a struct owns."""

    def __init__(self, folder):
        self.folder, self.used = folder, set()

    def struct(self, of, at, depth, what):
        """Frees what the struct owns that is at `at`, an expression of a pointer."""
        function = self.folder.functions.get(of)
        if function and depth:
            self.used.add(function)
            return [f"{function}({at});"]
        if not self.folder.owned(of):
            sys.exit(f"{what}: nothing says how struct {of} is freed")
        names = {field.name for field in self.folder.structs[of]}
        inside = at[1:] + "." if at.startswith("&") else at + "->"
        return [line for field in self.folder.owned(of) for line in self.field(field, inside + field.name, names, depth)]

    def has_memory(self, of):
        return of in self.folder.functions or self.folder.owned(of)

    def each(self, field, at, index, depth):
        """Frees what is at a place of a list, without the list."""
        what = f"struct {field.of}: `{field.name}`"
        if field.word == "TARE_OWNED_BY":
            return self.by(field, f"{at}[{index}]" if field.stars == 2 else f"&{at}[{index}]")
        if field.stars == 2:
            inside = self.struct(field.struct, f"{at}[{index}]", depth, what) if field.struct and self.has_memory(field.struct) else []
            inside = [f"if ({at}[{index}]) {{", *["\t" + line for line in inside], "}"] if inside else []
            return inside + [f"free((void *){at}[{index}]);"]
        return self.struct(field.struct, f"&{at}[{index}]", depth, what)

    def by(self, field, at):
        self.used.add(field.arg)
        return [f"{field.arg}({at});"]

    def loop(self, many, lines, depth):
        index = "ijkl"[depth]
        return [f"for (size_t {index} = 0; {index} < (size_t)({many}); {index}++) {{", *["\t" + line for line in lines], "}"]

    def field(self, field, at, names, depth):
        what = f"struct {field.of}: `{field.name}`"
        index = "ijkl"[depth]
        if field.dims:
            one = [f"free((void *){at}[{index}]);"] if field.stars else self.each(field, at, index, depth + 1)
            if field.stars and field.word == "TARE_OWNED_BY":
                one = self.by(field, f"{at}[{index}]")
            return self.loop(f"sizeof({at}) / sizeof(*{at})", one, depth)
        if field.stars == 0:
            return self.by(field, f"&{at}" if field.struct else at) if field.word == "TARE_OWNED_BY" else self.struct(field.struct, f"&{at}", depth + 1, what)
        count = count_of(field, names)
        if field.word == "TARE_OWNED_BY" and not (field.stars == 2 and count):
            return self.by(field, at)
        if field.word != "TARE_OWNED_LIST" and not field.is_const and (field.stars == 2 or (field.struct and self.has_memory(field.struct))):
            if count:
                many = at[:-len(field.name)] + count
                return self.loop(f"{at} ? {many} : 0", self.each(field, at, index, depth + 1), depth) + [f"free({at});"]
            if field.stars == 2 or field.word == "TARE_OWNED_MANY":
                sys.exit(f"{what}: nothing says to how many it points; base/owned.h has words for that")
            inside = self.struct(field.struct, at, depth + 1, what)
            return [f"if ({at}) {{", *["\t" + line for line in inside], "}", f"free({at});"]
        return [f"free((void *){at});"]


def main(out, depfile, src, name):
    folder = Folder(Path(src), name)
    all_of, lines = Function(folder), []
    for function, of in folder.frees:
        if not folder.owned(of):
            sys.exit(f"{function}: struct {of} says of no field that it is freed")
        lines += ["", f"void {function}(struct {of} *what)", "{", *["\t" + line for line in all_of.struct(of, "what", 0, function)],
                  f"\t*what = (struct {of}){{ 0 }};", "}"]
    text = {str(path.relative_to(src)): path.read_text(encoding="utf-8") for path in folder.paths}
    wanted = {folder.headers[function] for function, _ in folder.frees}
    wanted |= {next((header for header in text if re.search(rf"\b{used}\(", text[header])), "") for used in all_of.used}
    head = ["/* Made by tools/free-owned.py. */"] + [f'#include "{header}"' for header in sorted(wanted - {""})] + ["#include <stdlib.h>"]
    made = "\n".join(head + lines) + "\n"
    if not Path(out).exists() or Path(out).read_text(encoding="utf-8") != made:
        Path(out).write_text(made, encoding="utf-8")
    Path(depfile).write_text(f"{out}: {' '.join(map(str, folder.paths))}\n", encoding="utf-8")


main(*sys.argv[1:])
