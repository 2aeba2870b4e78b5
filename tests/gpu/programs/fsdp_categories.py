# SPDX-License-Identifier: Apache-2.0
"""A 12-layer MLP under Adam, its parameters sharded, started by torchrun; and what the program's own objects take
at marked instants, as lines of JSON that tests/gpu/tensors/objects.py reads. KIND: flat (FullyShardedDataParallel),
flat_orig (the same with use_orig_params), fully_shard (FSDP2, whose parameters are DTensors)."""
import contextlib
import json
import os
import sys

import torch
import torch.distributed

WIDTH, LAYERS, STEPS = 1024, 12, 5


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(WIDTH, 4 * WIDTH)
        self.down = torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(x)))


class Net(torch.nn.Module):
    """stem and head belong to the outermost unit, whose parameters stay gathered after its forward."""

    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Linear(WIDTH, WIDTH)
        self.layers = torch.nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = torch.nn.Linear(WIDTH, 10)

    def forward(self, x):
        x = self.stem(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def shard(kind, net):
    if kind == "fully_shard":
        from torch.distributed.fsdp import fully_shard
        for layer in net.layers:
            fully_shard(layer)
        return fully_shard(net)
    from torch.distributed.fsdp import FullyShardedDataParallel
    for i, layer in enumerate(net.layers):
        net.layers[i] = FullyShardedDataParallel(layer, use_orig_params=kind == "flat_orig")
    return FullyShardedDataParallel(net, use_orig_params=kind == "flat_orig")


def local(tensor):
    """Of a DTensor, the part that is here."""
    return getattr(tensor, "_local_tensor", tensor)


def groups_of(state):
    """Of a module's state under fully_shard; its private names changed."""
    groups = getattr(state, "_fsdp_param_groups", None)
    return groups if groups is not None else [getattr(state, "_fsdp_param_group", None)]


def shards(net):
    """What each rank keeps of the parameters, and where they are whole, for as long as they are."""
    kept, whole = [], []
    for module in net.modules():
        flat = getattr(getattr(module, "_handle", None), "flat_param", None)
        if flat is not None:
            kept.append(getattr(flat, "_local_shard", None))
            whole.append(getattr(flat, "_full_param_padded", None))
        if hasattr(module, "_get_fsdp_state"):
            for group in groups_of(module._get_fsdp_state()):
                for parameter in getattr(group, "fsdp_params", []):
                    kept.append(parameter._sharded_param_data)
                    whole += parameter.all_gather_outputs
    return kept, whole


class Program:
    def __init__(self, kind):
        self.rank = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(self.rank)
        torch.distributed.init_process_group("nccl", device_id=torch.device("cuda", self.rank))
        torch.manual_seed(0)
        self.net = shard(kind, Net().cuda())
        self.optimizer = torch.optim.Adam(self.net.parameters())
        self.x = torch.randn(64, WIDTH, device="cuda")
        self.y = torch.randint(0, 10, (64,), device="cuda")

    def say(self, mark):
        sizes = {block["address"]: block["size"] for segment in torch.cuda.memory_snapshot()
                 for block in segment["blocks"] if segment["device"] == self.rank
                 and block["state"] == "active_allocated"}
        taken = set()
        entry = {"mark": mark, "device": self.rank}
        state = [t for one in self.optimizer.state.values() for t in one.values() if isinstance(t, torch.Tensor)]
        kept, whole = shards(self.net)
        for category, tensors in (("communication", whole), ("parameter", kept + list(self.net.parameters())),
                                  ("buffer/state", self.net.buffers()),
                                  ("gradient", [p.grad for p in self.net.parameters()]),
                                  ("optimizer state", state), ("input", [self.x, self.y])):
            at = {local(t).untyped_storage().data_ptr() for t in tensors if t is not None} - taken
            taken |= at
            entry[category] = sum(sizes.get(a, 0) for a in at)
        print(json.dumps(entry) + "\n", end="", flush=True)

    @contextlib.contextmanager
    def mark(self, name):
        name = "rank %d %s" % (self.rank, name)
        torch.cuda.nvtx.range_push(name)
        yield
        torch.cuda.synchronize()
        self.say(name)
        torch.cuda.nvtx.range_pop()

    def step(self, number):
        self.optimizer.zero_grad()
        with self.mark("forward %d" % number):
            loss = torch.nn.functional.cross_entropy(self.net(self.x), self.y)
        with self.mark("backward %d" % number):
            loss.backward()
        with self.mark("step %d" % number):
            self.optimizer.step()


def main(kind):
    program = Program(kind)
    for number in range(STEPS):
        program.step(number)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


main(*sys.argv[1:])
