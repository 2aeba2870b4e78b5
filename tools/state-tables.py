#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables by which the state of a fold is saved and freed, out of its structs: tools/state-tables.py OUT.c DEPFILE SRC ROOT…

What is saved is every field of the ROOT structs, and of the structs in them, as the headers of SRC/ledger declare them. A field whose type
does not tell how it is saved has a word of ledger/saved.h before it. SRC/base/shape.h says what a table is.
"""
import re
import sys
from pathlib import Path

import c_structs

# What a pointer points to that is no part of the state, and by which number state/state.c finds it again.
OTHERS = {"tare_process": "PROCESS", "tare_device": "DEVICE", "tare_line_stack": "PYTHON", "tare_stack": "STACK"}

WORDS = re.compile(r"(TARE_NOT_SAVED|TARE_ONLY_FREED|TARE_SAVED_ONE|TARE_SAVED_AS_MANY|TARE_SAVED_BY_STATE)\s*(?:\((\w+)\))?\s+")


def read_structs(src):
    """Of each struct its header and what stands in its braces."""
    found, paths = {}, sorted((src / "ledger").rglob("*.h")) + list(src.glob("base/sorted.h"))
    for path in paths:
        for name, body in c_structs.structs_of(path):
            found.setdefault(name, (path, body))
    parts = src / "ledger/parts/parts.def"
    names = re.findall(r"^\s*TARE_PART\((\w+)\)", parts.read_text(encoding="utf-8"), re.M)
    found["tare_parts"] = (src / "ledger/parts/parts.h", "".join(f"struct tare_{name}_part {name};" for name in names))
    return found, paths + [parts]


def counts(field, names):
    """The field that says how many a pointer points to, and the one that says for how many there is room."""
    stems = [field.name, re.sub("s$", "", field.name), re.sub("es$", "", field.name), re.sub("ies$", "y", field.name)]
    wanted = [field.arg] if field.word == "TARE_SAVED_AS_MANY" else [stem + "_nr" for stem in stems]
    if field.name == "items":
        wanted += ["nr", "count"]
    count = next((name for name in wanted if name in names), None)
    cap = count and (re.sub("_nr$", "_cap", count) if count.endswith("_nr") else "cap")
    return count, cap if cap in names else None


def entry(field, names):
    """The macro of base/shape.h for the field, and the fields that it takes with it."""
    name, of = field.name, f"tare_shape_{field.struct}"
    if field.word == "TARE_NOT_SAVED":
        return f"TARE_LEFT({name})", []
    if field.word == "TARE_ONLY_FREED":
        return f"TARE_FREED({name})" if field.stars else f"TARE_FREED_STRUCT({name}, {of})", []
    if field.stars == 0:
        kind = "MAP" if field.struct == "tare_map" else "STRUCT" if field.struct else "INT"
        many = kind + "_ARRAY" if field.dims else kind
        if field.struct == "tare_strmap":
            return f"TARE_STRMAP({name})", []
        if field.struct and field.struct.startswith("tare_rec_"):
            return f"TARE_WORDS({name})", []
        return f"TARE_{many}({name}, {of})" if kind == "STRUCT" else f"TARE_{many}({name})", []
    if field.stars == 1 and field.struct in OTHERS:
        return f"TARE_OTHER({name}, TARE_STATE_{OTHERS[field.struct]})", []
    if field.word == "TARE_SAVED_ONE":
        return f"TARE_ITEM({name}, {of})", []
    if field.word == "TARE_SAVED_BY_STATE":
        return f"TARE_LIST_OF({name}, {of}, {field.arg})" if field.struct else f"TARE_INTS_OF({name}, {field.arg})", []
    count, cap = counts(field, names)
    if field.is_text and field.stars == 1 and not count:
        return f"TARE_TEXT({name})", []
    if not count:
        sys.exit(f"struct {field.of}: nothing says to how many `{name}` points; ledger/saved.h has words for that")
    kinds = {(2, True, True): "ITEMS_IN", (2, True, False): "ITEMS", (2, False, True): "TEXTS", (1, True, True): "LIST", (1, True, False): "ROW", (1, False, True): "INTS"}
    kind = kinds[field.stars, bool(field.struct), bool(cap)]
    told = [count] + ([cap] if cap else [])
    return f"TARE_{kind}({', '.join([name] + ([of] if field.struct else []) + told)})", told


def is_in(field):
    """Is a struct saved, or freed, where the field is?"""
    if field.word == "TARE_ONLY_FREED" and field.stars:
        return False
    return field.struct and field.word != "TARE_NOT_SAVED" and not field.struct.startswith("tare_rec_") and \
        (field.stars or field.struct not in ("tare_map", "tare_strmap")) and not (field.stars == 1 and field.struct in OTHERS)


def table(name, known, roots, done, out):
    if name in done:
        return
    done.append(name)
    if name == "tare_map":  # of a list of maps
        out += ["", "static const struct tare_shape_field fields_tare_map[] = {",
                '\t{ .name = "map", .kind = TARE_SHAPED_MAP, .size = sizeof(struct tare_map), .nr = 1 },', "\tTARE_FIELDS_END", "};",
                "static const struct tare_shape tare_shape_tare_map = TARE_SHAPE(tare_map, fields_tare_map);"]
        return
    if name not in known:
        sys.exit(f"no header of src/ledger declares struct {name}, which is saved")
    fields = list(c_structs.fields_of(name, known[name][1], WORDS))
    for field in filter(is_in, fields):
        table(field.struct, known, roots, done, out)
    entries = {field.name: entry(field, {other.name for other in fields}) for field in fields}
    told = {other for _, others in entries.values() for other in others}
    out += ["", f"#define SELF struct {name}", f"static const struct tare_shape_field fields_{name}[] = {{"]
    out += [f"\t{macro}," for field, (macro, _) in entries.items() if field not in told]
    out += ["\tTARE_FIELDS_END", "};", "#undef SELF"]
    out += [f"{'' if name in roots else 'static '}const struct tare_shape tare_shape_{name} = TARE_SHAPE({name}, fields_{name});"]


def main(out, depfile, src, *roots):
    known, paths = read_structs(Path(src))
    done, lines = [], []
    for root in roots:
        table(root, known, roots, done, lines)
    headers = sorted({str(known[name][0].relative_to(src)) for name in done if name in known})
    head = ["/* Made by tools/state-tables.py. */"] + [f'#include "{header}"' for header in headers] + ['#include "ledger/state/private.h"']
    Path(out).write_text("\n".join(head + lines) + "\n", encoding="utf-8")
    Path(depfile).write_text(f"{out}: {' '.join(map(str, paths))}\n", encoding="utf-8")


main(*sys.argv[1:])
