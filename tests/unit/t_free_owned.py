#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/free-owned.py makes a function that frees what the words before the fields say, and refuses words that say too little."""
import os
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/free-owned.py")
INNER = "struct inner {\n TARE_OWNED char *text;\n};\n"
KNOWN = "void tare_map_free(struct tare_map *m);\n"


def made(fields, before=INNER):
    """The lines of the function for a struct with these fields, and what the tool says when it makes none."""
    with tempfile.TemporaryDirectory() as src:
        for folder, text in (("base", KNOWN), ("some", f"{before}struct outer {{ {fields} }};\nTARE_FREES(outer_free, outer);\n")):
            os.makedirs(os.path.join(src, folder))
            with open(os.path.join(src, folder, "x.h"), "w", encoding="utf-8") as header:
                header.write(text)
        out = os.path.join(src, "out.c")
        run = subprocess.run([sys.executable, TOOL, out, out + ".d", src, "some"], capture_output=True, text=True, check=False)
        if run.returncode:
            return None, run.stderr
        with open(out, encoding="utf-8") as file:
            text = file.read()
    assert text.endswith("\t*what = (struct outer){ 0 };\n}\n"), text
    return [line.strip() for line in text[text.index("{\n") + 2:].splitlines()[:-2]], ""


def each(many, *lines):
    return [f"for (size_t i = 0; i < (size_t)({many}); i++) {{", *lines, "}"]


class Functions(unittest.TestCase):
    def test_kinds(self):
        for fields, wanted in {
                "int a; TARE_OWNED int *b, *c; const char *d;": ["free((void *)what->b);", "free((void *)what->c);"],
                "TARE_OWNED struct tare_map a;": ["tare_map_free(&what->a);"],
                "TARE_OWNED struct inner a;": ["free((void *)what->a.text);"],
                "TARE_OWNED struct inner a[2];": each("sizeof(what->a) / sizeof(*what->a)", "free((void *)what->a[i].text);"),
                "TARE_OWNED struct inner *a;": ["if (what->a) {", "free((void *)what->a->text);", "}", "free(what->a);"],
                "TARE_OWNED struct inner *items; size_t nr;":
                    each("what->items ? what->nr : 0", "free((void *)what->items[i].text);") + ["free(what->items);"],
                "TARE_OWNED char **laws; int law_count;":
                    each("what->laws ? what->law_count : 0", "free((void *)what->laws[i]);") + ["free(what->laws);"],
                "TARE_OWNED_MANY(n) struct tare_map *maps; size_t n;":
                    each("what->maps ? what->n : 0", "tare_map_free(&what->maps[i]);") + ["free(what->maps);"],
                "TARE_OWNED const char **names; size_t name_nr;": ["free((void *)what->names);"],
                "TARE_OWNED_LIST struct inner **others; size_t other_nr;": ["free((void *)what->others);"],
                "TARE_OWNED_BY(end) struct x *a; TARE_OWNED_BY(stop) int b;": ["end(what->a);", "stop(what->b);"],
                "TARE_OWNED_BY(end) struct x **items; size_t count;":
                    each("what->items ? what->count : 0", "end(what->items[i]);") + ["free(what->items);"],
                "int (*of)(void *); enum { A, B } a; TARE_OWNED int *b;": ["free((void *)what->b);"],
        }.items():
            self.assertEqual(made(fields)[0], wanted, f"{fields}: {made(fields)[1]}")

    def test_an_arena_goes_last(self):
        lines, _ = made("TARE_OWNED struct tare_arena a; TARE_OWNED int *b;", "void tare_arena_free(struct tare_arena *a);\n")
        self.assertEqual(lines, ["free((void *)what->b);", "tare_arena_free(&what->a);"])

    def test_what_says_too_little(self):
        for fields, said in {"int *a;": "says of no field that it is freed",
                             "TARE_OWNED char **lines;": "nothing says to how many it points",
                             "TARE_OWNED_MANY(gone) struct inner *a;": "nothing says to how many it points",
                             "TARE_OWNED struct absent a;": "nothing says how struct absent is freed"}.items():
            self.assertIn(said, made(fields)[1], fields)


if __name__ == "__main__":
    unittest.main()
