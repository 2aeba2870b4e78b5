# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a GPT-2 of random weights on random words, and looks at a loss now and then: docs/TOUR.md records it.

    python finetune.py              the evaluation keeps what it would need to go backwards
    python finetune.py --no-grad    it does not
"""

import argparse

import torch
import transformers

parser = argparse.ArgumentParser()
parser.add_argument("--layers", type=int, default=24)
parser.add_argument("--width", type=int, default=1024)
parser.add_argument("--batch", type=int, default=4)
parser.add_argument("--words", type=int, default=512)
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--no-grad", action="store_true")
args = parser.parse_args()

torch.manual_seed(0)
config = transformers.GPT2Config(n_layer=args.layers, n_embd=args.width, n_head=args.width // 64, use_cache=False)
model = transformers.GPT2LMHeadModel(config).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
validation = []


def words():
    return torch.randint(config.vocab_size, (args.batch, args.words)).cuda()


def train():
    batch = words()
    with torch.autocast("cuda", torch.bfloat16):
        loss = model(batch, labels=batch).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def evaluate():
    batch = words()
    with torch.autocast("cuda", torch.bfloat16), torch.set_grad_enabled(not args.no_grad):
        validation.append(model(batch, labels=batch).loss)


for step in range(args.steps):
    train()
    if step % 5 == 4:
        evaluate()
print("validation", len(validation))
