#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Decoding by transformers with a static cache, and a CUDA graph for each number of tokens that a step may take.

    static_cache.py [LAYERS [WIDTH [LENGTH [BATCH]]]]

A Llama of random weights; the steps are 16 (as speculative decoding checks a draft), 15 … 1 tokens long.
"""
import json
import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

GPU = torch.device("cuda")
LAYERS, WIDTH, LENGTH, BATCH = [int(x) for x in sys.argv[1:]] + [4, 512, 16384, 64][len(sys.argv) - 1:]


def main():
    config = LlamaConfig(num_hidden_layers=LAYERS, hidden_size=WIDTH, intermediate_size=3 * WIDTH, vocab_size=8192,
                         num_attention_heads=8, num_key_value_heads=8, max_position_embeddings=LENGTH)
    torch.set_default_dtype(torch.bfloat16)
    with GPU:
        model = LlamaForCausalLM(config).eval()
    cache = StaticCache(config=config, max_cache_len=LENGTH)
    words = torch.zeros(BATCH, 16, dtype=torch.long, device=GPU)
    place = torch.arange(16, device=GPU)
    graphs, pool = [], None

    def step(n):
        return model(words[:, :n], past_key_values=cache, cache_position=place[:n], position_ids=place[None, :n],
                     attention_mask=seen[:, :, :n], use_cache=True).logits

    seen = torch.ones(1, 1, 16, LENGTH, dtype=torch.bool, device=GPU).expand(BATCH, 1, 16, LENGTH)
    with torch.no_grad():
        step(16)  # makes the cache
        for n in range(16, 0, -1):
            step(n)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool):
                step(n)
            graphs.append(graph)
            pool = pool or graph.pool()
        for graph in graphs:
            graph.replay()
        torch.cuda.synchronize()
    print(json.dumps({"graphs": len(graphs), "reserved_bytes": torch.cuda.memory_reserved()}))


main()
