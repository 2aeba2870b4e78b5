# SPDX-License-Identifier: Apache-2.0
"""An operator rolled out in time: a small network that maps a field to the next, applied over and over.

It generates data, so it keeps every step of every realization on the GPU until the end: that, and not
the network, is the memory. Five realizations per batch, as the program that it is shaped like has them.
The program knows nothing of Tare; it marks its phases with NVTX.

    python examples/rollout.py --batch 2
    tare sweep --vram 7.7GiB --grid batch=2,3 --grid compile=no,yes --repeat 3 \\
        --work 'timesteps={batch}*500' --total 10000 -- python examples/rollout.py --batch {batch} --compile {compile}
    python examples/rollout.py --cpu                the arithmetic alone, on a tiny field
"""

import argparse
import contextlib
import time

import torch

REALIZATIONS = 5  # per batch


def options(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--precision", choices=("fp16", "fp32"), help="fp16; fp32 with --cpu")
    parser.add_argument("--compile", choices=("no", "yes", "graphs"), default="no",
                        help="torch.compile; graphs: with mode=reduce-overhead")
    parser.add_argument("--steps", type=int, help="500; 5 with --cpu")
    parser.add_argument("--grid", type=int, help="points in each direction: 512; 16 with --cpu")
    parser.add_argument("--channels", type=int, default=16)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--cpu", action="store_true", help="no GPU")
    args = parser.parse_args(argv)
    args.precision = args.precision or ("fp32" if args.cpu else "fp16")
    args.steps = args.steps or (5 if args.cpu else 500)
    args.grid = args.grid or (16 if args.cpu else 512)
    if min(args.batch, args.steps, args.grid, args.channels, args.layers) < 1:
        parser.error("sizes are at least 1")
    if args.cpu and args.compile != "no":
        parser.error("--compile is for the GPU")
    return args


class Operator(torch.nn.Module):
    """A step: the field and a correction, on a torus."""

    def __init__(self, channels, layers):
        super().__init__()
        widths = [1] + [channels] * layers + [1]
        self.layers = torch.nn.ModuleList(
            torch.nn.Conv2d(a, b, 3, padding=1, padding_mode="circular") for a, b in zip(widths, widths[1:]))

    def forward(self, field):
        out = field
        for layer in self.layers[:-1]:
            out = torch.nn.functional.gelu(layer(out))
        return field + 0.1 * torch.tanh(self.layers[-1](out))


def phase(args, name):
    return contextlib.nullcontext() if args.cpu else torch.cuda.nvtx.range(name)


def run(args):
    device = torch.device("cpu" if args.cpu else "cuda")
    dtype = torch.float16 if args.precision == "fp16" else torch.float32
    count = args.batch * REALIZATIONS
    torch.manual_seed(1)
    with phase(args, "build channels=%d" % args.channels):
        operator = Operator(args.channels, args.layers).to(device, dtype).eval()
        step = operator
        if args.compile != "no":
            step = torch.compile(operator, mode="reduce-overhead" if args.compile == "graphs" else "default")
        field = torch.randn(count, 1, args.grid, args.grid, device=device).to(dtype)
    with torch.no_grad():
        with phase(args, "first step batch=%d" % args.batch):
            field = step(field).clone()
        begin = time.perf_counter()
        with phase(args, "rollout batch=%d steps=%d" % (args.batch, args.steps)):
            path = torch.empty(args.steps, *field.shape, device=device, dtype=dtype)
            for i in range(args.steps):
                field = step(field)
                path[i].copy_(field)
                field = path[i]
            mean = path[-1].float().abs().mean().item()
    if not args.cpu:
        torch.cuda.synchronize()
    seconds = time.perf_counter() - begin
    print("batch %d, %d realizations of %d steps: %.3f s, %.1f steps/s of each, mean %.4f"
          % (args.batch, count, args.steps, seconds, args.steps / seconds, mean))


if __name__ == "__main__":
    run(options())
