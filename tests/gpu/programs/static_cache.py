#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Decoding by transformers with a static cache, and a CUDA graph for each number of tokens that a step may take.

    static_cache.py [LAYERS [WIDTH [LENGTH [BATCH]]]]

A Llama of random weights; the steps are 16 (as speculative decoding checks a draft), 15 … 1 tokens long. Each step begins at the
same place of the cache, as a draft that was not accepted is written over; the place is reset in the step, so that a replay does it, too.
"""
import json
import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

GPU = torch.device("cuda")
TOKENS = 16  # of the longest step


class Decoder:
    def __init__(self, layers, width, length, batch):
        config = LlamaConfig(num_hidden_layers=layers, hidden_size=width, intermediate_size=3 * width, vocab_size=8192,
                             num_attention_heads=8, num_key_value_heads=8, max_position_embeddings=length)
        torch.set_default_dtype(torch.bfloat16)
        with GPU:
            self.model = LlamaForCausalLM(config).eval()
        self.cache = StaticCache(config=config, max_cache_len=length)
        self.words = torch.zeros(batch, TOKENS, dtype=torch.long, device=GPU)
        self.place = torch.arange(TOKENS, device=GPU)
        self.seen = torch.ones(1, 1, TOKENS, length, dtype=torch.bool, device=GPU).expand(batch, 1, TOKENS, length)

    def step(self, n):
        for layer in self.cache.layers:
            layer.cumulative_length.zero_()
        place = self.place[:n]
        return self.model(self.words[:, :n], past_key_values=self.cache, cache_position=place, position_ids=place[None],
                          attention_mask=self.seen[:, :, :n], use_cache=True).logits


def main():
    layers, width, length, batch = [int(x) for x in sys.argv[1:]] + [4, 512, 16384, 64][len(sys.argv) - 1:]
    graphs, pool = [], None
    with torch.no_grad():
        decoder = Decoder(layers, width, length, batch)
        decoder.step(TOKENS)  # makes the cache
        for n in range(TOKENS, 0, -1):
            decoder.step(n)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool):
                decoder.step(n)
            graphs.append(graph)
            pool = pool or graph.pool()
        for graph in graphs:
            graph.replay()
        torch.cuda.synchronize()
    print(json.dumps({"graphs": len(graphs), "reserved_bytes": torch.cuda.memory_reserved()}))


if __name__ == "__main__":
    main()
