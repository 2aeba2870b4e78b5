# SPDX-License-Identifier: Apache-2.0
"""Trains a model and says, at some moments, what each of its modules holds: the oracle of t_modules.py.

    modules.py MODEL TRUTH [DEVICE]    MODEL: resnet, transformer, checkpointed, resnet50

Each moment is a phase mark; TRUTH gets one line for each: {"mark": …, "modules": {path: {"class": …, "parameter": bytes,
…}}}. Which tensors a module saves for the backward pass is learned in a step of its own before, because the hooks that
tell would keep them; a tensor is of the module in whose call it was made, which calls of modules tell.
"""
import json
import sys

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

import tare

MODEL, TRUTH = sys.argv[1], open(sys.argv[2], "w")
DEVICE = sys.argv[3] if len(sys.argv) > 3 else "cpu"
ROUND = 512 if DEVICE == "cuda" else 1  # what PyTorch's allocator rounds blocks to
STEPS = 4
REENTRANT = {"use_reentrant": True} if int(torch.__version__.split(".")[0]) >= 2 else {}


def make_code():
    """A code object that dies at once: what is known of others by their addresses holds no longer."""
    exec(compile("pass", "made", "exec"))


class Bottleneck(torch.nn.Module):
    def __init__(self, inside, width, stride=1):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(inside, width, 1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(width)
        self.conv2 = torch.nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = torch.nn.BatchNorm2d(width)
        self.conv3 = torch.nn.Conv2d(width, 4 * width, 1, bias=False)
        self.bn3 = torch.nn.BatchNorm2d(4 * width)
        self.relu = torch.nn.ReLU()
        self.downsample = None
        if stride != 1 or inside != 4 * width:
            self.downsample = torch.nn.Sequential(torch.nn.Conv2d(inside, 4 * width, 1, stride, bias=False),
                                                  torch.nn.BatchNorm2d(4 * width))

    def forward(self, x):
        make_code()
        out = self.relu(self.bn1(self.conv1(x)))
        make_code()
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(3, 16, 3, padding=1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(16)
        self.layer1 = torch.nn.Sequential(Bottleneck(16, 8), Bottleneck(32, 8))
        self.layer2 = torch.nn.Sequential(Bottleneck(32, 16, 2), Bottleneck(64, 16))
        self.fc = torch.nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer2(self.layer1(x))
        return self.fc(x.mean((2, 3)))


class Layer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.mlp = torch.nn.Sequential(torch.nn.Linear(width, 4 * width), torch.nn.GELU(),
                                       torch.nn.Linear(4 * width, width))

    def forward(self, x):
        make_code()
        q, k, v = self.qkv(self.norm1(x)).chunk(3, -1)
        x = x + self.out(torch.softmax(q @ k.transpose(1, 2) / 8, -1) @ v)
        return x + self.mlp(self.norm2(x))


class Transformer(torch.nn.Module):
    def __init__(self, layers=4, width=64):
        super().__init__()
        self.layers = torch.nn.ModuleList(Layer(width) for _ in range(layers))
        self.head = torch.nn.Linear(width, 100)

    def forward(self, x):
        for layer in self.layers:
            if MODEL == "checkpointed":
                x = checkpoint(layer, x, preserve_rng_state=False, **REENTRANT)
            else:
                x = layer(x)
        return self.head(x)


def storage_of(tensor):
    storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
    return storage.data_ptr(), -(-storage.nbytes() // ROUND) * ROUND


class Calls:
    """Which module is running, by the calls themselves; and what is made in each."""

    def __init__(self, net):
        self.paths = {module: path for path, module in net.named_modules()}
        self.open, self.made = [], {}  # storage → path
        self.seen = []  # so that no other comes where one was
        self.handles = []
        for module in self.paths:
            self.handles.append(module.register_forward_pre_hook(self.enter))
            self.handles.append(module.register_forward_hook(self.leave))

    def enter(self, module, inputs):
        for tensor in inputs:
            self.see(tensor)
        self.open.append(self.paths[module])

    def leave(self, module, inputs, output):
        self.see(output)
        self.open.pop()

    def see(self, tensor):
        """The innermost call in which it is seen first is the one that made it: its output, or what was saved there."""
        if self.open and isinstance(tensor, torch.Tensor):
            self.seen.append(tensor.detach())
            self.made.setdefault(storage_of(tensor)[0], self.open[-1])

    def close(self):
        for handle in self.handles:
            handle.remove()
        self.seen.clear()


def kept_for_backward(net, x, known):
    """path → bytes of the activations that a forward leaves, by where each was made."""
    calls, saved = Calls(net), {}

    def pack(tensor):
        calls.see(tensor)
        saved[storage_of(tensor)[0]] = storage_of(tensor)[1]
        return tensor.detach()  # a result that a node has itself would never go

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        out = net(x)
    saved[storage_of(out)[0]] = storage_of(out)[1]
    calls.close()
    sums = {}
    for at, size in saved.items():
        if at not in known and at in calls.made:
            sums[calls.made[at]] = sums.get(calls.made[at], 0) + size
    del out
    return sums


def note(mark, net, optimizer, activations, x):
    rows = {}

    def add(path, what, tensor):
        rows[path][what] = rows[path].get(what, 0) + storage_of(tensor)[1]

    for path, module in net.named_modules():
        rows[path] = {"class": type(module).__name__, "activation": activations.get(path, 0)}
        for parameter in module._parameters.values():
            if parameter is None:
                continue
            add(path, "parameter", parameter)
            if parameter.grad is not None:
                add(path, "gradient", parameter.grad)
            for tensor in optimizer.state[parameter].values() if parameter in optimizer.state else ():
                if isinstance(tensor, torch.Tensor):
                    add(path, "optimizer", tensor)
        for buffer in module._buffers.values():
            if buffer is not None:
                add(path, "buffer", buffer)
    # It is of the module in whose backward it was made, which is not known here.
    of_input = storage_of(x.grad)[1] if x.grad is not None else 0
    TRUTH.write(json.dumps({"mark": mark, "modules": rows, "gradient_of_input": of_input}) + "\n")
    TRUTH.flush()
    tare.mark(mark)


INPUTS = {"resnet": (8, 3, 32, 32), "transformer": (8, 32, 64), "checkpointed": (8, 32, 64),
          "resnet50": (16, 3, 224, 224)}


def model():
    if MODEL == "resnet50":
        import torchvision
        return torchvision.models.resnet50()
    return ResNet() if MODEL == "resnet" else Transformer()


def main():
    torch.manual_seed(0)
    net = model().to(DEVICE)
    optimizer = torch.optim.Adam(net.parameters())
    x = torch.randn(INPUTS[MODEL], device=DEVICE, requires_grad=MODEL == "checkpointed")
    known = {storage_of(t)[0] for t in [x] + list(net.parameters()) + list(net.buffers())}
    activations = kept_for_backward(net, x, known)
    for step in range(STEPS):
        out = net(x)
        note("forward%d" % step, net, optimizer, activations, x)
        out.pow(2).mean().backward()
        del out
        note("backward%d" % step, net, optimizer, {}, x)
        optimizer.step()
        note("step%d" % step, net, optimizer, {}, x)
        optimizer.zero_grad()
        if x.grad is not None:
            x.grad = None


main()
