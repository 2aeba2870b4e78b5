#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where a file is expected stands a FIFO, a socket, a folder, a device or something without end: a sentence, in no time."""

import os
import socket
import sqlite3
import subprocess

from harness import Skip, case, check, check_equal, fixture, main, needs_exec, tare_argv
from sweeps import cell, sweep

SECONDS = 10
MEMORY = 1 << 30


def strange(box):
    """Paths, by what they are."""
    os.mkfifo(box.path("fifo"))
    at = socket.socket(socket.AF_UNIX)
    at.bind(box.path("sock"))
    at.close()
    os.mkdir(box.path("folder"))
    with open(box.path("endless"), "wb") as file:
        file.truncate(1 << 42)
    return ["fifo", "sock", "folder", "/dev/zero", "endless"]


def limited():
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (2 * MEMORY, 2 * MEMORY))


def run(box, *args, env=None, stdin=subprocess.DEVNULL):
    """It ends soon, in little memory, and by itself; what it said."""
    try:
        done = box.run(tare_argv(*args), env=env, timeout=SECONDS, preexec_fn=limited)
    except subprocess.TimeoutExpired:
        check(False, "%s hangs" % " ".join(args))
    check(0 <= done.code < 128 and "out of memory" not in done.err, done)
    return done


def put(box, what, path):
    """`path` becomes a link to it, or for a folder and a file it itself."""
    if os.path.lexists(path):
        os.remove(path)
    os.symlink(os.path.join(box.dir, what), path)


@case
def files_of_a_recording(box):
    needs_exec()
    box.record(fixture("e2e_alloc"))
    names = os.listdir(box.path("rec.tare"))
    check("recording.json" in names and "control" in names, names)
    for what in strange(box):
        for name in names:
            path = box.path("rec.tare", name)
            os.rename(path, box.path("kept"))
            put(box, what, path)
            for args in (["report"], ["report", "--json"], ["info"], ["dump"], ["fit"], ["report", "--svg", "p.svg"]):
                run(box, *args, "rec.tare")
            for action in ("status", "pause"):
                run(box, "ctl", "rec.tare", action)
            os.remove(path)
            os.rename(box.path("kept"), path)
    check_equal(run(box, "report", "rec.tare").code, 0)


@case
def what_a_command_line_names(box):
    needs_exec()
    box.record(fixture("e2e_alloc"))
    with open(box.path("t.csv"), "w", encoding="ascii") as file:
        file.write("a,y\n" + "".join("%d,%d\n" % (n, 3 * n + 1) for n in range(1, 9)))
    for what in strange(box):
        for args in (["report", what], ["info", what], ["dump", what], ["ctl", what], ["fit", what, "-t", "y"],
                     ["fit", "t.csv", "-t", "y", "--predict", what], ["plan", what, "-t", "y", "--vram", "1GiB"],
                     ["plan", "t.csv", "-t", "y", "--card", what], ["graphs", "choose", what],
                     ["graphs", "choose", "t.csv", "--times", what], ["sweep", "-o", "x.db", "--grid-json", what, "--", "true"],
                     ["sweep", "--resume", "-o", what],
                     ["record", "--sim", "h200", "-o", "r.tare", "--", "./" + what],
                     ["calibrate", "--quick", "--sim", what]):
            done = run(box, *args)
            check(done.code != 0 and "tare: " in done.err, done)
        run(box, "record", "--sim", what, "-o", "r.tare", "-f", "--", *fixture("e2e_alloc"))


@case
def a_source_that_is_none(box):
    needs_exec()
    box.record(["/usr/bin/env", "python3", "-c", "pass"], exit_code=None)
    for what in strange(box):
        run(box, "report", "rec.tare", "--annotate", what)


@case
def scripts_of_the_simulated_gpu(box):
    needs_exec()
    for what in strange(box):
        box.run(fixture("e2e_alloc"), env={"TARE_SIM_SCRIPT": box.path(what)}, sim=True, timeout=SECONDS)
    for script in ("noisy 5 0", "noisy 0 0", "noisy 1MiB 0", "noisy-hidden 5 0", "noisy 5 1", "noisy -1 -1",
                   "noisy 18446744073709551615 1", "noisy 1 18446744073709551615"):
        done = box.run(fixture("e2e_alloc"), env={"TARE_SIM_SCRIPT": script}, sim=True, timeout=SECONDS)
        check(done.code >= 0 and ("ignored line" in done.err) == (" 0" in script[-2:] or "-1" in script), done)


@case
def a_pipe_is_a_table_all_the_same(box):
    needs_exec()
    text = "a,y\n" + "".join("%d,%d\n" % (n, 3 * n + 1) for n in range(1, 9))
    with open(box.path("t.csv"), "w", encoding="ascii") as file:
        file.write(text)
    command = "cat t.csv | %s fit /dev/stdin -t y" % " ".join(tare_argv())
    done = box.run(["sh", "-c", command], timeout=SECONDS)
    check_equal(done.code, 0, done)


def changed(box, sql):
    """A copy of the sweep t.db, changed."""
    if os.path.exists(box.path("u.db")):
        os.remove(box.path("u.db"))
    with open(box.path("t.db"), "rb") as old, open(box.path("u.db"), "wb") as new:
        new.write(old.read())
    with sqlite3.connect(box.path("u.db")) as connection:
        connection.executescript(sql)
    connection.close()


@case
def sweeps_with_views_without_end(box):
    needs_exec()
    sweep(box, "--grid", "n=1,2", command=cell("mib={n}"))
    with sqlite3.connect(box.path("t.db")) as connection:
        tables = [(name, [c[1] for c in connection.execute("PRAGMA table_info(%s)" % name)])
                  for name, in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
    check(len(tables) > 8, tables)
    for name, columns in tables:
        changed(box, "PRAGMA foreign_keys=OFF; DROP TABLE %s; CREATE VIEW %s AS WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL "
                     "SELECT i + 1 FROM t) SELECT %s FROM t;" % (name, name, ",".join("i AS %s" % c for c in columns)))
        for args in (["report", "u.db"], ["report", "u.db", "--json"], ["fit", "u.db"], ["plan", "u.db", "--vram", "1GiB"],
                     ["sweep", "--resume", "-o", "u.db", "--sim", "h200"]):
            run(box, *args)
    done = run(box, "report", "u.db")
    changed(box, "CREATE VIEW mine AS SELECT * FROM runs;")
    done = run(box, "report", "u.db")
    check_equal(done.code, 0, "with a view that somebody made for himself", done)
    changed(box, "PRAGMA foreign_keys=OFF; ALTER TABLE runs RENAME TO r; CREATE VIEW runs AS SELECT * FROM r;")
    done = run(box, "report", "u.db")
    check_equal(done.code, 125, done)
    check("view" in done.err and "tare sweep" in done.err, done)


if __name__ == "__main__":
    main()
