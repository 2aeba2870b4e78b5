#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL: a cluster of its own; SQL whose answers are compared, parallel workers, just-in-time code, programs
that it starts, a backend that is killed, pgbench, every way to stop."""

import glob
import os
import pwd
import re
import shutil
import subprocess
import tempfile

import program

BIN = (sorted(glob.glob("/usr/lib/postgresql/*/bin")) or ["/usr/lib/postgresql"])[-1]
SQL = {
    "types": "SELECT 1.5::numeric ^ 100, 'a'::text || 'ä', now() > '2000-01-01', ARRAY[1,2] || 3, '{\"a\":[1]}'::jsonb->'a';",
    "tables": "CREATE TABLE t AS SELECT g AS a, g % 97 AS b, md5(g::text) AS c FROM generate_series(1, 200000) g;"
              "CREATE INDEX ON t(b); ANALYZE t; SELECT count(*), sum(b), min(c), max(c) FROM t;",
    "parallel": "SET max_parallel_workers_per_gather = 4; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;"
                "SET min_parallel_table_scan_size = 0; SELECT b, count(*) FROM t GROUP BY b ORDER BY b;",
    "parallel_index": "SET max_parallel_maintenance_workers = 4; CREATE INDEX t_c ON t(c);"
                      "SELECT a FROM t WHERE c = md5('777');",
    "jit": "SET jit = on; SET jit_above_cost = 0; SET jit_inline_above_cost = 0; SET jit_optimize_above_cost = 0;"
           "SELECT sum(a * 2 + b), avg(length(c)) FROM t WHERE a % 3 = 1;",
    "plpgsql": "DO $$ BEGIN FOR i IN 1..1000 LOOP BEGIN PERFORM 1 / (i % 2); EXCEPTION WHEN division_by_zero THEN NULL;"
               "END; END LOOP; END $$; SELECT 'done';",
    "extensions": "CREATE EXTENSION pg_trgm; CREATE EXTENSION hstore; SELECT similarity('recorder', 'recorded'), 'a=>1'::hstore;",
    "programs": "CREATE TEMP TABLE o(x text); COPY o FROM PROGRAM 'echo one; echo two'; SELECT * FROM o;"
                "COPY o TO PROGRAM 'cat >/dev/null'; COPY o FROM PROGRAM 'exit 3';",
    "mistakes": "SELECT 1/0; SELECT nothing FROM nowhere; SELECT pg_sleep(10);",
    "transactions": "BEGIN; INSERT INTO t VALUES (-1, 0, ''); SAVEPOINT s; INSERT INTO t VALUES ('x'); ROLLBACK TO s;"
                    "COMMIT; SELECT count(*) FROM t WHERE a < 0;",
    "vacuum": "VACUUM (FULL, ANALYZE) t; VACUUM (PARALLEL 2) t; SELECT count(*) FROM t;",
    "sort_on_disk": "SET work_mem = '64kB'; SELECT md5(string_agg(c, '' ORDER BY c)) FROM t;",
    "large_objects": "SELECT lo_from_bytea(4711, decode(repeat('ab', 100000), 'hex')); SELECT length(lo_get(4711));",
    "regular_expressions": "SELECT count(*) FROM t WHERE c ~ '^(a|b)[0-9]+.*[c-f]{3}$';",
    "backtrace": "SELECT pg_log_backend_memory_contexts(pg_backend_pid());",
    "cancelled": "SET statement_timeout = '50ms'; SELECT count(*) FROM generate_series(1, 1000000000);",
}


class Cluster:
    """As root it is nobody's: PostgreSQL will not run as root."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="tare-pg-")
        self.who = {}
        if os.getuid() == 0:
            self.who = {"user": "nobody", "group": pwd.getpwnam("nobody").pw_gid, "extra_groups": []}
            os.chown(self.folder, pwd.getpwnam("nobody").pw_uid, pwd.getpwnam("nobody").pw_gid)
        self.data = os.path.join(self.folder, "data")
        self.env = dict(os.environ, HOME=self.folder, PGHOST=self.folder, PGDATABASE="postgres", PGUSER="me",
                        PGOPTIONS="-c client_min_messages=warning")

    def run(self, name, *args, compared=None, **more):
        argv = [os.path.join(BIN, name)] + list(args)
        return program.outcome_of(argv, compared, cwd=self.folder, env=self.env, **self.who, **more)

    def start(self):
        log = os.path.join(self.folder, "log")
        out = self.run("pg_ctl", "-D", self.data, "-w", "-l", log, "-o",
                       "-k %s -c listen_addresses='' -c fsync=off -c max_worker_processes=8" % self.folder, "start",
                       compared=lambda text: str("server started" in text))
        with open(os.path.join(self.data, "postmaster.pid"), encoding="utf-8") as text:
            program.must_be_as_we_are(int(text.readline()))
        return out

    def sql(self, text):
        return self.run("psql", "-X", "-A", "-t", "-q", "-v", "VERBOSITY=terse", input=text.encode(),
                        compared=lambda out: re.sub(r"psql:\S+|pid \d+", "", out))

    def kill_backend(self):
        """The server ends all others, and starts anew."""
        victim = subprocess.Popen([os.path.join(BIN, "psql"), "-X", "-A", "-t", "-c", "SELECT pg_sleep(60)"],
                                  env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, **self.who)
        find = "SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid();"
        for _ in range(200):
            pid = re.search(r"\d+$", self.sql(find).split(":", 1)[1])
            if pid:
                os.kill(int(pid.group()), 9)
                break
        code = victim.wait(60)
        for _ in range(200):
            if self.sql("SELECT 1;") == "exit 0: 1":
                break
        return "client exit %d, then %s" % (code, self.sql("SELECT count(*) > 1 FROM t;"))


def tests(wanted):
    cluster = Cluster()
    try:
        yield "initdb", cluster.run("initdb", "-D", cluster.data, "-U", "me", "-A", "trust", "-N", "--no-locale", "-E",
                                    "UTF8", compared=lambda text: str("Success" in text))
        yield "start", cluster.start()
        for name, text in SQL.items():
            yield name, cluster.sql(text)
        yield "pgbench_init", cluster.run("pgbench", "-i", "-q", "-s", "2", compared=lambda text: str("done" in text))
        for how in ("simple", "extended", "prepared"):
            yield "pgbench_" + how, cluster.run(
                "pgbench", "-n", "-c", "4", "-j", "2", "-t", "250", "-M", how,
                compared=lambda text: " ".join(re.findall(r"actually processed: (\S+)|failed transactions: (\d+)", text)[0]))
        yield "a_backend_is_killed", cluster.kill_backend()
        for how in ("smart", "fast", "immediate"):
            yield "stop_" + how, cluster.run("pg_ctl", "-D", cluster.data, "-w", "-m", how, "stop",
                                             compared=lambda text: str("server stopped" in text))
            yield "start_after_" + how, cluster.start()
    finally:
        cluster.run("pg_ctl", "-D", cluster.data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(cluster.folder, ignore_errors=True)


program.run({"postgresql": "/usr/lib/postgresql/*/bin/initdb"}, tests)
