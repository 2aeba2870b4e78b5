#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What others than Tare say that trainings of train_one.py need. estimates.py starts it.

    estimate.py < RUNS        a line for each run: the arguments of train_one.py

Prints a line of JSON for each. formula: the parameters, their gradients, the optimizer's state, and what the leaf modules return
in one forward pass (as torchinfo counts it; a layer that is checkpointed counts as one module). mem_tracker: the peak of
PyTorch's own MemTracker on fake tensors in a step for which the optimizer has its state already, as from the second on. Fake
tensors have no values, so it runs without a GradScaler.
"""
import json
import sys
import time

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker

import train_one

STATES = {"sgd": 0, "momentum": 1, "adam": 2, "adamw": 2, "rmsprop": 1, "adagrad": 1, "adafactor": 0}  # of a parameter's size


def task(a):
    """That of train_one.py, with everything on the card."""
    with torch.device("cuda"):
        model, batch, loss_of = train_one.task(a)

    def on_card():
        with torch.device("cuda"):
            return batch()
    return model.train(), on_card, loss_of


def cast(a):
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(a.amp)
    return torch.autocast("cuda", kind, enabled=kind is not None)


def leaves(model, is_checkpointed):
    """Modules without modules, and those that keep nothing of what is inside."""
    for child in model.children():
        if not list(child.children()) or is_checkpointed and hasattr(child, "gradient_checkpointing") and not isinstance(
                child, type(model)) and "Layer" in "".join(kind.__name__ for kind in type(child).__mro__):
            yield child
        else:
            yield from leaves(child, is_checkpointed)


def formula(a):
    returned = []

    def keep(_module, _inputs, result):
        parts = result if isinstance(result, tuple) else [result]
        returned.extend(part.nbytes for part in parts if isinstance(part, torch.Tensor))

    with FakeTensorMode():
        model, batch, loss_of = task(a)
        for module in leaves(model, a.checkpoint):
            module.register_forward_hook(keep)
        with cast(a):
            loss_of(model, batch())
        parameters = sum(parameter.nbytes for parameter in model.parameters())
    return parameters * (2 + STATES[a.optimizer]) + sum(returned)


def mem_tracker(a):
    with FakeTensorMode():
        model, batch, loss_of = task(a)
        optimizer = train_one.OPTIMIZERS[a.optimizer](model.parameters())
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter)
        optimizer.step()
        optimizer.zero_grad()
        tracker = MemTracker()
        tracker.track_external(model, optimizer)
        with tracker:
            for _ in range(a.accumulate):
                tracker.reset_mod_stats()  # it refuses a second call of a module otherwise
                with cast(a):
                    loss = loss_of(model, batch()) / a.accumulate
                loss.backward()
            optimizer.step()
        peak = tracker.get_tracker_snapshot("peak")
    return sum(of["Total"] for device, of in peak.items() if device.type == "cuda")


def main():
    for line in sys.stdin:
        a, said = train_one.arguments(line.split()), {"run": line.strip()}
        for estimate in (formula, mem_tracker):
            began = time.process_time()
            try:
                said[estimate.__name__] = estimate(a)
            except Exception as error:  # whatever an estimator cannot do is its answer
                said[estimate.__name__] = "%s: %s" % (type(error).__name__, str(error).split("\n")[0])
            said[estimate.__name__ + "_s"] = round(time.process_time() - began, 1)
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
