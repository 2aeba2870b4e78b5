#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what the documentation shows, and compares what comes out with what it says.

    tools/doc-examples.py TARE FILE…            differences go to stdout; exit code 1 if there are any
    tools/doc-examples.py --write TARE FILE…    writes what came out into the files instead
    --python FOLDER                             before TARE: the programs' Python is in it

In an indented block, a line `$ COMMAND` is a command, and what follows up to the next one is its output, both of
its streams. A block without such a line is not looked at. The commands of a file run one after another in one
folder, which has the examples in it. What differs from run to run (times, numbers of processes, what the kernel says
is resident) is not compared, nor is how much blank there is between columns."""

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INDENT = "    "

MASKS = (
    (r"[▁▂▃▄▅▆▇█]+", "PICTURE"),
    (r"\d[\d.,]* (ns|µs|ms|s|min)\b", "TIME"),
    (r"pid \d+", "pid N"),
    (r"\+0x[0-9a-f]+", "+ADDRESS"),
    (r"-\d{8}-\d{6}-\d+", "-DATE-TIME-PID"),
    (r"\d[\d.]* (MiB|GiB) free", "ROOM free"),
    (r"\.tare \(\d[\d.]* (B|KiB|MiB|GiB)\)", ".tare (SIZE)"),
    (r"Linux \S+,", "Linux VERSION,"),
    (r"─+", "─"),
    (r"\bwith nvidia-cudnn[\w-]* [\d.]+(, [\w-]+ [\d.]+)*", "with VERSIONS"),
)


RESIDENT = ("resident", "anonymous", "files", "shared")  # shared: where the recording lies on tmpfs


def parts(text):
    """[(kind, lines)]: `text` as it stands, or a `command` with its output."""
    found, kind = [("text", [])], "text"
    for line in text.split("\n"):
        if line.startswith(INDENT + "$ "):
            kind = "command"
            found.append((kind, [line]))
        elif kind == "command" and line and not line.startswith(INDENT):
            kind = "text"
            found.append((kind, [line]))
        else:
            found[-1][1].append(line)
    return found


def comparable(lines):
    """
    The words that are to be the same, wherever a line ends. Of a host line none that is a number; nor those of what was
    resident, which a program of some milliseconds has no reading of unless the machine is busy.
    """
    words, is_host = [], False
    for line in lines:
        is_host = line.startswith("host ") or (is_host and line.startswith(" "))
        words += [word for word in line.split() if not is_host or (word.isalpha() and word not in RESIDENT)]
    text = " ".join(words)
    for pattern, instead in MASKS:
        text = re.sub(pattern, instead, text)
    return text.split(" ")


def run(command, folder, python):
    """Objects of programs are looked through as often as asked for: on a busy machine a short program may end before."""
    env = {"PATH": ":".join([os.path.join(folder, ".bin"), *python, "/usr/bin", "/bin"]), "HOME": folder, "LANG": "C.UTF-8",
           "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "TARE_SCAN": "eager"}
    done = subprocess.run(["/bin/bash", "-c", command], cwd=folder, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=600)
    return done.stdout.decode("utf-8", "replace").replace(folder + "/", "").rstrip("\n").split("\n")


def make_folder(tare):
    folder = tempfile.mkdtemp(prefix="tare-docs-")
    os.mkdir(os.path.join(folder, ".bin"))
    os.symlink(os.path.abspath(tare), os.path.join(folder, ".bin", "tare"))
    for name in os.listdir(os.path.join(ROOT, "examples")):
        if name.endswith(".py"):
            shutil.copy(os.path.join(ROOT, "examples", name), folder)
    return folder


def tell(path, command, wanted, got):
    print("%s: of `%s`" % (path, command))
    for how, a, b, c, d in difflib.SequenceMatcher(None, wanted, got, autojunk=False).get_opcodes():
        if how != "equal":
            print("  documented: %s | comes out: %s | behind: %s" % (
                " ".join(wanted[a:b]), " ".join(got[c:d]), " ".join(wanted[max(0, a - 6):a])))


def go_through(path, tare, python):
    """The text with fresh output, and how many commands gave another."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    folder, out, wrong = make_folder(tare), [], 0
    try:
        for kind, lines in parts(text):
            if kind == "text":
                out += lines
                continue
            command = lines[0][len(INDENT) + 2:]
            behind = len(lines) - len("\n".join(lines).rstrip().split("\n"))
            wanted = [line[len(INDENT):] for line in lines[1:len(lines) - behind]]
            got = run(command, folder, python)
            if comparable(wanted) != comparable(got):
                tell(path, command, comparable(wanted), comparable(got))
                wrong += 1
            out += [lines[0]] + [(INDENT + line).rstrip() for line in got if got != [""]] + [""] * behind
    finally:
        shutil.rmtree(folder)
    return "\n".join(out), wrong


def main():
    arguments = sys.argv[1:]
    is_writing = arguments[:1] == ["--write"]
    del arguments[:is_writing]
    python = [os.path.abspath(arguments[1])] if arguments[:1] == ["--python"] else []
    del arguments[:2 * len(python)]
    tare, *paths = arguments
    wrong = 0
    for path in paths:
        text, count = go_through(path, tare, python)
        wrong += count
        if is_writing:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    sys.exit(wrong > 0 and not is_writing)


if __name__ == "__main__":
    main()
