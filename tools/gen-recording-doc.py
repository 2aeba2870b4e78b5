#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of docs/RECORDING.md from src/record/format.h and the tables *.def.

    tools/gen-recording-doc.py            rewrite what stands between the markers
    tools/gen-recording-doc.py --check    exit 1 if that would change anything
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOC = ROOT / "docs/RECORDING.md"
RECORD = ROOT / "src/record"
SIZES = {"char": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4,
         "int64_t": 8, "uint64_t": 8}
TAILS = {"TEXT": ("text", "UTF-8, `bytes` long"), "PCS": ("u64 …", "`depth` of them: return addresses, or ids")}


def short(ctype):
    return "char" if ctype == "char" else ("i" if ctype.startswith("int") else "u") + str(SIZES[ctype] * 8)


def cell(text):
    text = re.sub(r"\s*\n\s*\*\s*", " ", text or "").strip()
    return re.sub(r"enum (tare_\w+)", r"[\1](#\1)", text).replace("|", "\\|")


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(str(c) for c in row) + " |"
    yield ""


def roles():
    """Role → what stands in the column Means, and its unit."""
    text = (RECORD / "field_role.def").read_text()
    return {key: (key.lower().replace("_", " "), unit) for key, unit in
            re.findall(r'TARE_FIELD_ROLE\((\w+),\s*\w+,\s*"(.*?)"', text)}


def record_sections(text):
    """One section per TARE_RECORD, with the comment above it."""
    known = roles()
    pattern = r"/\*((?:(?!\*/).)*)\*/\s*\nTARE_RECORD\((\d+), \w+, (\w+), (\w+),(.*?)\n(?=\n|/\* clang)"
    for comment, number, name, kind_class, body in re.findall(pattern, text, re.S):
        tail = re.search(r", (NONE|TEXT|PCS)\)", body).group(1)
        yield f"### {number} `{name}`\n\n{cell(comment)} Class: {kind_class.lower()}.\n"
        rows, offset, about = [], 16, ""
        for line in body.split("\n"):
            field = re.search(r"F\((\w+), (\w+), (\w+)(?:\(\w+\))?\)", line)
            if not field:
                continue
            role, unit = known[field[3]]
            note = re.search(r"/\* (.*?) \*/", line)
            meaning = cell(note and note[1])
            if tail == "TEXT" and field[3] in ("LENGTH", "PATH"):
                # The comment at the length is about the text.
                about, meaning = meaning and meaning + ", ", "length of the text"
            if field[3] == "RESERVED":
                meaning = "0"
            rows.append((offset, short(field[1]), f"`{field[2]}`", role, unit, meaning))
            offset += SIZES[field[1]]
        if tail in TAILS:
            rows.append((offset, TAILS[tail][0], "", "", "", about + TAILS[tail][1]))
        yield from table(("Offset", "Type", "Field", "Role", "Unit", "Meaning"), rows)


def row_section(file, macro, title, columns):
    """The rows of a table of the source, as they stand there."""
    rows = re.findall(macro + r"\((.*)\)", re.sub(r"/\*.*?\*/", "", (RECORD / file).read_text(), flags=re.S))
    yield f"{title}\n"
    yield from table(columns, [columns_of(row) for row in rows])


def columns_of(row):
    *words, meaning = re.findall(r'"[^"]*"|[^\s,][^,]*', row)
    return [words[0].lower().replace("_", " ")] + [w.strip('"') for w in words[1:]] + [cell(meaning.strip('"'))]


def struct_section(text, name, title):
    body = re.search(r"struct %s \{\n(.*?)\n\};" % name, text, re.S)[1]
    rows, offset = [], 0
    for line in body.split("\n"):
        field = re.match(r"\t(?:struct )?(\w+) (\w+)(?:\[(\d+)\])?;(?:\s*/\* (.*?) \*/)?", line)
        if not field:
            continue  # a comment on those below
        if field[1] == "tare_file_header":
            rows.append((offset, "", f"`{field[2]}`", "the file's header, as above"))
            break
        size = SIZES[field[1]]
        kind = short(field[1]) + (f"[{field[3]}]" if field[3] else "")
        rows.append((offset, kind, f"`{field[2]}`", cell(field[4])))
        offset += size * int(field[3] or 1)
    yield f"### {title}\n"
    yield from table(("Offset", "Type", "Field", "Meaning"), rows)


def map_sections(text):
    for name, body in re.findall(r"#define TARE_(\w+)_MAP\(X\)\s*\\\n(.*?)\n\n", text, re.S):
        tag = re.search(r"enum (tare_\w+) \{ TARE_%s_MAP" % name, text)[1]
        rows = re.findall(r'X\((\d+),\s*\w+,\s*"(.*?)",\s*"(.*?)"\)', re.sub(r"\\\n", "\n", body))
        yield f'<a id="{tag}"></a>**{tag}**\n'
        yield from table(("Value", "Word", "Meaning"), [(v, f"`{w}`", cell(m)) for v, w, m in rows])


def class_section(text):
    rows = re.findall(r'TARE_CLASS\((\d+),\s*\w+,\s*"(.*?)",\s*(\w+),', text)
    yield '<a id="tare_class"></a>**tare_class**\n'
    yield from table(("Value", "Word", "Sized by"),
                     [(v, f"`{w}`", sizing.lower()) for v, w, sizing in rows])


def generated():
    form = (RECORD / "format.h").read_text()
    yield from struct_section(form, "tare_file_header", "Header of a log")
    yield from struct_section(form, "tare_ring_header", "Header of a ring")
    yield from struct_section(form, "tare_lane", "A lane in the table of a ring")
    yield from struct_section(form, "tare_control", "The page `control`")
    yield "## Records\n"
    yield from row_section("record_class.def", "TARE_RECORD_CLASS",
                           "What is done with the records of a kind follows from its class:",
                           ("Class", "In the order of time", "In the schema", "Meaning"))
    yield from row_section("field_role.def", "TARE_FIELD_ROLE", "What the value of a field means is its role:",
                           ("Role", "Printed as", "Unit", "If the recording has no such field", "Meaning"))
    yield from row_section("bound.def", "TARE_BOUND", "A value that cannot be becomes another where a record is read, by its role "
                           "(words of `tare_class` are an index, CLASS; what an id, a device or a process names that is not there is nothing):",
                           ("Role", "Least", "Most", "Any other becomes", "Why"))
    yield from record_sections((RECORD / "record.def").read_text())
    yield "## Words\n"
    yield from map_sections(form)
    yield from class_section((RECORD / "class.def").read_text())


def main():
    old = DOC.read_text()
    begin, end = "<!-- generated: tools/gen-recording-doc.py -->\n", "<!-- end of generated -->"
    head, rest = old.split(begin)
    tail = rest.split(end)[1]
    new = head + begin + "\n" + "\n".join(generated()) + end + tail
    if "--check" not in sys.argv[1:]:
        DOC.write_text(new)
        return 0
    if new != old:
        print(f"{DOC} does not say what src/record/*.def and format.h say; run {sys.argv[0]}")
    return new != old


if __name__ == "__main__":
    sys.exit(main())
