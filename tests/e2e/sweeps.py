# SPDX-License-Identifier: Apache-2.0
"""What the tests of sweeps share: running one on the simulated GPU and reading its file."""

import sqlite3

from harness import MIB, check_equal, fixture, tare_argv


def sweep_argv(*options, db="t.db", command=(), sim=True):
    argv = ["sweep", "-o", db] + (["--sim", "h200"] if sim else []) + list(options)
    return tare_argv(*(argv + (["--"] + list(command) if command else [])))


def sweep(box, *options, db="t.db", command=(), code=0, sim=True, **more):
    done = box.run(sweep_argv(*options, db=db, command=command, sim=sim), **more)
    if code is not None:
        check_equal(done.code, code, done)
    return done


def cell(*words):
    return fixture("e2e_cell", *words)


def query(box, sql, *values, db="t.db"):
    """Rows as tuples; what the file says, by somebody else's SQLite."""
    with sqlite3.connect(box.path(db)) as connection:
        return connection.execute(sql, values).fetchall()


def table(box, db="t.db"):
    """What may not depend on when and how often the sweep was stopped."""
    return query(box, "SELECT label,repeat,status,exit_code,oom,peak,need,refused,retries,driver_calls "
                      "FROM runs JOIN cells USING(cell) ORDER BY cell,repeat", db=db)
