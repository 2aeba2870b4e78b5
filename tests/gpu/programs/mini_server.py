#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server of a language model in plain PyTorch, small enough to read: what servers do with memory, and no more.

It loads weights (as a Llama has them, random), runs the longest prompt once to see what that takes, takes one large block for its
paged cache, captures a CUDA graph for each batch size, the largest first, and answers requests by continuous batching.
Which request comes and goes when does not depend on what is computed, so that it runs on a simulated card, too.

Exit code 0: all requests were answered; 3: memory ran out, and the line says where.
"""
import argparse
import json
import sys

import torch
from torch import nn
from torch.nn import functional as F

PAGE = 16  # tokens
GPU = torch.device("cuda")


def arguments(given=None):
    p = argparse.ArgumentParser()
    p.add_argument("--layers", type=int, default=4)
    p.add_argument("--width", type=int, default=512)
    p.add_argument("--heads", type=int, default=8)
    p.add_argument("--vocabulary", type=int, default=8192)
    p.add_argument("--prompt", type=int, default=2048, help="tokens of the longest prompt")
    p.add_argument("--answer", type=int, default=64, help="tokens of the longest answer")
    p.add_argument("--requests", type=int, default=48)
    p.add_argument("--most", type=int, default=256, help="the largest batch")
    p.add_argument("--cache", type=float, default=1024, help="MiB")
    p.add_argument("--captures", type=int, default=0, help="end after so many")
    return p.parse_args(given)


def sizes(most):
    """Batch sizes that have a graph, the largest first: 35 up to 256."""
    return [n for n in range(most // 8 * 8, 0, -8)] + [4, 2, 1]


class Layer(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.heads = o.heads
        self.norms = nn.ModuleList([nn.RMSNorm(o.width), nn.RMSNorm(o.width)])
        self.qkv, self.out = nn.Linear(o.width, 3 * o.width, bias=False), nn.Linear(o.width, o.width, bias=False)
        self.gate, self.up = nn.Linear(o.width, 3 * o.width, bias=False), nn.Linear(o.width, 3 * o.width, bias=False)
        self.down = nn.Linear(3 * o.width, o.width, bias=False)

    def forward(self, x, attend):
        q, k, v = self.qkv(self.norms[0](x)).view(x.shape[0], 3, self.heads, -1).unbind(1)
        x = x + self.out(attend(q, k, v))
        y = self.norms[1](x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Model(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.words = nn.Embedding(o.vocabulary, o.width)
        self.layers = nn.ModuleList([Layer(o) for _ in range(o.layers)])
        self.norm, self.head = nn.RMSNorm(o.width), nn.Linear(o.width, o.vocabulary, bias=False)

    def forward(self, tokens, attend):
        x = self.words(tokens)
        for i, layer in enumerate(self.layers):
            x = layer(x, lambda q, k, v, i=i: attend(i, q, k, v))
        return self.norm(x)


class Cache:
    """Keys and values of all layers in one block: layer, keys or values, page, place in the page."""

    def __init__(self, o):
        self.of_page = o.layers * 2 * PAGE * o.width * 2
        self.pages = int(o.cache * (1 << 20)) // self.of_page
        self.all = torch.zeros(o.layers, 2, self.pages, PAGE, o.heads, o.width // o.heads, dtype=torch.bfloat16, device=GPU)
        self.free = list(range(self.pages))

    def put(self, layer, slots, k, v):
        for kind, what in ((0, k), (1, v)):
            self.all[layer, kind].flatten(0, 1).index_copy_(0, slots, what)


class Server:
    def __init__(self, o):
        self.o, self.graphs = o, {}
        torch.set_default_dtype(torch.bfloat16)
        with GPU:
            self.model = Model(o)
        self.pages_of_one = (o.prompt + o.answer + PAGE - 1) // PAGE
        self.tokens = torch.zeros(o.most, dtype=torch.long, device=GPU)
        self.slots = torch.zeros(o.most, dtype=torch.long, device=GPU)
        self.lengths = torch.zeros(o.most, dtype=torch.long, device=GPU)
        self.tables = torch.zeros(o.most, self.pages_of_one, dtype=torch.long, device=GPU)
        self.places = torch.arange(self.pages_of_one * PAGE, device=GPU)

    def prompt(self, tokens, slots):
        """Reads a prompt; slots None: to see what that takes."""
        def attend(layer, q, k, v):
            if slots is not None:
                self.cache.put(layer, slots, k, v)
            q, k, v = (t.transpose(0, 1)[None] for t in (q, k, v))
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)[0].transpose(0, 1).flatten(1)

        return self.model.head(self.model(tokens, attend))[-1:].argmax(1)

    def decode(self, n):
        """The next token of the first n requests."""
        seen = (self.places <= self.lengths[:n, None])[:, None, None]
        pages = self.tables[:n]

        def attend(layer, q, k, v):
            self.cache.put(layer, self.slots[:n], k, v)
            keys, values = (self.cache.all[layer, kind][pages].flatten(1, 2).transpose(1, 2) for kind in (0, 1))
            return F.scaled_dot_product_attention(q[:, :, None], keys, values, attn_mask=seen).flatten(1)

        self.tokens[:n] = self.model.head(self.model(self.tokens[:n], attend)).argmax(1)

    def capture(self):
        pool = None
        for n in sizes(self.o.most)[:self.o.captures or None]:
            self.decode(n)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool):
                self.decode(n)
            self.graphs[n], pool = graph, pool or graph.pool()

    def start(self):
        self.prompt(torch.zeros(self.o.prompt, dtype=torch.long, device=GPU), None)
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        self.cache = Cache(self.o)
        self.capture()

    def admit(self, number):
        """A request with a prompt and an answer of some length; None: it has to wait."""
        tokens = self.o.prompt if number % 7 == 0 else 16 + (number * 97) % (self.o.prompt - 15)
        answer = 1 + number * 31 % self.o.answer
        pages = (tokens + answer + PAGE - 1) // PAGE
        if len(self.cache.free) < pages:
            return None
        mine = [self.cache.free.pop() for _ in range(pages)]
        slots = torch.tensor([p * PAGE + i for p in mine for i in range(PAGE)][:tokens], device=GPU)
        self.prompt(torch.zeros(tokens, dtype=torch.long, device=GPU), slots)
        return {"length": tokens, "rest": answer, "pages": mine}

    def step(self, running):
        n = min(s for s in self.graphs if s >= len(running))
        rows = [r["pages"] + [0] * (self.pages_of_one - len(r["pages"])) for r in running]
        self.tables[:len(rows)] = torch.tensor(rows, device=GPU)
        self.lengths[:len(rows)] = torch.tensor([r["length"] for r in running], device=GPU)
        self.slots[:len(rows)] = torch.tensor([r["pages"][r["length"] // PAGE] * PAGE + r["length"] % PAGE for r in running],
                                              device=GPU)
        self.graphs[n].replay()
        for r in running:
            r["length"] += 1
            r["rest"] -= 1

    def serve(self):
        running, next_request, answered = [], 0, 0
        while answered < self.o.requests:
            while next_request < self.o.requests and len(running) < self.o.most:
                request = self.admit(next_request)
                if request is None:
                    break
                running.append(request)
                next_request += 1
            if not running:
                raise SystemExit("the cache is too small for one request")
            self.step(running)
            for r in [r for r in running if not r["rest"]]:
                running.remove(r)
                self.cache.free += r["pages"]
                answered += 1
        torch.cuda.synchronize()


def main():
    o = arguments()
    try:
        with torch.no_grad():
            server = Server(o)
            server.start()
            if not o.captures:
                server.serve()
    except torch.OutOfMemoryError as error:
        print("memory ran out: %s" % str(error).split(". ")[0], file=sys.stderr)
        sys.exit(3)
    print(json.dumps({"cache_bytes": server.cache.all.nbytes, "graphs": len(server.graphs),
                      "reserved_bytes": torch.cuda.memory_reserved(), "requests": 0 if o.captures else o.requests}))


if __name__ == "__main__":
    main()
