#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small programs with PyTorch on the CPU, some of which forget to let go of something: growth.py NAME

`growth.py --list` prints the name of each, and what should be told of it: nothing, or what grows."""

import gc

from listed import is_list_wanted, main, program

STEPS, BATCH, WIDTH = 60, 256, 128


class Training:
    """A network, and one step of its training."""

    def __init__(self, width=WIDTH):
        self.width = width
        self.net = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, width))
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def step(self, batch=BATCH, update=True):
        x = torch.randn(batch, self.width)
        loss = (self.net(x) - x).pow(2).mean()
        loss.backward()
        if update:
            self.optimizer.step()
            self.optimizer.zero_grad()
        return loss

    def run(self, after, steps=STEPS):
        """`after` is called behind each step, with its number and its loss."""
        for i in range(steps):
            after(i, self.step())


# ---- programs that leak ----

@program("tensors")
def outputs_with_their_graph():
    kept, t = [], Training()
    t.run(lambda i, loss: kept.append(t.net(torch.randn(BATCH, WIDTH))))


@program("tensors")
def layer_that_remembers():
    class Remembering(torch.nn.Linear):
        def forward(self, x):
            self.seen = getattr(self, "seen", []) + [super().forward(x).detach()]
            return self.seen[-1]

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.remembers = torch.nn.Linear(WIDTH, WIDTH), Remembering(WIDTH, WIDTH)

        def forward(self, x):
            return self.layer(x) + self.remembers(x)

    net = Network()
    for _ in range(STEPS):
        net(torch.randn(BATCH, WIDTH)).sum().backward()


@program("tensors")
def sum_of_losses():
    t, total = Training(), [0]

    def add(_, loss):
        x = torch.randn(BATCH, WIDTH)
        total[0] = total[0] + (t.net(x) - x).pow(2).mean()
    t.run(add)


@program("tensors")
def hook_that_collects():
    t, seen = Training(), []
    t.net[0].register_forward_hook(lambda m, args, out: seen.append(out.detach().clone()))
    t.run(lambda i, loss: None)


@program("tensors")
def gradients_that_are_kept():
    t, kept = Training(), []

    def keep(i, _):
        kept.append([torch.randn_like(p) for p in t.net.parameters()])
    t.run(keep)


@program("tensors")
def copies_of_the_state():
    import copy
    t, kept = Training(), []
    t.run(lambda i, loss: kept.append(copy.deepcopy(t.net.state_dict())) if i % 3 == 0 else None)


@program("tensors")
def sequence_that_grows():
    t, state = Training(), [torch.zeros(0, WIDTH)]

    def grow(_, loss):
        state[0] = torch.cat([state[0], torch.randn(64, WIDTH)])
    t.run(grow)


@program("tensors")
def cache_without_an_end():
    t, cache = Training(), {}
    for i in range(STEPS):
        with torch.no_grad():
            cache[i] = t.net(torch.randn(BATCH, WIDTH))
        pause()


@program("tensors")
def leak_that_begins_late():
    t, kept = Training(), []
    t.run(lambda i, loss: kept.append(torch.zeros(BATCH, WIDTH)) if i >= STEPS // 2 else None)


@program("tensors")
def small_leak():
    t, kept = Training(), []
    t.run(lambda i, loss: kept.append(torch.zeros(1024)), 200)


@program("tensors")
def now_and_then():
    t, kept = Training(), []
    t.run(lambda i, loss: kept.append(torch.zeros(4 * BATCH, WIDTH)) if i % 7 == 6 else None, 100)


@program("tensors")
def leak_of_random_sizes():
    t, kept = Training(), []
    t.run(lambda i, loss: kept.append(torch.zeros(random.randrange(1, 512), WIDTH)))


@program("tensors")
def cycles_that_nobody_collects():
    gc.disable()
    t = Training()

    def cycle(_, loss):
        one = {"x": torch.zeros(BATCH, WIDTH)}
        one["self"] = one
    t.run(cycle)


@program("tensors")
def thread_that_keeps_results():
    import threading
    t, kept = Training(), []

    def work():
        while not is_over.wait(.025):
            kept.append(torch.zeros(BATCH, WIDTH))
    is_over, thread = threading.Event(), threading.Thread(target=work)
    thread.start()
    t.run(lambda i, loss: pause())
    is_over.set()
    thread.join()


@program("resident memory")
def bytes_that_are_no_tensors():
    kept = [torch.ones(1)]  # a program that makes none at all has no log, unless its libraries were slow to load
    for i in range(STEPS):
        kept.append(bytearray(b"x" * (2 << 20)))
        pause(.05)


def quick_steps(after, steps=120):
    """Behind a slow one, so that all of them are in a column of time or two."""
    t = Training(16)
    t.step(4)
    time.sleep(5)
    for i in range(steps):
        t.step(4)
        after(i)


@program("tensors")
def quick_steps_leak():
    kept = []
    quick_steps(lambda i: kept.append(torch.empty(1024)))


# ---- programs that do not ----

@program(None)
def quick_steps_with_a_ring():
    ring = [None] * 40

    def put(i):
        ring[i % 40] = torch.empty(4096)

    quick_steps(put)


@program(None)
def quick_steps_with_a_cache():
    cache = {}
    quick_steps(lambda i: cache.setdefault(min(i, 50), torch.empty(4096)))


@program(None)
def quick_steps_that_end_an_epoch():
    epoch = []

    def put(i):
        if i % 50 == 0:
            epoch.clear()
        epoch.append(torch.empty(4096))

    quick_steps(put)


@program(None)
def training():
    Training().run(lambda i, loss: None)


@program(None)
def cache_that_fills():
    t, cache = Training(), {}
    for i in range(4 * STEPS):
        key = random.randrange(20)
        if key not in cache:
            cache[key] = torch.zeros(BATCH, WIDTH)
        t.step()


@program(None)
def last_few_outputs():
    import collections
    t, kept = Training(), collections.deque(maxlen=8)
    t.run(lambda i, loss: kept.append(t.net(torch.randn(BATCH, WIDTH))))


@program(None)
def warm_up():
    t, kept = Training(), []
    t.run(lambda i, loss: kept.append(torch.zeros(BATCH, WIDTH)) if i < STEPS // 4 else None)


@program(None)
def outputs_of_an_epoch():
    t, kept = Training(), []

    def epoch(i, _):
        kept.append(t.net(torch.randn(BATCH, WIDTH)))
        if i % 15 == 14:
            kept.clear()
    t.run(epoch, 90)


@program(None)
def accumulated_gradients():
    t = Training()
    for i in range(2 * STEPS):
        t.step(update=i % 4 == 3)


@program(None)
def evaluation_now_and_then():
    t = Training()

    def evaluate(i, _):
        if i % 10 == 9:
            with torch.no_grad():
                [t.net(torch.randn(8 * BATCH, WIDTH)) for _ in range(4)]
    t.run(evaluate)


@program(None)
def batches_of_random_sizes():
    t = Training()
    for _ in range(STEPS):
        t.step(random.randrange(16, 2 * BATCH))


@program(None)
def batches_that_become_larger():
    t = Training()
    for i in range(STEPS):
        t.step(8 + 8 * i)


@program(None)
def moving_average():
    import copy
    t = Training()
    average = copy.deepcopy(t.net)

    def follow(_, loss):
        with torch.no_grad():
            for a, p in zip(average.parameters(), t.net.parameters()):
                a.mul_(.99).add_(p, alpha=.01)
    t.run(follow)


@program(None)
def answers_by_cat():
    t = Training()
    for _ in range(12):
        keys = torch.zeros(0, WIDTH)
        for _ in range(20):
            with torch.no_grad():
                keys = torch.cat([keys, t.net(torch.randn(8, WIDTH))])
        pause()


@program(None)
def data_in_memory():
    data = []
    for _ in range(20):
        data.append(torch.randn(BATCH, WIDTH))
        pause(.005)
    t = Training()
    t.run(lambda i, loss: data[i % 20].sum())


@program(None)
def losses_as_numbers():
    t, kept = Training(), []
    t.run(lambda i, loss: kept.append(loss.item()), 200)


@program(None)
def part_that_is_unfrozen():
    t = Training()
    for p in t.net[0].parameters():
        p.requires_grad_(False)

    def unfreeze(i, _):
        if i == STEPS // 2:
            for p in t.net[0].parameters():
                p.requires_grad_(True)
    t.run(unfreeze)


@program(None)
def answers_of_a_service():
    t = Training()
    for _ in range(2 * STEPS):
        with torch.no_grad():
            t.net(torch.randn(random.randrange(1, 4 * BATCH), WIDTH))
        pause(.015)


@program(None)
def model_that_is_built():
    layers = []
    for _ in range(20):
        layers.append(torch.nn.Linear(2 * WIDTH, 2 * WIDTH))
        pause(.01)


def pause(seconds=.025):
    time.sleep(seconds)


if __name__ == "__main__":
    if not is_list_wanted():
        import random
        import time

        import torch

        random.seed(7)
        torch.manual_seed(7)
        torch.set_num_threads(1)
    main()
