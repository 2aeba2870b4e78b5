# SPDX-License-Identifier: Apache-2.0
"""Training with one of several optimizers, with or without gradient accumulation, on GPU or CPU.

How many times the parameters does training take, and what does accumulation save? One cell of that matrix.
The program knows nothing of Tare; on a GPU it marks its phases with NVTX.

    python examples/optimizers.py --optimizer adam --accumulate 4
    tare sweep --grid optimizer=sgd,momentum,adam --grid accumulate=1,4 --work 'samples=32*8' \\
        -- python examples/optimizers.py --optimizer {optimizer} --accumulate {accumulate}
    python examples/optimizers.py --cpu             a tiny network, no GPU
"""

import argparse
import contextlib
import time

import torch

OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=1e-3),
    "momentum": lambda p: torch.optim.SGD(p, lr=1e-3, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, lr=1e-4),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-4),
}


def options(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--optimizer", choices=sorted(OPTIMIZERS), default="sgd")
    parser.add_argument("--accumulate", type=int, default=1, help="parts that a batch is taken in")
    parser.add_argument("--batch", type=int, help="32; 8 with --cpu")
    parser.add_argument("--width", type=int, help="of the network: 512; 16 with --cpu")
    parser.add_argument("--layers", type=int, help="8; 2 with --cpu")
    parser.add_argument("--length", type=int, help="tokens of a sample: 512; 8 with --cpu")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--cpu", action="store_true", help="no GPU")
    args = parser.parse_args(argv)
    for name, on_gpu, on_cpu in (("batch", 32, 8), ("width", 512, 16), ("layers", 8, 2), ("length", 512, 8)):
        if getattr(args, name) is None:
            setattr(args, name, on_cpu if args.cpu else on_gpu)
    if min(args.accumulate, args.batch, args.width, args.layers, args.length, args.steps) < 1:
        parser.error("sizes are at least 1")
    if args.batch % args.accumulate or args.width % 8:
        parser.error("--accumulate divides the batch, and 8 the width")
    return args


def phase(args, name):
    return contextlib.nullcontext() if args.cpu else torch.cuda.nvtx.range(name)


def network(args):
    layer = torch.nn.TransformerEncoderLayer(args.width, 8, 4 * args.width, dropout=0, batch_first=True)
    return torch.nn.TransformerEncoder(layer, args.layers)


def step(args, net, optimizer, data):
    for part in data.chunk(args.accumulate):
        loss = (net(part) - part.roll(1, 1)).square().mean() / args.accumulate
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.item()


def run(args):
    device = torch.device("cpu" if args.cpu else "cuda")
    torch.manual_seed(1)
    with phase(args, "build layers=%d" % args.layers):
        net = network(args).to(device)
        optimizer = OPTIMIZERS[args.optimizer](net.parameters())
        data = torch.randn(args.batch, args.length, args.width, device=device)
    with phase(args, "first step"):
        step(args, net, optimizer, data)
    begin = time.perf_counter()
    for i in range(1, args.steps):
        with phase(args, "step"):
            loss = step(args, net, optimizer, data)
    seconds = time.perf_counter() - begin
    parameters = sum(p.numel() * p.element_size() for p in net.parameters())
    print("%s, accumulate %d: %.1f MiB of parameters, %.4f s a step" % (
        args.optimizer, args.accumulate, parameters / 2**20, seconds / max(args.steps - 1, 1)))
    return loss if args.steps > 1 else 0.0


if __name__ == "__main__":
    run(options())
