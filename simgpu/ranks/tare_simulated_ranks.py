# SPDX-License-Identifier: Apache-2.0
"""A few ranks of a large job, on simulated cards: what a Python program sees of it.

TARE_SIM_RANKS=2 and TARE_SIM_WORLD=64 (`--ranks-simulated 2 of 64`): ranks 0 and 1 run, the program sees a world of 64, and
the simulated NCCL answers for the other 62 (docs/SIMGPU.md, "NCCL"). A launcher may start the two, or all 64, of which those
that do not run leave at once. What torch.distributed shares before NCCL is there knows only those that run: a store does not
wait for more, nor does the barrier at the end of new_group. A group of these ranks has its first rank among them, so what
that one writes into the store is there. Groups of gloo would wait for all, and torchrun for its other machines: both are
refused.
"""

import functools
import importlib.abc
import importlib.machinery
import inspect
import os
import sys

RENDEZVOUS = "torch.distributed.rendezvous"
GROUPS = "torch.distributed.distributed_c10d"
LAUNCHER = "torch.distributed.launcher.api"


class Job:
    """How many ranks run, and of how many."""

    def __init__(self, running, world):
        self.running, self.world = running, world

    def __str__(self):
        return "--ranks-simulated %d of %d" % (self.running, self.world)

    def seen(self, rank, started):
        """The number of ranks that a rank sees where the program was given `started`; None: this one does not run."""
        if started == self.world:
            return started if rank < self.running else None
        if started == self.running:
            return self.world
        raise ValueError("%s, but %d ranks were started: start the %d that run (torchrun --nproc-per-node %d), or all %d, of "
                         "which the others leave at once" % (self, started, self.running, self.running, self.world))


def number(text):
    return int(text) if text and text.isdigit() else None


def place(job, environ):
    """By what a launcher said. False: this rank does not run."""
    rank, started = number(environ.get("RANK")), number(environ.get("WORLD_SIZE"))
    if rank is None or started is None:
        return True
    seen = job.seen(rank, started)
    if seen is not None:
        environ["WORLD_SIZE"] = str(seen)
    return seen is not None


def limit(function, position, name, running):
    """The function, with its argument of this position or name no larger than the number of ranks that run."""

    @functools.wraps(function)
    def limited(*args, **named):
        if name in named:
            named[name] = min(named[name], running)
        elif len(args) > position and isinstance(args[position], int):
            args = args[:position] + (min(args[position], running),) + args[position + 1:]
        return function(*args, **named)

    return limited


def begin_group(function, job):
    """init_process_group: what a program says itself, as one does that starts its processes by spawn."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def begun(*args, **named):
        given = signature.bind(*args, **named)
        size, rank = given.arguments.get("world_size", -1), given.arguments.get("rank", -1)
        runs = True
        if size is not None and size > 0:
            seen = job.seen(rank, size)
            runs, given.arguments["world_size"] = seen is not None, seen
        else:
            runs = place(job, os.environ)
        if not runs:
            sys.exit(0)
        return function(*given.args, **given.kwargs)

    return begun


def without_gloo(kind, job):
    """The class of gloo's groups, which says what it would wait for."""

    class Refused(kind):
        def __init__(self, store, rank, size, *rest, **named):
            if size > job.running:
                raise RuntimeError(
                    "%s: a group of gloo waits for each of its %d ranks, and only NCCL is simulated; make the group with nccl "
                    "alone (init_process_group(\"nccl\")), without cpu:gloo" % (job, size))
            super().__init__(store, rank, size, *rest, **named)

    Refused.__name__, Refused.__qualname__ = kind.__name__, kind.__qualname__
    return Refused


def on_one_machine(function, job):
    """launch_agent of torchrun, which waits for those of the other machines."""

    @functools.wraps(function)
    def launched(config, *args, **named):
        if config.min_nodes > 1:
            sys.exit("tare: %s: torchrun would wait for %d machines; say --nnodes 1 --nproc-per-node %d, and the ranks of the others "
                     "are answered for" % (job, config.min_nodes, job.running))
        return function(config, *args, **named)

    return launched


def patch(module, job):
    if module.__name__ == LAUNCHER and hasattr(module, "launch_agent"):
        module.launch_agent = on_one_machine(module.launch_agent, job)
    if module.__name__ == GROUPS:
        if hasattr(module, "_store_based_barrier"):
            module._store_based_barrier = limit(module._store_based_barrier, 3, "rendezvous_count", job.running)
        if hasattr(module, "init_process_group"):
            module.init_process_group = begin_group(module.init_process_group, job)
        if hasattr(module, "ProcessGroupGloo"):
            module.ProcessGroupGloo = without_gloo(module.ProcessGroupGloo, job)
    if module.__name__ == RENDEZVOUS and hasattr(module, "_create_c10d_store"):
        module._create_c10d_store = limit(module._create_c10d_store, 3, "world_size", job.running)


class Finder(importlib.abc.MetaPathFinder):
    """Modules of torch.distributed are changed when the program imports them, and not before."""

    def __init__(self, job):
        self.job = job

    def find_spec(self, name, path, target=None):
        if name not in (RENDEZVOUS, GROUPS, LAUNCHER):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def executed(module):
                execute(module)
                patch(module, self.job)

            spec.loader.exec_module = executed
        return spec


def begin(environ):
    running, world = number(environ.get("TARE_SIM_RANKS")), number(environ.get("TARE_SIM_WORLD"))
    if not running or not world:
        return
    job = Job(running, world)
    try:
        runs = place(job, environ)
    except ValueError as error:
        os.write(2, b"tare: %s\n" % str(error).encode())
        os._exit(1)
    if not runs:
        os._exit(0)
    sys.meta_path.insert(0, Finder(job))
