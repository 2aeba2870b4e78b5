#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the shell offers behind `tare`, by the completion that tare prints."""

import os
import re

from harness import BUILD, Skip, case, check, check_equal, main, needs_exec, on_terminal, read_until, end_of

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
    if not os.path.exists("/bin/bash"):
        raise Skip("no bash here")
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
            ("tare run --sim h", ["h200"]),
            ("tare run --sim=", ["h200"]),
            ("tare plan --card ", ["h200"]),
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
    if not os.path.exists("/bin/bash"):
        raise Skip("no bash here")
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


main()
