#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the shell offers behind `tare`, by the completion that tare prints."""

import os
import re
import shutil

from harness import (BUILD, ROOT, case, check, check_equal, end_of, main, needs, needs_exec, needs_program, on_terminal,
                     read_until)

TARE = os.path.join(BUILD, "tare")
CARDS = sorted(name[:-len(".profile")] for name in os.listdir(os.path.join(ROOT, "simgpu/profiles"))
               if name.endswith(".profile"))

SCRIPT = r"""
eval "$(%s help --bash)"
COMP_LINE=$1 COMP_POINT=${#1}; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
compopt() { :; }
_tare
printf '%%s\n' "${COMPREPLY[@]}"
"""


def offered(box, line):
    """As readline parts the words of a line: at blanks, and at : and =, which are words themselves."""
    tare = os.path.join(BUILD, "tare")
    words = re.findall(r"[:=]|[^\s:=]+", line) + ([""] if line[-1] in " :=" else [])
    words[0] = tare
    done = box.run(["/bin/bash", "--norc", "-c", SCRIPT % tare, "bash", line] + words)
    check_equal((done.code, done.err), (0, ""), done)
    return done.out.split()


@case
def words_of_each_kind(box):
    needs_exec()
    needs(os.path.exists("/bin/bash"), "bash")
    for line, want in (
            ("tare dif", ["diff"]),
            ("tare report --by l", ["library", "line"]),
            ("tare report --by=li", ["library", "line"]),
            ("tare report -b li", ["library", "line"]),
            ("tare report --format h", ["html"]),
            ("tare report a.tare --at p", ["peak", "peak:tensors", "peak:host", "phase:"]),
            ("tare report a.tare --at peak:", ["tensors", "host"]),
            ("tare report a.tare --at peak:h", ["host"]),
            ("tare diff a.tare b.tare --at en", ["end"]),
            ("tare diff a.tare b.tare --by ca", ["category"]),
            ("tare run --sim h", ["h100", "h200"]),
            ("tare run --sim=rtx-3", ["rtx-3060-ti", "rtx-3090"]),
            ("tare plan --card ", CARDS),
            ("tare ctl rec.tare s", ["snapshot", "stop", "status"]),
            ("tare ctl pa", ["pause"]),
            ("tare help do", ["doctor"]),
            ("tare report --an", ["--annotate"]),
            ("tare report --html x", []),
            ("tare report ", [])):
        check_equal(offered(box, line), want, line)


@case
def in_a_shell(box):
    needs_exec()
    needs(os.path.exists("/bin/bash"), "bash")
    env = {"PATH": BUILD + ":" + os.environ["PATH"], "PS1": "", "TERM": "dumb"}
    pid, fd = on_terminal(box, ["/bin/bash", "--norc", "-i"], env)
    os.write(fd, b'PS1=; eval "$(tare help --bash)"; echo rea""dy\n')
    read_until(fd, b"ready\r\n")
    os.write(fd, b"echo tare; tare() { echo \"<$*>\"; }\n")
    read_until(fd, b"tare\r\n")
    os.write(fd, b"tare report rec.tare --at peak:te\t --by categ\t\n")
    seen = read_until(fd, b">")
    check(b"<report rec.tare --at peak:tensors --by category>" in seen, seen)
    os.write(fd, b"exit 0\n")
    check_equal(end_of(pid), 0)


def needs_shell(name):
    needs_exec()
    needs_program(name)


# What zsh and fish write of a line, and what they hand to tare: by its arguments.
LINES = (("report rec.tare --at peak:te\t --by categ\t", "report rec.tare --at peak:tensors --by category"),
         ("report --by=categ\t", "report --by=category"),
         ("run --sim gtx\t", None),
         ("ctl rec.tare pau\t", "ctl rec.tare pause"),
         ("help doc\t", "help doctor"),
         ("report --anno\t", "report --annotate"))


@case
def in_zsh(box):
    """The file as zsh finds it by its name, in a folder of fpath."""
    needs_shell("zsh")
    folder = box.path("functions")
    os.mkdir(folder)
    with open(os.path.join(folder, "_tare"), "w") as f:
        f.write(box.run([TARE, "help", "--zsh"]).out)
    env = {"PATH": BUILD + ":" + os.environ["PATH"], "TERM": "dumb", "HOME": box.path("")}
    pid, fd = on_terminal(box, [shutil.which("zsh"), "-f", "-i"], env)
    os.write(fd, b"PS1=; fpath=(%s $fpath); "
                 b"autoload -U compinit; compinit -u -D; echo rea''dy\n" % folder.encode())
    read_until(fd, b"ready\r\n")
    os.write(fd, b"tare() { [[ $1$2 = help--profiles ]] && echo gtx-one || echo \"<$*>\" }; echo d''one\n")
    read_until(fd, b"done\r\n")
    for typed, want in LINES:
        os.write(fd, b"tare " + typed.encode() + b"\n")
        seen = read_until(fd, b">\r\n")
        check(b"<%s>" % (want or "run --sim gtx-one").encode() in seen, typed, seen)
    os.write(fd, b"exit 0\n")
    check_equal(end_of(pid), 0)


@case
def in_fish(box):
    needs_shell("fish")
    script = "%s help --fish | source\nfor line in $argv; echo -- (complete -C $line | string split -f1 \\t); end" % TARE
    lines = ("tare dif", "tare report --by l", "tare report --by=li", "tare report -b li", "tare report --format h",
             "tare report a.tare --at peak:h", "tare run --sim h", "tare ctl rec.tare pa", "tare help do", "tare report --an")
    env = {"PATH": BUILD + ":" + os.environ["PATH"], "HOME": box.path("")}
    done = box.run([shutil.which("fish"), "--no-config", "-c", script] + list(lines), env=env)
    check_equal((done.code, done.err), (0, ""), done)
    check_equal(done.out.split("\n")[:-1],
                ["diff", "library line", "--by=library --by=line", "library line", "html", "peak:host", "h100 h200", "pause", "doctor", "--annotate"])


main()
