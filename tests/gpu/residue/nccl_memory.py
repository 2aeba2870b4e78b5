#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What fewer channels or a smaller buffer of NCCL save, beside the law of docs/RESIDUE.md and beside Tare's row.

    nccl_memory.py TARE FOLDER [LIBNCCL]        two GPUs, nothing else on them; SIM=h100:2: simulated
    nccl_memory.py --rank LIBNCCL MEET RANK     one of the two: what its card has less after each call

For each setting: a communicator of two ranks, its first all-reduce, its first message. MiB of rank 0's card as the driver
counts them, without kernel code and local memory where Tare's ledger tells them; what Tare has in the row NCCL at the end; the
law; ncclCommMemStats, where NCCL has it. Exit code 1 where Tare's row is not what the law or the driver says within a page.
"""

import ctypes
import glob
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from nccl import Card, Id, find_library, meet  # pylint: disable=wrong-import-position

MIB, PAGE = 1 << 20, 2 << 20
LL, LL128, CHANNELS = 8 * 512 * 8 * 16, 120 * 640 * 8 * 8, 24
SETTINGS = ({}, {"NCCL_BUFFSIZE": "1048576"}, {"NCCL_BUFFSIZE": "8388608"}, {"NCCL_MAX_NCHANNELS": "16"},
            {"NCCL_MAX_NCHANNELS": "8"}, {"NCCL_MAX_NCHANNELS": "4"}, {"NCCL_MAX_NCHANNELS": "2"},
            {"NCCL_MAX_NCHANNELS": "4", "NCCL_BUFFSIZE": "1048576"})


def law(setting):
    """MiB of a communicator, of its first collective, of its first message to another rank."""
    channels = min(CHANNELS, int(setting.get("NCCL_MAX_NCHANNELS", CHANNELS)))
    messages = 1 << (channels - 1).bit_length()
    buffers = -(-(int(setting.get("NCCL_BUFFSIZE", 4 << 20)) + LL + LL128) // PAGE) * PAGE
    return tuple(n / MIB for n in ((2 + 3 * messages) * PAGE, channels * (buffers + PAGE), messages * (buffers + PAGE)))


def rank_main(library, folder, rank):
    card, nccl, comm, made = Card(rank), ctypes.CDLL(library), ctypes.c_void_p(), Id()
    path, buffer = os.path.join(folder, "id"), card.alloc(64 * MIB)
    if rank == 0:
        assert nccl.ncclGetUniqueId(ctypes.byref(made)) == 0
        with open(path + ".new", "wb") as file:
            file.write(bytes(made))
        os.rename(path + ".new", path)
    meet(folder, "ready", rank, 2)
    with open(path, "rb") as file:
        made = Id.from_buffer_copy(file.read())

    def exchange():
        nccl.ncclGroupStart()
        nccl.ncclSend(buffer, ctypes.c_size_t(1024), 7, 1 - rank, comm, None)
        nccl.ncclRecv(ctypes.c_void_p(buffer.value + 32 * MIB), ctypes.c_size_t(1024), 7, 1 - rank, comm, None)
        return nccl.ncclGroupEnd()

    last, said = card.free(), {}
    for name, call in (("made", lambda: nccl.ncclCommInitRank(ctypes.byref(comm), 2, made, rank)),
                       ("connected", lambda: nccl.ncclAllReduce(buffer, buffer, ctypes.c_size_t(1 << 20), 7, 0, comm, None)),
                       ("message", exchange)):
        result = call()
        if result:
            raise SystemExit("%s of rank %d is %d" % (name, rank, result))
        card.free()
        meet(folder, name, rank, 2)
        now = card.free()
        said[name], last = (last - now) / MIB, now
        meet(folder, "looked " + name, rank, 2)
    said["stats"] = stats(nccl, comm)
    print(json.dumps(said), flush=True)
    meet(folder, "end", rank, 2)


def stats(nccl, comm):
    """What ncclCommMemStats says is taken for the communicator, of each kind it knows; None: this NCCL has it not."""
    if not hasattr(nccl, "ncclCommMemStats"):
        return None
    values = []
    for which in range(8):
        value = ctypes.c_uint64()
        if nccl.ncclCommMemStats(comm, which, ctypes.byref(value)):
            break
        values.append(value.value)
    return values


def rows_of(tare, rec):
    said = json.loads(subprocess.run([tare, "report", rec, "--at", "end", "--by", "residue", "--json"],
                                     stdout=subprocess.PIPE, check=True).stdout)
    rows = {}
    for row in said["rows"]:
        if row["device"] == 0:
            rows[row["residue"]] = rows.get(row["residue"], 0) + row["bytes"] / MIB
    return rows, said["devices"][0]["unexplained_bytes"] / MIB


def measure(tare, out, library, number, setting):
    rec, sim = os.path.join(out, "nccl%d.tare" % number), os.environ.get("SIM")
    with tempfile.TemporaryDirectory() as folder:
        argv = [tare, "record", "-f", *(["--sim", sim] if sim else []), "-o", rec, "--", "sh", "-c",
                '"$0" "$1" --rank "$2" "$3" 1 >/dev/null & "$0" "$1" --rank "$2" "$3" 0; wait', sys.executable, __file__, library,
                folder]
        done = subprocess.run(argv, env={**os.environ, "NCCL_NVLS_ENABLE": "0", **setting}, stdout=subprocess.PIPE, text=True,
                              timeout=60, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return None
    return json.loads(lines[0]), *rows_of(tare, rec)


def main():
    if sys.argv[1:2] == ["--rank"]:
        rank_main(sys.argv[2], sys.argv[3], int(sys.argv[4]))
        return 0
    tare, out, bad = sys.argv[1], sys.argv[2], 0
    library, version = sys.argv[3] if len(sys.argv) > 3 else find_library(), ctypes.c_int()
    if not os.environ.get("SIM"):
        ctypes.CDLL(library).ncclGetVersion(ctypes.byref(version))
    print("NCCL %s; MiB of rank 0's card" % (version.value or "simulated"))
    print("%-45s %7s %9s %7s | %7s %7s %9s %7s | %8s %s" % ("setting", "made", "connected", "message", "Tare", "law", "code+local",
                                                            "unexpl.", "saved", "ncclCommMemStats"))
    first = None
    for number, setting in enumerate(SETTINGS):
        name = " ".join("%s=%s" % pair for pair in setting.items()) or "none"
        got = measure(tare, out, library, number, setting)
        if not got:
            print("%-45s failed" % name)
            bad += 1
            continue
        said, rows, unexplained = got
        row, expected = rows.get("nccl", 0), sum(law(setting))
        first = first if first is not None else row
        bad += abs(row - expected) > 2
        print("%-45s %7.1f %9.1f %7.1f | %7.1f %7.1f %9.1f %7.1f | %8.1f %s"
              % (name, said["made"], said["connected"], said["message"], row, expected,
                 rows.get("code", 0) + rows.get("local", 0), unexplained, first - row, said["stats"] or "not there"))
    print("%d settings are not what the law says" % bad)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
