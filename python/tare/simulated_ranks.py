# SPDX-License-Identifier: Apache-2.0
"""A few ranks of a large job, on simulated cards: each rank that runs starts its program by this module.

    TARE_SIM_DEVICES=2 tare run --sim h200 -- \\
        torchrun --nproc-per-node 2 -m tare.simulated_ranks 64 train.py ARGUMENTS

The launcher starts ranks 0 and 1; the program sees a world of 64, and the simulated NCCL answers for the other 62
(docs/SIMGPU.md, "NCCL"). What torch.distributed shares before NCCL is there knows only those that run: a store does
not wait for more, nor does the barrier at the end of new_group. A group of these ranks has its first rank among them,
so what that one writes into the store is there. Groups of gloo and MPI would wait for all, and must not be made.
"""

import importlib.abc
import importlib.machinery
import os
import runpy
import sys

RENDEZVOUS = "torch.distributed.rendezvous"
GROUPS = "torch.distributed.distributed_c10d"


def limit(function, place, name, running):
    """The function, with its argument of this place or name no larger than the number of ranks that run."""

    def limited(*args, **named):
        if name in named:
            named[name] = min(named[name], running)
        elif len(args) > place and isinstance(args[place], int):
            args = args[:place] + (min(args[place], running),) + args[place + 1:]
        return function(*args, **named)

    return limited


def patch(module, running):
    if module.__name__ == GROUPS and hasattr(module, "_store_based_barrier"):
        module._store_based_barrier = limit(module._store_based_barrier, 3, "rendezvous_count", running)
    if module.__name__ == RENDEZVOUS and hasattr(module, "_create_c10d_store"):
        module._create_c10d_store = limit(module._create_c10d_store, 3, "world_size", running)


class Finder(importlib.abc.MetaPathFinder):
    """Modules of torch.distributed are changed when the program imports them, and not before."""

    def __init__(self, running):
        self.running = running

    def find_spec(self, name, path, target=None):
        if name not in (RENDEZVOUS, GROUPS):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def executed(module):
                execute(module)
                patch(module, self.running)

            spec.loader.exec_module = executed
        return spec


def refuse(sentence):
    sys.exit("tare.simulated_ranks: " + sentence)


def main():
    if len(sys.argv) < 3 or not sys.argv[1].isdigit():
        refuse("say how many ranks the job has, and the program: python -m tare.simulated_ranks 64 train.py")
    world = int(sys.argv[1])
    launched = os.environ.get("WORLD_SIZE", "")
    if not launched.isdigit() or "RANK" not in os.environ:
        refuse("RANK and WORLD_SIZE say which ranks run; start it by torchrun, or set them")
    running = int(launched)
    if not 1 <= running <= world:
        refuse("%d ranks run of a job of %d; the job must have at least as many" % (running, world))
    os.environ["TARE_SIM_RANKS"] = launched
    os.environ["WORLD_SIZE"] = str(world)
    sys.meta_path.insert(0, Finder(running))
    del sys.argv[:2]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
