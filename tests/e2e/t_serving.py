#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a server took of a card, how large its cache can be, and what all of its graphs will take."""

import json
import os
import subprocess

from harness import (MIB, ROOT, WRAPPER, Skip, case, check, check_equal, check_says, fixture, main, record_args,
                     tare_argv, wait_until)

VENV = subprocess.run([os.path.join(ROOT, "tools", "cuda-venv.sh"), "--path"], stdout=subprocess.PIPE, text=True,
                      check=True).stdout.strip()
PYTHON = os.path.join(VENV, "bin", "python")
SERVER = os.path.join(ROOT, "tests", "gpu", "programs", "mini_server.py")
# What is said of all graphs, while the server still captures and later of that moment.
GRAPHS = ("graphs", "graphs_in_all", "graphs_all_bytes", "graphs_all_low_bytes", "graphs_all_high_bytes", "cache_bytes")
SIZES = ["--layers", "1", "--requests", "2", "--prompt", "512"]

# One Python for all servers, for importing PyTorch costs most: each is a child of it that opens the GPU by itself. The first says that four
# graphs are captured, and waits for a line; then one is tried with each cache that is asked for.
RUN = """
import os, runpy, sys
import torch
server, *sizes = sys.argv[1:]
real, made = torch.cuda.CUDAGraph, []
def graph():
    made.append(len(made))
    if len(made) == 5:
        print("captured four", flush=True)
        sys.stdin.readline()
    return real()
def serve(cache):
    pid = os.fork()
    if not pid:
        sys.argv = [server, "--cache", cache, *sizes]
        runpy.run_path(server, run_name="__main__")
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
torch.cuda.CUDAGraph = graph
print("served", serve("20000"), flush=True)
torch.cuda.CUDAGraph = real
for line in sys.stdin:
    print("tried", line.strip(), serve(line.strip()), flush=True)
"""


class Servers:
    def __init__(self, box):
        self.running = box.start(tare_argv(*record_args([PYTHON, "-c", RUN, SERVER, *SIZES], sim="h100")), stdin=subprocess.PIPE)

    def ask(self, line):
        self.running.stdin.write(line.encode() + b"\n")
        self.running.stdin.flush()

    def wait_for(self, begin):
        for line in self.running.stdout:
            if line.startswith(begin.encode()):
                return line.decode().strip()
        raise AssertionError("the servers ended before: %s\n%s" % (begin, self.running.stderr.read().decode()))

    def end(self):
        self.running.communicate(timeout=60)


def serving(box, *args):
    done = box.tare("report", "rec.tare", "--by", "serving", *args)
    check_equal(done.code, 0, done)
    return json.loads(done.out) if "--json" in args else done.out


def while_it_captures(box, graphs):
    """What is said of a server that runs; its recording is a moment behind it."""
    def has_them():
        servers = serving(box, "--json", "--graphs", "35")["servers"]
        return next((server for server in servers if server["graphs"] == graphs), None)

    return wait_until(has_them, "no report has %d graphs" % graphs)


@case
def a_server(box):
    if WRAPPER:
        raise Skip("PyTorch is of this processor, not of the emulated one")
    if not os.path.exists(os.path.join(VENV, ".ready")):
        raise Skip("PyTorch's CUDA build is not there: tools/cuda-venv.sh makes %s" % VENV)
    servers = Servers(box)
    servers.wait_for("captured four")
    live = while_it_captures(box, 4)
    servers.ask("go on")
    check_equal(servers.wait_for("served"), "served 0")
    said = serving(box, "--json")
    server, rows, graphs = said["servers"][0], said["rows"], said["graphs"]
    device = said["devices"][0]
    check_equal(sum(r["bytes"] for r in rows) + device["unexplained_bytes"], server["used_bytes"])
    check_equal(server["used_bytes"] + server["left_bytes"] + server["reserved_bytes"], server["total_bytes"])
    came = [r["label"] for r in rows if r["first_ns"] is not None]
    check_equal([k for k in came if k in ("context", "weights", "cache", "graph_pools")], ["context", "weights", "cache", "graph_pools"])
    check(abs(server["cache_bytes"] - 20000 * MIB) < MIB and server["cache_blocks"] == 1, server)
    check(server["simulated"] and len(graphs) == server["graphs"] == 35, server)
    took = sum(g["pool_bytes"] + g["driver_bytes"] for g in graphs)
    four = serving(box, "--json", "--at", "%.9fs" % (graphs[4]["begin_ns"] / 1e9 - 1e-6), "--graphs", "35")["servers"][0]
    check_equal((four["graphs"], four["graphs_in_all"]), (4, 35))
    check(abs(four["graphs_all_bytes"] - took) <= server["total_bytes"] // 100, four, took)
    check_equal({key: live[key] for key in GRAPHS}, {key: four[key] for key in GRAPHS})
    # a server that has not served yet, or was killed in its captures: its graphs stay, and did not come and go
    check(four["transient_since_bytes"] < graphs[0]["pool_bytes"] <= four["stays_beside_cache_bytes"], four, graphs[0])
    check(four["graphs_all_low_bytes"] <= took <= four["graphs_all_high_bytes"], four, took)
    check_says(serving(box), "(simulated)", "the largest cache that is safe", "--kv-cache-memory-bytes %d" % server["largest_cache_bytes"])
    check_says(box.tare("report", "rec.tare").out, "a server?", "--by serving")
    largest = server["largest_cache_bytes"] // MIB
    for cache, code in ((largest - 64, 0), (largest + 64, 3)):
        servers.ask(str(cache))
        check_equal(servers.wait_for("tried"), "tried %d %d" % (cache, code))
    servers.end()


@case
def no_server(box):
    """A sentence each: nothing large, no GPU memory, more than one figure that does not go together."""
    if WRAPPER:
        raise Skip("what is said does not depend on the processor")
    box.record(fixture("e2e_tensors", "new"))
    check_says(serving(box), "looks like a server's cache")
    check_equal(serving(box, "--json")["servers"], [])
    done = box.tare("report", "rec.tare", "--by", "line", "--graphs", "35")
    check_equal(done.code, 2, done)
    check_says(done.err, "--graphs", "--by serving")


if __name__ == "__main__":
    main()
