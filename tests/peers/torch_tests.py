#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own tests with and without the recorder: each test must have the same outcome both ways.

    torch_tests.py [--gpu] [--stacks WHICH] [--seconds N] TARE FOLDER [MODULE[:PATTERN,…]…]

TARE is the program; FOLDER is test/ of PyTorch's sources, of the version that this Python has, and beside it
or on PYTHONPATH what the tests import (expecttest, hypothesis). Without modules: the parts chosen here for a
CPU, or with --gpu for one GPU. A module is a path in FOLDER, without .py; a pattern is a part of the names of
tests to run, or with ! before it of those not to run. Run it with the Python that has PyTorch.

compare.py says how they are compared. Exit: 0 the same, 1 some differ, 2 usage, 77 nothing could run.
"""

import argparse
import os
import subprocess
import sys

from compare import Module, Ways, show

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = {
    "cpu": [
        "test_autograd", "test_torch", "test_optim", "test_serialization", "test_dlpack", "test_numpy_interop",
        "test_tensor_creation_ops", "test_view_ops",
        "profiler/test_profiler:!pattern",  # these multiply large matrices, for minutes
        # What starts each worker as a new Python takes minutes.
        "test_dataloader:TestDataLoader.test_seq,TestDataLoader.test_shuffle,TestDataLoader.test_worker_seed,"
        "TestDataLoader.test_worker_init,TestDataLoader.test_segfault,TestDataLoader.test_error_workers,"
        "TestDict,TestString,TestNamedTuple,TestConvAfterFork,TestConcat,TestTensorDataset,"
        "TestDatasetRandomSplit",
        "test_multiprocessing:test_fd,test_fs,test_event,test_rebuild,test_inherit,test_autograd,test_leaf",
        "test_nn:TestNN.test_LSTM,TestNN.test_Conv,TestNN.test_Linear,TestNN.test_parameter,TestNN.test_module,"
        "TestNN.test_transformer,TestNN.test_rnn,TestNN.test_state_dict,TestNN.test_hook,TestNN.test_cudnn",
    ],
    "gpu": [
        # Of the memory, streams and graphs; not what compiles C++, or repeats one test for each optimizer.
        "test_cuda:memory,fraction,oom,alloc,pinned,cudart,stream,event,graph,nvtx,workspace,multiple_threads,"
        "TestCudaMallocAsync,TestBlockState,TestMemPool,!with_allocator,!memory_snapshot_pickle,!large_tensor,"
        "!TestCudaOptims,!GDS",
        "test_cuda_trace",
    ],
}
SKIPPED = 77


def choose(words, folder):
    """[(module, patterns)] of words MODULE[:PATTERN,…]."""
    chosen = []
    for word in words:
        module, _, patterns = word.partition(":")
        module = module[:-3] if module.endswith(".py") else module
        if not os.path.exists(os.path.join(folder, module + ".py")):
            usage("%s has no %s.py" % (folder, module))
        chosen.append((module, [pattern for pattern in patterns.split(",") if pattern]))
    return chosen


def usage(reason):
    print("torch_tests.py: " + reason, file=sys.stderr)
    sys.exit(2)


def skip(reason):
    print("SKIP " + reason)
    sys.exit(SKIPPED)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tare")
    parser.add_argument("folder")
    parser.add_argument("modules", nargs="*", metavar="MODULE[:PATTERN,…]")
    parser.add_argument("--gpu", dest="parts", action="store_const", const="gpu", default="cpu",
                        help="the parts chosen for one GPU")
    parser.add_argument("--stacks", default="both", help="as of tare run")
    parser.add_argument("--seconds", type=float, default=1200, help="that one run of a module may take")
    args = parser.parse_args()
    args.tare, args.folder = os.path.abspath(args.tare), os.path.abspath(args.folder)
    return args


def main():
    args = arguments()
    if not os.access(args.tare, os.X_OK):
        usage("%s is not a program: build it first" % args.tare)
    if not os.path.isdir(args.folder):
        skip("there is no folder %s with PyTorch's tests" % args.folder)
    if not args.modules and subprocess.run([sys.executable, "-c", "import torch"], check=False,
                                           stderr=subprocess.DEVNULL).returncode:
        skip("%s has no PyTorch" % sys.executable)

    def command(module, patterns, out):
        file = os.path.join(args.folder, module + ".py")
        return [sys.executable, os.path.join(HERE, "outcomes.py"), out, file] + patterns

    path = os.pathsep.join(filter(None, [args.folder, os.environ.get("PYTHONPATH")]))
    ways = Ways(args.tare, ["--stacks", args.stacks], command, args.seconds, folder=args.folder,
                env={"PYTHONPATH": path})
    modules = []
    for name, patterns in choose(args.modules or PARTS[args.parts], args.folder):
        modules.append(Module(name, patterns, ways))
        print("%s: %s" % (name, "differs" if modules[-1].ours else "the same"), file=sys.stderr, flush=True)
    show(modules)
    sys.exit(any(module.ours or module.problems() for module in modules))


if __name__ == "__main__":
    main()
