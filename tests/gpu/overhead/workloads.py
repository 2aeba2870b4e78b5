# SPDX-License-Identifier: Apache-2.0
"""What is measured, one step each: make(NAME, device) returns a function without arguments."""

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x, past):
        batch, length, width = x.shape
        parts = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = parts[0], parts[1], parts[2]
        if past is not None:
            k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
        scores = q @ k.transpose(-2, -1) * (q.shape[-1] ** -0.5)
        if length > 1:
            mask = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()
            scores = scores.masked_fill(~mask, float("-inf"))
        mixed = (functional.softmax(scores, -1) @ v).transpose(1, 2).reshape(batch, length, width)
        return self.out(mixed), (k, v)

    def forward(self, x, past=None):
        mixed, now = self.attend(self.first(x), past)
        x = x + mixed
        return x + self.down(functional.gelu(self.up(self.second(x)))), now


class GPT(nn.Module):
    """GPT-2's shape: 12 layers, 768 wide, 12 heads, 50257 tokens."""

    def __init__(self, layers=12, width=768, heads=12, tokens=50257, length=1024):
        super().__init__()
        self.words, self.places = nn.Embedding(tokens, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.last = nn.LayerNorm(width)

    def forward(self, tokens, past=None):
        begin = past[0][0].shape[2] if past else 0
        x = self.words(tokens) + self.places(torch.arange(begin, begin + tokens.shape[1], device=tokens.device))
        now = []
        for i, block in enumerate(self.blocks):
            x, kept = block(x, past[i] if past else None)
            now.append(kept)
        return self.last(x) @ self.words.weight.t(), now


def training(net, x, loss):
    optimizer = torch.optim.Adam(net.parameters())

    def step():
        optimizer.zero_grad()
        loss(net(x)).backward()
        optimizer.step()
    return step


def resnet50(device):
    import torchvision
    torch.backends.cudnn.benchmark = True
    y = torch.randint(0, 1000, (8,), device=device)
    return training(torchvision.models.resnet50().to(device), torch.randn(8, 3, 224, 224, device=device),
                    lambda out: functional.cross_entropy(out, y))


def gpt2(device):
    tokens = torch.randint(0, 50257, (4, 257), device=device)
    return training(GPT().to(device), tokens[:, :-1],
                    lambda out: functional.cross_entropy(out[0].flatten(0, 1), tokens[:, 1:].flatten()))


def decoding(net, device, prompt):
    """Each step is one token more; after 64 it begins again behind the prompt."""
    net = net.to(device).eval()
    with torch.no_grad():
        first = net(torch.randint(0, 100, (1, prompt), device=device))[1]
    state = {"past": first, "token": torch.zeros(1, 1, dtype=torch.long, device=device)}

    def step():
        with torch.no_grad():
            out, state["past"] = net(state["token"], state["past"])
            state["token"] = out[:, -1:].argmax(-1)
        if state["past"][0][0].shape[2] >= prompt + 64:
            state["past"] = first
    return step


def decode(device):
    return decoding(GPT(), device, 128)


def small_decode(device):
    return decoding(GPT(2, 32, 2, 100, 128), device, 8)


def mlp(device):
    y = torch.randint(0, 10, (32,), device=device)
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).to(device)
    return training(net, torch.randn(32, 64, device=device), lambda out: functional.cross_entropy(out, y))


ALL = {"resnet50": (resnet50, "ResNet-50, batch 8, Adam"), "gpt2": (gpt2, "GPT-2, 4 × 256, Adam"),
       "decode": (decode, "GPT-2, eager decode of one token"), "mlp": (mlp, "MLP, 3 layers of 64, Adam"),
       "small_decode": (small_decode, "a small GPT, decode of one token")}


def make(name, device):
    return ALL[name][0](device)
