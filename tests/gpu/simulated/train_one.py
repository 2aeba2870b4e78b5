#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains one configuration for three steps, as a user would; then prints what a GPU had in use, as one line of JSON.

train_one.py MODEL OPTIMIZER BATCH [--amp bf16|fp16] [--size N] [--steps 3] [--accumulate K] [--checkpoint]
MODEL is a classifier of torchvision by name, or gpt2 distilgpt2 opt gptneo t5-small t5-base bert llama: a model of
transformers from its configuration, with random weights.
"""
import argparse
import json

import torch

GPU = torch.device("cuda")
LANGUAGE = {"gpt2", "distilgpt2", "opt", "gptneo", "t5-small", "t5-base", "bert", "llama"}


def used():
    free, total = torch.cuda.mem_get_info()
    return total - free


def language_model(name):
    """The model and the size of its vocabulary."""
    import transformers as tf
    if name in ("gpt2", "distilgpt2"):
        return tf.GPT2LMHeadModel(tf.GPT2Config(n_layer=12 if name == "gpt2" else 6)), 50257
    if name == "opt":
        return tf.OPTForCausalLM(tf.OPTConfig(hidden_size=768, num_hidden_layers=12, ffn_dim=3072, num_attention_heads=12,
                                              word_embed_proj_dim=768)), 50272
    if name == "gptneo":
        return tf.GPTNeoForCausalLM(tf.GPTNeoConfig(hidden_size=768, num_layers=12, num_heads=12,
                                                    attention_types=[[["global", "local"], 6]])), 50257
    if name.startswith("t5"):
        sizes = (dict(d_model=512, d_ff=2048, num_layers=6, num_heads=8) if name == "t5-small" else
                 dict(d_model=768, d_ff=3072, num_layers=12, num_heads=12))
        return tf.T5ForConditionalGeneration(tf.T5Config(decoder_start_token_id=0, **sizes)), 32128
    if name == "bert":
        return tf.BertForMaskedLM(tf.BertConfig()), 30522
    return tf.LlamaForCausalLM(tf.LlamaConfig(hidden_size=768, num_hidden_layers=12, num_attention_heads=12,
                                              intermediate_size=2048, vocab_size=32000)), 32000


def task(a):
    """The model, a function that makes a batch, and one that makes its loss."""
    if a.model in LANGUAGE:
        model, words = language_model(a.model)
        length = a.size or 256
        if a.checkpoint:
            model.gradient_checkpointing_enable()
        return (model, lambda: {key: torch.randint(0, words, (a.batch, length)) for key in ("input_ids", "labels")},
                lambda model, b: model(**b).loss)
    import torchvision
    side = a.size or 86
    model = getattr(torchvision.models, a.model)(
        **({"aux_logits": False, "init_weights": False} if a.model == "googlenet" else {}))
    return (model, lambda: {"x": torch.randn(a.batch, 3, side, side), "y": torch.randint(0, 1000, (a.batch,))},
            lambda model, b: torch.nn.functional.cross_entropy(model(b["x"]), b["y"]))


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=1e-3), "momentum": lambda p: torch.optim.SGD(p, lr=1e-3, momentum=.9),
    "adam": lambda p: torch.optim.Adam(p, lr=1e-4), "adamw": lambda p: torch.optim.AdamW(p, lr=1e-4),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=1e-4), "adagrad": lambda p: torch.optim.Adagrad(p, lr=1e-4),
    "adafactor": lambda p: torch.optim.Adafactor(p, lr=1e-4),
}


def arguments(words=None):
    p = argparse.ArgumentParser()
    p.add_argument("model")
    p.add_argument("optimizer", choices=OPTIMIZERS)
    p.add_argument("batch", type=int)
    p.add_argument("--amp", default="")
    p.add_argument("--size", type=int, default=0)
    p.add_argument("--steps", type=int, default=3)
    p.add_argument("--accumulate", type=int, default=1)
    p.add_argument("--checkpoint", action="store_true")
    return p.parse_args(words)


def main():
    a = arguments()
    torch.manual_seed(0)
    torch.zeros(1, device=GPU)
    torch.cuda.synchronize()
    context = used()
    model, batch, loss_of = task(a)
    model = model.to(GPU).train()
    optimizer = OPTIMIZERS[a.optimizer](model.parameters())
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(a.amp)
    scaler = torch.amp.GradScaler("cuda") if a.amp == "fp16" else None
    for _ in range(a.steps):
        optimizer.zero_grad()
        for _ in range(a.accumulate):
            b = {key: value.to(GPU) for key, value in batch().items()}
            with torch.autocast("cuda", kind, enabled=kind is not None):
                loss = loss_of(model, b) / a.accumulate
            (scaler.scale(loss) if scaler else loss).backward()
        if scaler:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
    torch.cuda.synchronize()
    print(json.dumps({"used": used(), "context": context, "peak_allocated": torch.cuda.max_memory_allocated(),
                      "peak_reserved": torch.cuda.max_memory_reserved()}))


if __name__ == "__main__":
    main()
