#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every field of the structs that make up a fold's state stands in its table: check-state.py

The tables are those of TARE_SHAPE (src/base/shape.h) and TARE_FIELD_TABLE (src/ledger/core/fields.h), between `#define SELF struct X` and `#undef SELF`. A
field that is not kept stands there as TARE_LEFT. Prints what is missing, and what is in a table and in no struct.
"""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def sources():
    for folder, _, names in (entry for top in ("base", "ledger", "record", "trace") for entry in os.walk(os.path.join(ROOT, "src", top))):
        for name in sorted(names):
            if name.endswith((".c", ".h", ".def")):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    yield os.path.relpath(os.path.join(folder, name), ROOT), file.read()


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def body_at(text, start):
    """What stands in the braces that open at `start`, and where they end."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[start + 1:at], at + 1
    raise SystemExit("braces do not match")


def fields_of(body):
    flat, at = "", 0
    while at < len(body):  # of a struct inside only its name counts
        if body[at] == "{":
            at = body_at(body, at)[1]
        else:
            flat += body[at]
            at += 1
    names = set()
    for statement in flat.split(";"):
        for part in statement.split(","):
            name = re.search(r"(\w+)\s*(?:\[[^]]*\]\s*)*$", re.sub(r"[()*]", " ", part).strip())
            if part.strip() and name:
                names.add(name[1])
    return names


def structs(texts):
    found = {}
    for text in texts:
        for match in re.finditer(r"\bstruct (\w+)\s*\{", text):
            found.setdefault(match[1], fields_of(body_at(text, match.end() - 1)[0]))
    return found


def tables(text):
    """Name of the struct, names in its table."""
    for match in re.finditer(r"#define SELF struct (\w+)\n(.*?)#undef SELF", text, re.S):
        names = set()
        for macro, args in re.findall(r"TARE_(\w+)\(([^()]*)\)", match[2]):
            args = [arg.strip() for arg in args.split(",")]
            if macro != "FIELD_TABLE":
                names.add(args[0])
            if macro in ("LIST", "ROW", "ITEMS"):
                names.update(args[2:])
            elif macro in ("INTS", "TEXTS"):
                names.update(args[1:])
        yield match[1], names


def main():
    texts = {path: without_comments(text) for path, text in sources()}
    known, seen, wrong = structs(texts.values()), 0, 0
    parts = set(re.findall(r"^TARE_PART\((\w+)\)", texts["src/ledger/parts/parts.def"], re.M))
    known["tare_parts"] = parts
    for path, text in texts.items():
        for name, told in tables(text):
            told = told - {"name"} | parts if name == "tare_parts" else told
            seen += 1
            for field in sorted(known.get(name, set()) ^ told):
                print(f"{path}: {name}.{field} stands only in the {'table' if field in told else 'struct'}")
                wrong += 1
    if not seen:
        sys.exit("there are no tables")
    print(f"{seen} tables, {wrong} fields that do not match")
    sys.exit(wrong > 0)


main()
