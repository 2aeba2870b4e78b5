# SPDX-License-Identifier: Apache-2.0
"""work.py WHAT TIMES: programs of Python that ask for much memory."""
import json
import sys


def of_json(times):
    rows = [{"id": i, "name": "name %d" % i, "tags": ["a%d" % (i % 7), "b"], "at": {"x": i * .5, "y": -i}}
            for i in range(4000)]
    size = 0
    for _ in range(times):
        text = json.dumps(rows)
        rows = json.loads(text)
        size += len(text)
    return size


class Node:
    def __init__(self, value, next_one):
        self.value = value
        self.next_one = next_one


def chain(count):
    node = None
    for i in range(count):
        node = Node([i, str(i)], node)
    return node


def of_objects(times):
    total = 0
    for turn in range(times):
        node = chain(20000)
        table = {"key %d" % i: (i, [turn]) for i in range(20000)}
        total += len(table)
        while node:
            total += len(node.value)
            node = node.next_one
    return total


def of_numpy(times):
    import numpy
    total = 0.0
    rows = numpy.arange(20000, dtype=float)
    for i in range(times):
        parts = [rows[k:k + 100] * i for k in range(0, 20000, 100)]
        total += float(numpy.concatenate(parts).sum())
        total += float((rows * 2 + i).mean())
    return total


def of_torch(times):
    import torch
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 128), torch.nn.ReLU(),
                                torch.nn.Linear(128, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    data, wanted = torch.randn(64, 64), torch.randint(0, 10, (64,))
    for _ in range(times):
        loss = torch.nn.functional.cross_entropy(model(data), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return "%.4f" % loss.item()


print(globals()["of_" + sys.argv[1]](int(sys.argv[2])))
