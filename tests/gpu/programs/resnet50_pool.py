# SPDX-License-Identifier: Apache-2.0
"""ResNet-50, batch 32, three steps with an optimizer (sgd, momentum, adam, accumulate: Adam, 4 batches a
step). At marked instants it says what torch counts, as lines of JSON that tests/gpu/tensors/compare.py reads."""
import json
import sys

import torch
import torchvision

from torch_marks import mark


def optimizer_of(kind, parameters):
    if kind == "sgd":
        return torch.optim.SGD(parameters, lr=0.01)
    if kind == "momentum":
        return torch.optim.SGD(parameters, lr=0.01, momentum=0.9)
    return torch.optim.Adam(parameters)


def main(kind):
    torch.backends.cudnn.benchmark = True
    batches = 4 if kind == "accumulate" else 1
    with mark("model"):
        net = torchvision.models.resnet50().cuda()
        optimizer = optimizer_of(kind, net.parameters())
        x = torch.randn(32, 3, 224, 224, device="cuda")
        y = torch.randint(0, 1000, (32,), device="cuda")
    for step in range(3):
        optimizer.zero_grad()
        for batch in range(batches):
            with mark("forward %d.%d" % (step, batch)):
                loss = torch.nn.functional.cross_entropy(net(x), y)
            with mark("backward %d.%d" % (step, batch)):
                loss.backward()
        with mark("step %d" % step):
            optimizer.step()
    torch.cuda.synchronize()
    with mark("after"):
        loss = None
    with mark("emptied"):
        torch.cuda.empty_cache()
    print(json.dumps({"peak": torch.cuda.max_memory_allocated()}), flush=True)


main(sys.argv[1])
