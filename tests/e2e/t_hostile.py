#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing that Tare prints is steered by a text from outside: recordings, tables, sweeps and command lines whose every
name is hostile, through every command, option and format that `tare help` lists."""

import os
import pty
import re
import shutil
import subprocess
import sys

from harness import FIXTURES, PATIENCE, case, check, check_equal, fixture, main, needs_exec, tare_argv
from hostile import ALL, SNIPPETS, STEERS, TONES, check_bytes, poison, run
from sweeps import cell, sweep

HERE = os.path.dirname(os.path.abspath(__file__))
REC = b"h" + ALL + b".tare"

PROGRAMS = [
    fixture("e2e_phases"), fixture("e2e_tensors"), fixture("e2e_training"), fixture("e2e_stack"), fixture("e2e_torch_graphs"),
    fixture("e2e_torch_streams"), fixture("e2e_oom"), fixture("e2e_vmm"), fixture("e2e_cell", "mib=16"),
]
NEED_CXX = [fixture("e2e_torch_graphs")]  # built where there is a C++ compiler


def commands(box):
    return re.findall(r"^  (\w+)  ", box.tare("help").out, re.M)


def options(box, command):
    """(name, metavar or None) of every long option."""
    return re.findall(r"^ +(?:-\w, )?--([\w-]+)(?: (\S+))?", box.tare("help", command).out, re.M)


def poisoned(box, program):
    """A recording of a program whose every text is hostile; its path."""
    box.record(program, exit_code=None, options=("-f",))
    check(poison(box, "rec.tare") > 3, "%s: no texts" % program)
    shutil.rmtree(os.path.join(os.fsencode(box.dir), REC), ignore_errors=True)
    os.rename(box.path("rec.tare"), os.path.join(os.fsencode(box.dir), REC))
    return REC


def shown(box, argv, *how):
    done = run(box, argv, *how)
    check_equal(done.returncode, 0, repr(done))


def show(box, rec):
    """Every form in which `tare report`, dump, info and fit show a recording."""
    ways = dict(options(box, "report"))
    report = tare_argv("report", rec)
    for how in [[]] + [["--by", by] for by in ways["by"].split("|")] + [["--cost", "time"], ["--at", "peak:host"]]:
        for form in ("text", "json", "csv"):
            shown(box, report + how + (["--" + form] if form != "text" else []), form)
    for by in ([], ["--by", "category"]):
        shown(box, report + ["--svg", "p.svg"] + by, "svg", box.path("p.svg"))
    shown(box, report + ["--svg", "-"], "svg")
    shown(box, tare_argv("info", rec))
    shown(box, tare_argv("info", rec, "--json"), "json")
    shown(box, tare_argv("dump", rec, "--offsets"))
    shown(box, tare_argv("dump", rec, "--json"), "lines")
    for form in ("text", "json", "csv"):
        run(box, tare_argv("fit", rec) + (["--" + form] if form != "text" else []), form)


@case
def recordings_whose_every_text_is_hostile(box):
    needs_exec()
    for program in PROGRAMS:
        if os.path.exists(program[0]) or program not in NEED_CXX:
            show(box, poisoned(box, program))


@case
def python_lines_whose_every_text_is_hostile(box):
    needs_exec()
    show(box, poisoned(box, [sys.executable, os.path.join(HERE, "fixtures", "lines.py")]))


@case
def ranks_whose_every_text_is_hostile(box):
    needs_exec()
    os.mkdir(box.path("job"))
    for rank in range(2):
        box.record(fixture("e2e_alloc"), env={"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank), "MASTER_ADDR": "a" * 60, "MASTER_PORT": "29500"})
        poison(box, "rec.tare")
        os.rename(box.path("rec.tare"), os.path.join(os.fsencode(box.dir), b"job", b"%d" % rank + REC))
    show(box, "job")
    os.rename(box.path("job"), os.path.join(os.fsencode(box.dir), b"j" + ALL))
    run(box, tare_argv("report", b"j" + ALL, "--by", "rank"))


@case
def a_terminal_gets_colours_and_nothing_else_that_steers(box):
    needs_exec()
    for program in (fixture("e2e_phases"), fixture("e2e_tensors")):
        rec = poisoned(box, program)
        for how in ([], ["--by", "phase"], ["--by", "tensor"], ["--by", "library"]):
            master, slave = pty.openpty()
            child = subprocess.Popen(tare_argv("report", rec, *how), stdin=slave, stdout=slave, stderr=slave, cwd=box.dir,
                                     env=box.environment({"TERM": "xterm", "LC_ALL": "C.UTF-8"}))
            os.close(slave)
            got = b""
            while True:
                try:
                    part = os.read(master, 65536)
                except OSError:
                    break
                if not part:
                    break
                got += part
            check_equal(child.wait(), 0)
            os.close(master)
            text = got.decode("utf-8").replace("\r\n", "\n")
            check(how or TONES.search(text), "no colours: %s" % text)
            check_bytes(repr(how), TONES.sub("", text).encode())


@case
def programs_and_phases_with_hostile_names(box):
    needs_exec()
    program = os.path.join(os.fsencode(box.dir), b"p" + ALL)
    shutil.copy(os.path.join(FIXTURES, "e2e_cell"), program)
    for command in ("run", "record"):
        rec = command.encode() + REC
        done = run(box, tare_argv(command, "--sim", "h200", "-o", rec, "--", program, "mib=16"), env={"CUDA_VISIBLE_DEVICES": "0", "SLURM_PROCID": "0", "XLA_FLAGS": os.fsdecode(ALL)})
        check_equal(done.returncode, 0, repr(done))
        show(box, rec)
        done = run(box, tare_argv(command, "--sim", "h200", "-o", rec, "-f", "--", program, ALL))
        check_equal(done.returncode, 99, repr(done))
    for action in ("status", "pause", "snapshot", "stop"):
        run(box, tare_argv("ctl", rec, action))
    run(box, tare_argv("ctl", rec, "snapshot", SNIPPETS[0]))


def write(box, name, data):
    with open(box.path(name), "wb") as file:
        file.write(data)
    return name


def quoted(text):
    return b'"' + text.replace(b'"', b'""') + b'"'


@case
def tables_with_hostile_heads_and_cells(box):
    heads = [SNIPPETS[i] + b"h%d" % i for i in range(len(SNIPPETS))]
    for one in heads + [ALL]:
        rows = [b",".join([quoted(one), b"word", b"y"])]
        for n in range(1, 9):
            rows.append(b",".join([b"%d" % n, quoted(SNIPPETS[n % 3] if n % 2 else one), b"%d" % (100 + 7 * n + n % 2)]))
        table = write(box, "t.csv", b"\n".join(rows) + b"\n")
        cells = write(box, "c.csv", b"\n".join([rows[0].replace(b",y", b"")] + [b"%d,%s" % (n, quoted(one)) for n in (3, 20)]))
        for form in ("text", "json", "csv"):
            flag = ["--" + form] if form != "text" else []
            run(box, tare_argv("fit", table, "-t", "y", *flag), form)
            run(box, tare_argv("fit", table, "-t", "y", "--predict", cells, *flag), form)
            if form != "csv":
                run(box, tare_argv("plan", table, "-t", "y", "--unit", "MiB", "--vram", "1GiB", *flag), form)
    os.rename(box.path("t.csv"), os.path.join(os.fsencode(box.dir), ALL))
    run(box, tare_argv("fit", ALL, "-t", "none"))


@case
def sweeps_with_hostile_values(box):
    needs_exec()
    values = ",".join("v" + text.decode("utf-8", "replace").replace(",", ";") for text in SNIPPETS[:6])
    done = run(box, tare_argv("sweep", "--sim", "h200", "-o", "t.db", "--grid", "word=" + values, "--grid", "n=1,2", "--",
                              *cell("mib={n}")))
    check_equal(done.returncode, 0, repr(done))
    name = os.path.join(os.fsencode(box.dir), b"d" + ALL)
    os.rename(box.path("t.db"), name)
    os.rename(box.path("t.db.d"), name + b".d")
    for form in ("text", "json", "csv", "md"):
        run(box, tare_argv("report", name, *(["--" + form] if form != "text" else [])), form)
    run(box, tare_argv("report", name, "--html", "r.html"), "html", box.path("r.html"))
    for form in ("text", "json", "csv"):
        run(box, tare_argv("fit", name, *(["--" + form] if form != "text" else [])), form)
    for form in ("text", "json"):
        run(box, tare_argv("plan", name, "--vram", "8GiB", *(["--" + form] if form != "text" else [])), form)


# What a command needs besides its options: nothing that measures a GPU or takes longer than a moment.
OPERANDS = {
    "run": ["--", "true"], "record": ["--", "true"], "report": [b"no" + ALL], "sweep": ["--", "true"], "predict": ["--", "true"], "dump": [b"no" + ALL],
    "info": [b"no" + ALL], "compact": [b"no" + ALL], "ctl": [b"no" + ALL], "doctor": [], "calibrate": ["--quick", "--sim", "none"], "env": [],
    "fit": [b"no" + ALL], "plan": [b"no" + ALL], "graphs": ["choose", b"no" + ALL], "demo": ["--sim", "none"], "help": [b"no" + ALL],
    "check": [b"no" + ALL], "diff": [b"no" + ALL], "explain": [b"no" + ALL], "import": [b"no" + ALL], "weigh": [b"no" + ALL], "whatif": [b"no" + ALL],
    "top": ["--once", b"no" + ALL], "serve": ["--once", b"no" + ALL],
}


@case
def every_option_of_every_command_with_a_hostile_value(box):
    needs_exec()
    names = commands(box)
    check_equal(sorted(OPERANDS), sorted(names), "a command has no row in OPERANDS")
    for name in names:
        run(box, tare_argv(name, "--no" + "such", *OPERANDS[name]))
        run(box, tare_argv(name, b"--" + ALL, *OPERANDS[name]))
        run(box, tare_argv(name, "--help"))
        for option, metavar in options(box, name):
            if metavar:
                run(box, tare_argv(name, "--" + option, ALL, *OPERANDS[name]))
            elif option not in ("help", "sim"):
                run(box, tare_argv(name, "--" + option, *OPERANDS[name]), "lines" if option == "json" and name == "dump" else "text")
        if OPERANDS[name] and OPERANDS[name] != ["--", "true"] and name not in ("calibrate", "demo"):
            run(box, tare_argv(name, *OPERANDS[name]))
    run(box, tare_argv(ALL))
    run(box, tare_argv("run", "--", ALL))
    for page in [[]] + [[name] for name in names]:
        run(box, tare_argv("help", "--man", *page))
    run(box, tare_argv("help", "--bash"))


@case
def a_folder_with_a_hostile_name(box):
    os.mkdir(os.path.join(os.fsencode(box.dir), ALL))
    where = os.path.join(os.fsencode(box.dir), ALL)
    for args in (["doctor"], ["doctor", "--json"], ["env"], ["env", "--json"], ["env", "--docker"], ["info"], ["help"]):
        done = subprocess.run(tare_argv(*args), cwd=where, env=box.environment(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=60 * PATIENCE)
        check_bytes(repr(args), done.stdout)
        check_bytes(repr(args), done.stderr)
        check(args[0] != "env" or done.returncode == 2, "env gave a path that is not the one: %r" % done.stdout)
    check(not STEERS.search("a\tb\n"))


if __name__ == "__main__":
    main()
