#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Redis: commands whose answers are compared, snapshots made by forked children, and its benchmark, on the loopback."""

import os
import re
import socket
import subprocess
import time

import program

COMMANDS = {
    "strings": "SET a 1\nINCRBY a 41\nAPPEND a x\nGETRANGE a 0 5\nSTRLEN a\nMSET b 2 c 3\nMGET a b c\n",
    "lists": "RPUSH l 3 1 2\nSORT l\nLINSERT l BEFORE 1 9\nLRANGE l 0 -1\nLPOP l\nLLEN l\n",
    "hashes": "HSET h f 1 g 2\nHINCRBYFLOAT h f 0.5\nHGETALL h\n",
    "sorted_sets": "ZADD z 1 a 2 b 3 c\nZRANGEBYSCORE z 2 3 WITHSCORES\nZRANK z c\n",
    "streams": "XADD s 1-1 f v\nXADD s 1-2 f w\nXRANGE s - +\nXGROUP CREATE s g 0\nXREADGROUP GROUP g me STREAMS s >\n",
    "lua": "EVAL \"local s=0; for i=1,100000 do s=s+i end; return s\" 0\nEVAL \"return redis.call('get',KEYS[1])\" 1 b\n"
           "EVAL \"error('no')\" 0\n",
    "transactions": "MULTI\nSET t 1\nINCR t\nEXEC\n",
    "mistakes": "LPUSH a 1\nNOSUCH\nSET\n",
    "expiry": "SET e 1 PX 1\nWAIT 0 20\nGET e\nDEBUG SLEEP 0.05\nGET e\n",
    "many_keys": "DEBUG POPULATE 20000\nDBSIZE\n",
    "sleeping_thread": "MEMORY PURGE\nFLUSHDB ASYNC\nDBSIZE\n",
}
BENCHMARKS = ["ping_inline", "set", "get", "incr", "lpush", "rpop", "sadd", "hset", "zadd", "lrange_100", "mset"]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    def __init__(self):
        self.port = free_port()
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--appendonly", "yes",
             "--io-threads", "2", "--enable-debug-command", "yes"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(500):
            if "PONG" in self.cli("PING\n"):
                break
            time.sleep(0.02)
        program.must_be_as_we_are(self.process.pid)

    def cli(self, text):
        return program.outcome_of(["redis-cli", "-p", str(self.port)], input=text.encode())

    def saved(self, begin, key):
        """A child is forked to write the data; its end is awaited."""
        answer = self.cli(begin)
        for _ in range(500):
            info = subprocess.run(["redis-cli", "-p", str(self.port), "INFO", "persistence"], stdout=subprocess.PIPE,
                                  check=False).stdout.decode()
            if re.search(r"rdb_bgsave_in_progress:0.*aof_rewrite_in_progress:0", info, re.S):
                return "%s %s" % (answer, re.search(key + r":(\w+)", info).group(1))
            time.sleep(0.02)
        return answer + " and never ends"

    def end(self, how):
        how()
        return "exit %d" % self.process.wait(60)


def tests(wanted):
    server = Server()
    for name, text in COMMANDS.items():
        yield name, server.cli(text)
    server.cli("DEBUG POPULATE 20000\n")
    yield "bgsave", server.saved("BGSAVE\n", "rdb_last_bgsave_status")
    yield "bgrewriteaof", server.saved("BGREWRITEAOF\n", "aof_last_bgrewrite_status")
    for name in BENCHMARKS:
        argv = ["redis-benchmark", "-p", str(server.port), "-t", name, "-n", "5000", "-c", "20", "--threads", "2", "-q"]
        yield "benchmark_" + name, program.outcome_of(argv, lambda text: str("requests per second" in text))
    before = server.cli("DBSIZE\n")
    yield "killed", server.end(server.process.kill)
    server.start()
    yield "reads_its_log", str(server.cli("DBSIZE\n") == before)
    yield "crashes", server.end(lambda: server.cli("DEBUG SEGFAULT\n"))
    server.start()
    yield "terminated", server.end(server.process.terminate)
    for name in sorted(os.listdir(".")):
        if name.endswith(".rdb"):
            yield "check_rdb", program.outcome_of(["redis-check-rdb", name], lambda text: str("RDB looks OK" in text))


program.run({"redis-server": "redis-server", "redis-tools": "redis-benchmark"}, tests)
