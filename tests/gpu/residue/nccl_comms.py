#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each communicator of NCCL takes: channel buffers, what is connected lazily, what a program registers.

    nccl_comms.py TARE FOLDER [LIBNCCL]         two GPUs, nothing else on them; SIM=h100:2: simulated
    nccl_comms.py --rank LIBNCCL MEET RANK      one of the two

Two communicators of both ranks, one that is split off the first; each is a step with its first collective and its first message,
marked as a phase (`tare.phase`). For each step: what rank 0's card has less by cuMemGetInfo, by the whole ledger, in Tare's row NCCL, and in
kernel code and local memory. Then the sum of a communicator, and what is unexplained; the rows by communicator that the recording has by itself,
beside what the steps took; and NCCL's ranges that have not ended. Exit code 1 where any of them differ, or has not ended.
"""

import collections
import ctypes
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..", "..", "python")]
from nccl import Card, Id, find_library, meet  # pylint: disable=wrong-import-position

MIB = 1 << 20


class Rank:
    def __init__(self, library, folder, rank):
        self.card, self.nccl, self.folder, self.rank = Card(rank), ctypes.CDLL(library), folder, rank
        self.buffer, self.comms, self.step_nr = self.card.alloc(64 * MIB), {}, 0

    def ask(self, name, *args):
        result = getattr(self.nccl, name)(*args)
        if result:
            raise SystemExit("%s of rank %d is %d" % (name, self.rank, result))

    def init(self, name):
        made, path = Id(), os.path.join(self.folder, "id-" + name)
        if self.rank == 0:
            self.ask("ncclGetUniqueId", ctypes.byref(made))
            with open(path + ".new", "wb") as file:
                file.write(bytes(made))
            os.rename(path + ".new", path)
        meet(self.folder, "id of " + name, self.rank, 2)
        with open(path, "rb") as file:
            made = Id.from_buffer_copy(file.read())
        self.comms[name] = ctypes.c_void_p()
        self.ask("ncclCommInitRank", ctypes.byref(self.comms[name]), 2, made, self.rank)

    def split(self, name, of):
        self.comms[name] = ctypes.c_void_p()
        self.ask("ncclCommSplit", self.comms[of], 0, self.rank, ctypes.byref(self.comms[name]), None)

    def collective(self, name):
        self.ask("ncclAllReduce", self.buffer, self.buffer, ctypes.c_size_t(1 << 20), 7, 0, self.comms[name], None)

    def message(self, name):
        self.ask("ncclGroupStart")
        self.ask("ncclSend", self.buffer, ctypes.c_size_t(1024), 7, 1 - self.rank, self.comms[name], None)
        self.ask("ncclRecv", ctypes.c_void_p(self.buffer.value + 32 * MIB), ctypes.c_size_t(1024), 7, 1 - self.rank,
                 self.comms[name], None)
        self.ask("ncclGroupEnd")

    def register(self, name):
        mine, handle = ctypes.c_void_p(), ctypes.c_void_p()
        self.ask("ncclMemAlloc", ctypes.byref(mine), ctypes.c_size_t(64 * MIB))
        self.ask("ncclCommRegister", self.comms[name], mine, ctypes.c_size_t(64 * MIB), ctypes.byref(handle))

    def destroy(self, name):
        self.ask("ncclCommDestroy", self.comms.pop(name))

    def step(self, what, name, *more):
        import tare
        meet(self.folder, "before %d" % self.step_nr, self.rank, 2)
        before, error = self.card.free(), None
        with tare.phase("%s-%s" % (name, what)):
            try:
                getattr(self, what)(name, *more)
            except (SystemExit, AttributeError) as e:
                error = str(e)
            self.card.free()
            meet(self.folder, "done %d" % self.step_nr, self.rank, 2)
        print(json.dumps({"step": self.step_nr, "comm": name, "what": what, "took": before - self.card.free(), "error": error}),
              flush=True)
        self.step_nr += 1


def rank_main(library, folder, rank):
    me = Rank(library, folder, rank)
    for name in "first", "second":
        for what in "init", "collective", "message":
            me.step(what, name)
    me.step("split", "split", "first")
    for what in "collective", "message":
        me.step(what, "split")
    me.step("register", "first")
    for name in "split", "second", "first":
        me.step("destroy", name)
    meet(folder, "end", rank, 2)


def rows_at(tare, rec, steps):
    """For each instant: bytes of card 0 by the kind of row, what is in use, what is unexplained."""
    ask = [word for s in steps for end in ("begin", "end") for word in ("--at", "phase:%s-%s:%s" % (s["comm"], s["what"], end))]
    said = json.loads(subprocess.run([tare, "report", rec, "--by", "residue", *ask, "--json"], stdout=subprocess.PIPE,
                                     check=True).stdout)
    out = []
    for at in [said] + said["also"]:
        rows = collections.Counter()
        for row in at["rows"]:
            if row["device"] == 0:
                rows[row["residue"]] += row["bytes"]
        out.append((rows, at["devices"][0]["used_bytes"], at["devices"][0]["unexplained_bytes"]))
    return out


PARTS = {"init": "made", "split": "made", "collective": "collectives", "message": "messages", "register": "to be registered"}


def rows_by_comm(tare, rec, at):
    """MiB of card 0 that the recording has below NCCL, by communicator and part: ("communicator 1", "made") → 196.0."""
    said = json.loads(subprocess.run([tare, "report", rec, "--at", at, "--json"], stdout=subprocess.PIPE, check=True).stdout)
    device, rows = said["devices"][0], {}
    for row in device["accounts"]:
        _, _, name = row["path"].partition("/libnccl")
        if row["bytes"] and (name.count("/") == 2 or name.count("/") == 1 and "communicator" not in name):
            rows[tuple(name.split("/")[1:])] = row["bytes"] / MIB
    return rows


def check_rows(tare, rec, steps, known):
    """The recording's own rows, before anything is destroyed, beside what each step took by the row NCCL; how many differ."""
    rows, names, bad = rows_by_comm(tare, rec, "phase:split-destroy:begin"), [], 0
    print("rows of the recording before the first is destroyed, MiB, beside what the steps took")
    for s in steps:
        if s["what"] == "destroy":
            continue
        if s["comm"] not in names:
            names.append(s["comm"])
        (x, _, _), (y, _, _) = known[2 * s["step"]], known[2 * s["step"] + 1]
        took, part = (y["nccl"] - x["nccl"]) / MIB, PARTS[s["what"]]
        key = (part,) if s["what"] == "register" else ("communicator %d" % (names.index(s["comm"]) + 1), part)
        bad += rows.get(key) != took
        print("%-9s %-40s %9.1f %9.1f" % (s["comm"], ": ".join(key), rows.pop(key, 0), took))
    for key, mib in rows.items():
        print("%-9s %-40s %9.1f" % ("", ": ".join(key), mib))
    print("%d rows differ, %d are of no step" % (bad, len(rows)))
    return bad + len(rows)


def ranges_not_ended(tare, rec):
    said = json.loads(subprocess.run([tare, "report", rec, "--by", "phase", "--json"], stdout=subprocess.PIPE, check=True).stdout)
    return [row["path"] for row in said["rows"] if row["domain"] == "NCCL" and row["unclosed"]]


def main():
    if sys.argv[1:2] == ["--rank"]:
        rank_main(sys.argv[2], sys.argv[3], int(sys.argv[4]))
        return 0
    tare, out, sim, bad = sys.argv[1], sys.argv[2], os.environ.get("SIM"), 0
    library = sys.argv[3] if len(sys.argv) > 3 else find_library()
    rec = os.path.join(out, "comms.tare")
    with tempfile.TemporaryDirectory() as folder:
        argv = [tare, "record", "-f", *(["--sim", sim] if sim else []), "-o", rec, "--", "sh", "-c",
                '"$0" "$1" --rank "$2" "$3" 1 >/dev/null & "$0" "$1" --rank "$2" "$3" 0; wait', sys.executable, __file__, library,
                folder]
        done = subprocess.run(argv, env={**os.environ, "NCCL_NVLS_ENABLE": "0"}, stdout=subprocess.PIPE, text=True, timeout=100,
                              check=False)
    steps = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    known, sums = rows_at(tare, rec, steps), collections.Counter()
    print("MiB of rank 0's card\n%-8s %-11s %9s %9s | %7s %11s %8s" % ("comm", "step", "driver", "ledger", "NCCL", "code, local", "unexpl."))
    for s in steps:
        (x, used_before, _), (y, used_after, unexplained) = known[2 * s["step"]], known[2 * s["step"] + 1]
        nccl = (y["nccl"] - x["nccl"]) / MIB
        other = sum(y[row] - x[row] for row in ("code", "local")) / MIB
        sums[s["comm"]] += nccl if s["what"] not in ("destroy", "register") else 0
        bad += abs(used_after - used_before - s["took"]) > 2 * MIB
        print("%-8s %-11s %9.1f %9.1f | %7.1f %11.1f %8.1f %s" % (s["comm"], s["what"], s["took"] / MIB,
                                                                (used_after - used_before) / MIB, nccl, other, unexplained / MIB,
                                                                s["error"] or ""))
    print("each: " + ", ".join("%s %.1f" % pair for pair in sums.items()) + "; all of them %.1f" % sum(sums.values()))
    print("%d steps differ from cuMemGetInfo" % bad)
    bad += check_rows(tare, rec, steps, known)
    left = ranges_not_ended(tare, rec)
    print("%d ranges of NCCL have not ended %s" % (len(left), left or ""))
    return bad + len(left) > 0


if __name__ == "__main__":
    sys.exit(main())
