#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the documentation shows comes out."""

import os
import re
import subprocess

from harness import BUILD, ROOT, Skip, case, check, check_equal, main, needs_exec, needs_torch


def shows_what_comes_out(box, name, *how):
    done = box.run([os.path.join(ROOT, "tools", "doc-examples.py"), *how, os.path.join(BUILD, "tare"),
                    os.path.join(ROOT, name)], timeout=600)
    check_equal(done.code, 0, "tools/doc-examples.py --write build/tare %s writes it anew" % name, done)


@case
def the_readme(box):
    needs_torch()
    shows_what_comes_out(box, "README.md")


@case
def the_tutorial(box):
    needs_torch()
    shows_what_comes_out(box, "docs/TUTORIAL.md")


@case
def the_tutorial_without_a_gpu(box):
    """With PyTorch's CUDA build: what is in its `$` lines takes seconds."""
    needs_exec()
    venv = subprocess.run([os.path.join(ROOT, "tools", "cuda-venv.sh"), "--path"], stdout=subprocess.PIPE, text=True,
                          check=True).stdout.strip()
    if not os.path.exists(os.path.join(venv, ".ready")):
        raise Skip("PyTorch's CUDA build is not there: tools/cuda-venv.sh makes %s" % venv)
    shows_what_comes_out(box, "docs/TUTORIAL_PREDICT.md", "--python", os.path.join(venv, "bin"))


@case
def a_wrong_number_is_noticed(box):
    needs_torch()
    with open(os.path.join(ROOT, "docs", "TUTORIAL.md"), encoding="utf-8") as file:
        text = file.read()
    section = text[text.index("## A GPU"):text.index("The recording answers")]
    with open(box.path("wrong.md"), "w", encoding="utf-8") as file:
        file.write(section.replace("523.6", "523.7", 1))
    done = box.run([os.path.join(ROOT, "tools", "doc-examples.py"), os.path.join(BUILD, "tare"), "wrong.md"])
    check_equal(done.code, 1, done)
    check("documented: 523.7 | comes out: 523.6" in done.out, done)


@case
def every_line_of_doctor_has_an_entry(box):
    """A heading of docs/TROUBLESHOOTING.md for each check that src/cmd/doctor_*.c makes, and no other."""
    checks = set()
    for name in ("doctor_host.c", "doctor_gpu.c"):
        with open(os.path.join(ROOT, "src", "cmd", name), encoding="utf-8") as file:
            source = file.read()
        names = dict(re.findall(r'static const char (\w+)\[\] = "([^"]+)"', source))
        for first in re.findall(r'tare_doctor_add\(\s*d,[^"]*?,\s*("[^"]+"|\w+),', source):
            if first.strip('"') == "what": # check_folder()'s callers name it
                checks.update(re.findall(r'check_folder\(d, "([^"]+)"', source))
            else:
                checks.add(names.get(first, first.strip('"')))
    with open(os.path.join(ROOT, "docs", "TROUBLESHOOTING.md"), encoding="utf-8") as file:
        section = file.read().split("## The lines of `tare doctor`")[1].split("\n## ")[0]
    check_equal(sorted(re.findall(r"^### (.+)$", section, re.M)), sorted(checks))
    said = {line[6:].split("  ")[0] for line in box.tare("doctor").out.splitlines() if line[:4] in ("ok  ", "warn", "FAIL")}
    check(said <= checks, said, checks)


@case
def links_lead_somewhere(box):
    names = ["README.md", "CONTRIBUTING.md"] + ["docs/" + n for n in os.listdir(os.path.join(ROOT, "docs")) if n.endswith(".md")]
    for name in names:
        folder = os.path.dirname(os.path.join(ROOT, name))
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", file.read()):
                check(os.path.exists(os.path.join(folder, target)), "%s links to %s, which is not there" % (name, target))


if __name__ == "__main__":
    main()
