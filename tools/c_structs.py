#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Structs as headers declare them, for tools that make code out of them: state-tables.py, free-owned.py."""
import re

TYPE = re.compile(r"(?:const\s+)?((?:struct|enum|unsigned)\s+\w+|\w+)\b(?:\s+const\b)?")
NAME = re.compile(r"(?P<stars>[\s*]*)(?:\(\s*\*\s*(?P<row>\w+)\s*\)|(?P<name>\w+))\s*(?P<dims>(?:\[[^]]*\]\s*)*)$")


class Field:
    def __init__(self, of, word, arg, is_const, type_, text):
        found = NAME.match(text)
        if not found:
            raise ValueError(f"struct {of}: `{text}` is no field that tools/c_structs.py understands")
        self.of, self.word, self.arg, self.is_const = of, word, arg, is_const
        self.struct = type_.split()[1] if type_.startswith("struct ") else None
        self.is_text = type_ == "char"
        self.name = found["name"] or found["row"]
        self.stars = found["stars"].count("*") + bool(found["row"])
        self.dims = 0 if found["row"] else found["dims"].count("[")


def body_at(text, start):
    """What stands in the braces that open at `start`, without those inside."""
    depth, body = 0, ""
    for char in text[start:]:
        depth += {"{": 1, "}": -1}.get(char, 0)
        if depth == 0:
            return body
        if depth == 2 and char == "{" and body.rstrip().endswith("struct"):
            body += " without_a_name "
        if depth == 1 and char not in "{}":
            body += char
    raise ValueError("braces do not match")


def fields_of(name, body, words):
    """Those of a struct; `words`: matches one of the words that may stand before a field, and what is in its brackets."""
    for statement in filter(None, (part.strip() for part in body.split(";"))):
        word = words.match(statement)
        statement = statement[word.end():] if word else statement
        type_ = TYPE.match(statement)
        for text in statement[type_.end():].split(","):
            is_const = statement.startswith("const ")
            yield Field(name, word and word[1], word and word[2], is_const, re.sub(r"\s+", " ", type_[1]), text)


def structs_of(path):
    """Of each struct of a header what stands in its braces."""
    text = re.sub(r"/\*.*?\*/", " ", path.read_text(encoding="utf-8"), flags=re.S)
    text = re.sub(r"^\s*#.*(?:\\\n.*)*$", "", text, flags=re.M)
    return [(match[1], body_at(text, match.end() - 1)) for match in re.finditer(r"\bstruct (\w+)\s*\{", text)]
