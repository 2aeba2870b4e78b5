# SPDX-License-Identifier: Apache-2.0
"""Trains a model of its own on each of some threads.

    threads.py OPTIMIZER THREADS STEPS [slow]    OPTIMIZER: sgd, adam

It writes a line, the number of the thread, after each step; with `slow` it waits a little in between.
"""
import os
import sys
import threading
import time

import torch

OPTIMIZER, THREADS, STEPS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
WAIT = .01 if "slow" in sys.argv else 0
KEPT = []

torch.set_num_threads(1)


def train(number):
    model = torch.nn.Linear(512, 512, bias=False)  # 1 MiB
    make = {"sgd": lambda p: torch.optim.SGD(p, lr=.01), "adam": torch.optim.Adam}[OPTIMIZER]
    optimizer = make(model.parameters())
    KEPT.append((model, optimizer))
    for _ in range(STEPS):
        loss = model(torch.randn(64, 512)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        os.write(1, b"%d\n" % number)
        time.sleep(WAIT)


threads = [threading.Thread(target=train, args=(number,)) for number in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
