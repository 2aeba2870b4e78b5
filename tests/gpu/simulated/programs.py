#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs whose memory on a card is compared with that on a simulated card: programs.py CASE

Prints one line of JSON: bytes of the device in use after the context, and at the end, and PyTorch's peaks. Nothing that
is computed decides a size, so that a card without values must come to the same.
"""
import json
import sys

import torch
from torch import nn
from torch.nn import functional as F

GPU = torch.device("cuda")


def used():
    free, total = torch.cuda.mem_get_info()
    return total - free


class Block(nn.Module):
    """A block of a decoder, with a cache of fixed length."""

    def __init__(self, width, heads, length, batch):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.cache = torch.zeros(2, batch, heads, length, width // heads, device=GPU, dtype=torch.bfloat16)

    def forward(self, x, at):
        n = x.shape[0]
        q, k, v = self.qkv(self.norms[0](x)).view(n, 1, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        self.cache[0, :n, :, at:at + 1] = k
        self.cache[1, :n, :, at:at + 1] = v
        x = x + self.out(F.scaled_dot_product_attention(q, self.cache[0, :n], self.cache[1, :n]).flatten(1))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


def serve():
    """Decoding with a graph for each of six batch sizes."""
    width, most = 1024, 32
    blocks = nn.ModuleList([Block(width, 16, 512, most) for _ in range(12)]).to(GPU, torch.bfloat16)
    x, graphs = torch.zeros(most, width, device=GPU, dtype=torch.bfloat16), {}

    def step(n):
        y = x[:n]
        for block in blocks:
            y = block(y, 7)
        return y

    with torch.no_grad():
        for n in (32, 16, 8, 4, 2, 1):
            step(n)
            torch.cuda.synchronize()
            graphs[n] = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graphs[n]):
                step(n)
        for n, graph in graphs.items():
            graph.replay()


class Lora(nn.Module):
    def __init__(self, of, rank=16):
        super().__init__()
        self.of = of.requires_grad_(False)
        self.a, self.b = nn.Linear(of.in_features, rank, bias=False), nn.Linear(rank, of.out_features, bias=False)

    def forward(self, x):
        return self.of(x) + self.b(self.a(x))


def lora():
    """Adapters on a frozen transformer in bf16, AdamW on the adapters alone."""
    layers = [nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True, dropout=0.0) for _ in range(8)]
    model = nn.Sequential(*layers).requires_grad_(False)
    for layer in layers:
        layer.linear1, layer.linear2 = Lora(layer.linear1), Lora(layer.linear2)
    model.to(GPU, torch.bfloat16).train()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], 1e-4)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(8, 512, 1024, device=GPU, dtype=torch.bfloat16)).float().pow(2).mean().backward()
        optimizer.step()


class Residual(nn.Module):
    def __init__(self, into, out):
        super().__init__()
        self.body = nn.Sequential(nn.GroupNorm(32, into), nn.SiLU(), nn.Conv2d(into, out, 3, padding=1),
                                  nn.GroupNorm(32, out), nn.SiLU(), nn.Conv2d(out, out, 3, padding=1))
        self.skip = nn.Conv2d(into, out, 1) if into != out else nn.Identity()

    def forward(self, x):
        return self.skip(x) + self.body(x)


class Unet(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        sizes = [width, 2 * width, 4 * width]
        self.head = nn.Conv2d(4, width, 3, padding=1)
        self.down = nn.ModuleList([Residual(a, b) for a, b in zip([width] + sizes, sizes)])
        self.middle = Residual(sizes[-1], sizes[-1])
        self.up = nn.ModuleList([Residual(a + b, b) for a, b in zip(sizes[::-1][:1] + sizes[::-1], sizes[::-1])])
        self.tail = nn.Conv2d(width, 4, 3, padding=1)

    def forward(self, x):
        x, kept = self.head(x), []
        for block in self.down:
            x = block(x)
            kept.append(x)
            x = F.avg_pool2d(x, 2)
        x = self.middle(x)
        for block in self.up:
            x = block(torch.cat([F.interpolate(x, scale_factor=2), kept.pop()], 1))
        return self.tail(x)


def diffusion(batch=4, steps=20):
    """A U-Net that takes noise away in twenty steps, in half precision."""
    model, x = Unet().to(GPU, torch.float16), torch.randn(batch, 4, 64, 64, device=GPU, dtype=torch.float16)
    with torch.no_grad():
        for _ in range(steps):
            x = x - 0.05 * model(x)


def diffusion_training():
    model = Unet(64).to(GPU)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(8, 4, 64, 64, device=GPU)).pow(2).mean().backward()
        optimizer.step()


def compiled():
    """torch.compile with CUDA graphs, a training step."""
    model = nn.Sequential(*[nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, dropout=0.0) for _ in range(4)]).to(GPU)
    optimizer, run = torch.optim.AdamW(model.parameters(), 1e-4), torch.compile(model, mode="reduce-overhead")
    for _ in range(5):
        optimizer.zero_grad()
        run(torch.randn(8, 256, 512, device=GPU)).pow(2).mean().backward()
        optimizer.step()


def scaled():
    """AMP with a GradScaler; the first scale is small, so that nothing overflows."""
    import torchvision
    model = torchvision.models.resnet18().to(GPU).train()
    optimizer, scaler = torch.optim.SGD(model.parameters(), 1e-3, momentum=.9), torch.amp.GradScaler("cuda", init_scale=8.0)
    for _ in range(3):
        optimizer.zero_grad()
        x, y = torch.randn(64, 3, 224, 224, device=GPU), torch.zeros(64, dtype=torch.long, device=GPU)
        with torch.autocast("cuda", torch.float16):
            loss = F.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


def recurrent():
    model = nn.LSTM(256, 512, 3, batch_first=True, bidirectional=True).to(GPU)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(32, 200, 256, device=GPU))[0].pow(2).mean().backward()
        optimizer.step()


def linear_algebra():
    a = torch.randn(512, 512, device=GPU)
    torch.linalg.svd(a), torch.linalg.qr(a), torch.linalg.eigh(a @ a.T), torch.fft.fft2(a), torch.linalg.solve(a, a)


def streams():
    parts = [torch.cuda.Stream() for _ in range(4)]
    for stream in parts:
        with torch.cuda.stream(stream):
            torch.randn(1024, 1024, device=GPU) @ torch.randn(1024, 1024, device=GPU)


CASES = {f.__name__: f for f in (serve, lora, diffusion, diffusion_training, compiled, scaled, recurrent, linear_algebra, streams)}


def main():
    torch.manual_seed(0)
    torch.zeros(1, device=GPU)
    torch.cuda.synchronize()
    context = used()
    CASES[sys.argv[1]]()
    torch.cuda.synchronize()
    print(json.dumps({"case": sys.argv[1], "used": used(), "context": context,
                      "peak_allocated": torch.cuda.max_memory_allocated(), "peak_reserved": torch.cuda.max_memory_reserved()}))


if __name__ == "__main__":
    main()
