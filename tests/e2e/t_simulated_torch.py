#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pip's PyTorch, its CUDA build, on simulated cards: what it takes is what it took on real ones."""

import glob
import json
import os
import re
import subprocess

from harness import MIB, ROOT, VERSION, WRAPPER, Skip, case, check, check_equal, check_says, main

VENV = subprocess.run([os.path.join(ROOT, "tools", "cuda-venv.sh"), "--path"], stdout=subprocess.PIPE, text=True,
                      check=True).stdout.strip()
PYTHON = os.path.join(VENV, "bin", "python")
PROGRAMS = os.path.join(ROOT, "tests", "gpu", "simulated")

# Of an NVIDIA H100 80GB HBM3 with driver 580.159.04 and the same versions (docs/measurements/simulated.md): bytes of peak
# allocated, of peak reserved, and what the device had in use at the end beyond the context.
MEASURED = {
    "serve": (1177740288, 1224736768, 2026700800 - 650969088),
    "streams": (146800640, 220200960, 1011679232 - 650969088),
    "diffusion": (101802496, 138412032, 799866880 - 650969088),
}


def needs_torch():
    if WRAPPER:
        raise Skip("PyTorch is of this processor, not of the emulated one")
    if not os.path.exists(os.path.join(VENV, ".ready")):
        raise Skip("PyTorch's CUDA build is not there: tools/cuda-venv.sh makes %s" % VENV)


def run(box, *args, sim="h200", rec="run.tare", env=None):
    done = box.tare("record", "--sim", sim, "-f", "-o", box.path(rec), "--", PYTHON, *args, env=env, timeout=280)
    check_equal(done.code, 0, done)
    return done


def answers(done):
    decoder, found, at = json.JSONDecoder(), [], done.out.find("{")
    while at >= 0:  # two ranks may write into one line
        said, end = decoder.raw_decode(done.out, at)
        found.append(said)
        at = done.out.find("{", end)
    return found


def ledger(box, rec="run.tare", *args):
    return json.loads(box.tare("report", box.path(rec), "--json", *args).out)


def program(box, name):
    """A program of tests/gpu/simulated beside what it took on a card; and the books balance."""
    needs_torch()
    done = run(box, os.path.join(PROGRAMS, "programs.py"), name)
    check("Could not load symbol" not in done.err, done.err)  # cuDNN says so of names that a real driver has
    got = answers(done)[0]
    allocated, reserved, used = MEASURED[name]
    check_equal((got["peak_allocated"], got["peak_reserved"]), (allocated, reserved), name)
    check(abs(got["used"] - got["context"] - used) <= 4 * MIB, (name, got, used))
    device = ledger(box)["devices"][0]
    check(device["simulated"] and device["unexplained_bytes"] == 0, device["unexplained_bytes"])


@case
def a_server_with_graphs(box):
    program(box, "serve")


@case
def a_pool_of_streams(box):
    program(box, "streams")


@case
def other_versions_of_pytorch(box):
    """Those that tools/cuda-venv.sh VERSION made: convolutions, attention, AMP, cuSOLVER, cuFFT and a graph; all names are there."""
    folders = glob.glob(os.path.join(os.path.dirname(VENV), "torch-*", ".ready"))
    others = [os.path.dirname(path) for path in folders if os.path.dirname(path) != VENV]
    if WRAPPER or not others:
        raise Skip("no other PyTorch is there: tools/cuda-venv.sh 2.5.1 makes one")
    for folder in others:
        done = box.tare("record", "--sim", "h100", "-f", "-o", box.path("run.tare"), "--", os.path.join(folder, "bin", "python"),
                        os.path.join(PROGRAMS, "pip_programs.py"), "torch_alone", timeout=280)
        check_equal(done.code, 0, folder, done)
        check_says(done.out, " " + os.path.basename(folder)[len("torch-"):] + "+cu")
        said = ledger(box)
        check_equal((said["devices"][0]["unexplained_bytes"], said["degraded"]), (0, []), folder)


def predict(box, program, *args, env=None):
    needs_torch()
    with open(box.path("program.py"), "w", encoding="utf-8") as file:
        file.write(program)
    done = box.tare("predict", *args, "--json", "--", PYTHON, "program.py", env=env, timeout=280)
    check(done.code in (0, 3), done)
    return json.loads(done.out)["cards"][0]


@case
def values_that_decide(box):
    """A scaler that meets an overflow takes no step, so the state of Adam is not there; a loss of 0 ends a loop."""
    card = predict(box, "import torch\n"
                   "model = torch.nn.Linear(512, 512).cuda()\n"
                   "optimizer = torch.optim.Adam(model.parameters())\n"
                   "scaler = torch.amp.GradScaler('cuda')\n"
                   "for _ in range(3):\n"
                   "    x = torch.randn(64, 512).cuda()\n"
                   "    with torch.autocast('cuda', dtype=torch.float16):\n"
                   "        loss = model(x).square().mean()\n"
                   "    scaler.scale(loss).backward()\n"
                   "    scaler.step(optimizer)\n"
                   "    scaler.update()\n"
                   "    optimizer.zero_grad()\n"
                   "assert torch.equal(x.cpu(), x.cpu()) and x.cpu().std() > 0.5  # what was copied comes back\n")
    check_equal(card["read_back"], [{"line": "program.py:10 in <module>", "count": 3, "decides": True, "overflow": True}])
    check_equal((card["versions"]["torch"], card["versions"]["tare"]), ("2.11.0", VERSION))


@case
def a_value_that_is_printed_decides_nothing(box):
    """Memory that an input was copied to is handed out again, for a loss: what it reads is not that input."""
    card = predict(box, "import torch\n"
                   "model = torch.nn.Linear(8, 8).cuda()\n"
                   "for _ in range(4):\n"
                   "    x = torch.full((8, 8), 7.0).cuda()\n"
                   "    del x\n"
                   "    y = torch.empty(8, 8, device='cuda').mul_(2)\n"
                   "    print(y[0, 0].item())\n"
                   "    del y\n")
    check_equal(card["read_back"], [{"line": "program.py:7 in <module>", "count": 4, "decides": False, "overflow": False}])


COUNTS = """
import torch
x = torch.randn(4, 100, device="cuda")
print([len(x.nonzero()), len(x[x > 0]), len(torch.where(x > 0)[0]), int(x.int().max()), len(x.unique()),
       len(x.unique(return_counts=True)[1]), len(x.unique(dim=0))])
"""


@case
def a_count_is_a_whole_number(box):
    """As nonzero() and unique() read it, with either answers: none of them is a float taken for a number."""
    needs_torch()
    for how, wants in ("zeros", [0, 0, 0, 0, 1, 1, 1]), ("ones", [1, 1, 1, 1, 2, 2, 2]):
        check_equal(json.loads(run(box, "-c", COUNTS, env={"TARE_SIM_ANSWERS": how}).out), wants)


@case
def what_would_make_it_fit(box):
    """As much is there, but in pieces: a setting by which it would not have run out, and with which it does not."""
    program = ("import torch\n"
               "segments = [torch.empty(900 << 20, dtype=torch.uint8, device='cuda') for _ in range(7)]\n"
               "del segments\n"
               "parts = [torch.empty(450 << 20, dtype=torch.uint8, device='cuda') for _ in range(14)]\n"
               "del parts[::2]\n"
               "big = torch.empty(2000 << 20, dtype=torch.uint8, device='cuda')\n")
    card = predict(box, program, "--card", "rtx-3060-ti")
    check_equal((card["fits"], card["out_of_memory"]["line"]), (False, "program.py:6 in <module>"))
    check_equal(card["out_of_memory"]["settings"][0], "expandable_segments:True")
    card = predict(box, program, "--card", "rtx-3060-ti", env={"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"})
    check(card["fits"], card)


@case
def predicts_a_training(box):
    """A training of a transformer: fits on an H200, and says the line where memory runs out if it is too large."""
    needs_torch()
    with open(box.path("train.py"), "w", encoding="utf-8") as file:
        file.write("import sys, torch\n"
                   "model = torch.nn.Linear(1024, 1024).cuda()\n"
                   "optimizer = torch.optim.Adam(model.parameters())\n"
                   "for _ in range(2):\n"
                   "    x = torch.zeros(int(sys.argv[1]) << 8, 1024, device='cuda')\n"
                   "    model(x).mean().backward()\n"
                   "    optimizer.step()\n")
    done = box.tare("predict", "--json", "--", PYTHON, "train.py", "64", timeout=280)
    check_equal(done.code, 0, done)
    card = json.loads(done.out)["cards"][0]
    check(card["fits"] and card["need_bytes"] > 600 * MIB, card)
    done = box.tare("predict", "--json", "--", PYTHON, "train.py", "400000", timeout=280)
    check_equal(done.code, 3, done)
    card = json.loads(done.out)["cards"][0]
    check(not card["fits"] and re.match(r"train\.py:[56]\b", card["out_of_memory"]["line"]), card)
    check_says(done.err, "CUDA out of memory")


@case
def transformers_trains(box):
    """A model of transformers from its configuration, with attention of cuDNN in half precision."""
    needs_torch()
    with open(box.path("train.py"), "w", encoding="utf-8") as file:
        file.write("import torch, transformers\n"
                   "config = transformers.GPT2Config(n_layer=2, n_embd=256, n_head=4, vocab_size=1000)\n"
                   "model = transformers.GPT2LMHeadModel(config).cuda()\n"
                   "optimizer = torch.optim.AdamW(model.parameters())\n"
                   "for _ in range(2):\n"
                   "    ids = torch.randint(0, 1000, (4, 128)).cuda()\n"
                   "    with torch.autocast('cuda', torch.bfloat16):\n"
                   "        loss = model(ids, labels=ids).loss\n"
                   "    loss.backward()\n"
                   "    optimizer.step()\n"
                   "print('{\"loss\": %g}' % loss.item())\n")
    check_equal(answers(run(box, "train.py"))[0]["loss"], 0)
    rows = {row["path"].rsplit("/", 1)[-1]: row["bytes"] for row in ledger(box)["devices"][0]["accounts"]}
    check(rows["parameter"] > 0 and rows["optimizer state"] == 2 * rows["parameter"] and rows["libcublas"] > 64 * MIB, rows)


@case
def two_ranks_train(box):
    needs_torch()
    done = run(box, "-m", "torch.distributed.run", "--nproc-per-node", "2", os.path.join(PROGRAMS, "ranks.py"), "fsdp",
               sim="h200:2")
    got = sorted(answers(done), key=lambda said: said["rank"])
    check_equal([said["everyone"] for said in got], [[0, 1], [0, 1]])
    check_equal(got[0]["peak_allocated"], got[1]["peak_allocated"])
    check_equal(len(ledger(box)["devices"]), 2)


@case
def nothing_of_ours_is_said(box):
    """Beside what the program prints, there is the line of tare at its end."""
    needs_torch()
    done = run(box, "-c", "import torch; print(torch.ones(3, device='cuda').cpu().tolist())")
    check_equal(done.out, "[0.0, 0.0, 0.0]\n")
    check_equal([line for line in done.err.splitlines() if not line.startswith("tare: exit 0")], [])


if __name__ == "__main__":
    main()
