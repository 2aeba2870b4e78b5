#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a server took of a card, how large its cache can be, and what all of its graphs will take."""

import json
import os
import subprocess

from harness import MIB, ROOT, WRAPPER, Skip, case, check, check_equal, check_says, fixture, main

VENV = subprocess.run([os.path.join(ROOT, "tools", "cuda-venv.sh"), "--path"], stdout=subprocess.PIPE, text=True,
                      check=True).stdout.strip()
PYTHON = os.path.join(VENV, "bin", "python")
SERVER = os.path.join(ROOT, "tests", "gpu", "programs", "mini_server.py")
SIZES = ["--layers", "1", "--requests", "2", "--prompt", "512"]

# One Python for all tries: each is a child of it that opens the GPU by itself.
TRY = """
import os, runpy, sys
import torch
for cache in sys.argv[2].split(","):
    pid = os.fork()
    if not pid:
        sys.argv = [sys.argv[1], "--cache", cache, *sys.argv[3:]]
        runpy.run_path(sys.argv[0], run_name="__main__")
        os._exit(0)
    print("tried", cache, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


def serving(box, *args):
    done = box.tare("report", "rec.tare", "--by", "serving", *args)
    check_equal(done.code, 0, done)
    return json.loads(done.out) if "--json" in args else done.out


@case
def a_server(box):
    if WRAPPER:
        raise Skip("PyTorch is of this processor, not of the emulated one")
    if not os.path.exists(os.path.join(VENV, ".ready")):
        raise Skip("PyTorch's CUDA build is not there: tools/cuda-venv.sh makes %s" % VENV)
    box.record([PYTHON, SERVER, "--cache", "20000", *SIZES], sim="h100", timeout=200)
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
    check(four["graphs_all_low_bytes"] <= took <= four["graphs_all_high_bytes"], four, took)
    check_says(serving(box), "(simulated)", "the largest cache that is safe", "--kv-cache-memory-bytes %d" % server["largest_cache_bytes"])
    check_says(box.tare("report", "rec.tare").out, "a server?", "--by serving")
    largest = server["largest_cache_bytes"] // MIB
    tries = "%d,%d" % (largest - 64, largest + 64)
    done = box.tare("record", "--sim", "h100", "-o", "try.tare", "--", PYTHON, "-c", TRY, SERVER, tries, *SIZES, timeout=200)
    check_says(done.out, "tried %d 0" % (largest - 64), "tried %d 3" % (largest + 64))


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
