#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/state-tables.py makes the table of every kind of field, and refuses one of which nothing says how it is saved."""
import os
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/state-tables.py")
INNER = "struct inner { int x; };\n"


def made(fields, before=INNER):
    """What the tool makes of a struct with these fields, and what it says when it makes nothing."""
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "ledger/parts"))
        with open(os.path.join(folder, "ledger/outer.h"), "w", encoding="utf-8") as header:
            header.write(f"{before}struct outer {{ {fields} }};\n")
        with open(os.path.join(folder, "ledger/parts/parts.def"), "w", encoding="utf-8") as parts:
            parts.write("TARE_PART(one)\n")
        out = os.path.join(folder, "out.c")
        run = subprocess.run([sys.executable, TOOL, out, out + ".d", folder, "outer"], capture_output=True, text=True, check=False)
        if run.returncode:
            return None, run.stderr
        with open(out, encoding="utf-8") as file:
            text = file.read()
    table = text[text.index("fields_outer[] = {"):]
    return [line.strip(" \t,") for line in table.splitlines()[1:] if line.startswith("\tTARE_") and "FIELDS_END" not in line], ""


class Tables(unittest.TestCase):
    def test_kinds(self):
        for fields, wanted in {
                "int a, b[4]; /* c; */ enum e d;": ["INT(a)", "INT_ARRAY(b)", "INT(d)"],
                "struct inner a, b[2];": ["STRUCT(a, tare_shape_inner)", "STRUCT_ARRAY(b, tare_shape_inner)"],
                "struct inner *items; size_t count, cap;": ["LIST(items, tare_shape_inner, count, cap)"],
                "struct inner *items; size_t nr, cap; uint64_t count;": ["LIST(items, tare_shape_inner, nr, cap)", "INT(count)"],
                "struct inner *entries; size_t entry_nr;": ["ROW(entries, tare_shape_inner, entry_nr)"],
                "struct inner **others; int other_nr;": ["ITEMS(others, tare_shape_inner, other_nr)"],
                "uint32_t *calls; size_t call_nr, call_cap;": ["INTS(calls, call_nr, call_cap)"],
                "const char *name, **notes; size_t note_nr, note_cap;": ["TEXT(name)", "TEXTS(notes, note_nr, note_cap)"],
                "struct tare_map a, b[3]; struct tare_strmap c;": ["MAP(a)", "MAP_ARRAY(b)", "STRMAP(c)"],
                "const struct tare_process *process;": ["OTHER(process, TARE_STATE_PROCESS)"],
                "struct tare_rec_graph said;": ["WORDS(said)"],
                "struct named { int (*x)(void *); } a; TARE_NOT_SAVED struct { int y; } b;": None,
                "TARE_NOT_SAVED struct { int y; } b; int c;": ["LEFT(b)", "INT(c)"],
                "TARE_NOT_SAVED int a, b;": ["LEFT(a)", "LEFT(b)"],
                "TARE_ONLY_FREED int *a; TARE_ONLY_FREED struct inner b;": ["FREED(a)", "FREED_STRUCT(b, tare_shape_inner)"],
                "TARE_SAVED_ONE struct inner *a;": ["ITEM(a, tare_shape_inner)"],
                "TARE_SAVED_AS_MANY(other_nr) struct inner *a; int other_nr;": ["ROW(a, tare_shape_inner, other_nr)"],
                "TARE_SAVED_BY_STATE(MANY) struct inner (*a)[2];": ["LIST_OF(a, tare_shape_inner, MANY)"],
        }.items():
            table, said = made(fields)
            self.assertEqual(table, wanted and ["TARE_" + row for row in wanted], f"{fields}: {said}")

    def test_what_is_not_known(self):
        for fields in ("struct inner *a;", "int *numbers;", "struct inner *items; int other;", "TARE_SAVED_AS_MANY(gone) int *a;"):
            self.assertIn("nothing says to how many", made(fields)[1], fields)
        self.assertIn("no header of src/ledger declares struct absent", made("struct absent a;")[1])

    def test_a_struct_in_a_struct_comes_first(self):
        table, _ = made("struct middle a;", INNER + "struct middle { struct inner b; };\n")
        self.assertEqual(table, ["TARE_STRUCT(a, tare_shape_middle)"])


if __name__ == "__main__":
    unittest.main()
