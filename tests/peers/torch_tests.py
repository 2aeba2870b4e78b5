#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own tests with and without the recorder: each test must have the same outcome both ways.

    torch_tests.py [--gpu] [--stacks WHICH] [--seconds N] TARE FOLDER [MODULE[:PATTERN,…]…]

TARE is the program; FOLDER is test/ of PyTorch's sources, of the version that this Python has, and beside it
or on PYTHONPATH what the tests import (expecttest, hypothesis). Without modules: the parts chosen here for a
CPU, or with --gpu for one GPU. A module is a path in FOLDER, without .py; a pattern is a part of the names of
tests to run, or with ! before it of those not to run. Run it with the Python that has PyTorch.

A module is run once plain, once under `tare run`. Classes with tests whose outcome differs are run twice more,
each way. A test that is not always the same when plain, or differed once only, is called flaky. Exit: 0 the
same, 1 some differ, 2 usage, 77 nothing could run.
"""

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

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


class Run:
    """What one run of a module gave: outcomes by test, in order; how the process ended; seconds of CPU time;
    what it said."""

    def __init__(self, lines, code, seconds, said):
        if isinstance(code, int) and code < 0:
            code = 128 - code  # as tare says it of a signal
        self.outcomes, self.code, self.seconds, self.said = {}, code, seconds, said
        for line in lines:
            record = json.loads(line)
            test = record.get("began") or record["ended"]
            self.outcomes[test] = record.get("as", "took the process with it")

    def of(self, test):
        return self.outcomes.get(test, "not run")

    def reason(self):
        """Why there are no tests."""
        lines = self.said.strip().splitlines()
        return lines[-1] if lines else "exit %s" % self.code


class Ways:
    """The two ways to run a module: plain and recorded."""

    def __init__(self, tare, options, folder, seconds):
        self.tare, self.options, self.folder, self.seconds = tare, options, folder, seconds

    def plain(self, module, patterns):
        return self.run(lambda box, argv: argv, module, patterns)[0]

    def recorded(self, module, patterns):
        """The run, and its recording."""
        def argv_in(box, argv):
            return [self.tare, "run", "-o", os.path.join(box, "rec.tare")] + self.options + ["--"] + argv
        return self.run(argv_in, module, patterns,
                        lambda box: Recording(self.tare, os.path.join(box, "rec.tare")))

    def run(self, argv_in, module, patterns, look=lambda box: None):
        box = tempfile.mkdtemp(prefix="torch-tests-")
        try:
            out = os.path.join(box, "outcomes")
            file = os.path.join(self.folder, module + ".py")
            argv = [sys.executable, os.path.join(HERE, "outcomes.py"), out, file] + patterns
            return self.wait(argv_in(box, argv), out), look(box)
        finally:
            shutil.rmtree(box, ignore_errors=True)

    def wait(self, argv, out):
        env = dict(os.environ, PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1")
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [self.folder, env.get("PYTHONPATH")]))
        before = cpu_seconds()
        with tempfile.TemporaryFile() as said:
            running = subprocess.Popen(argv, cwd=self.folder, env=env, stdin=subprocess.DEVNULL, stdout=said,
                                       stderr=said, start_new_session=True)
            try:
                code = running.wait(self.seconds)
            except subprocess.TimeoutExpired:
                code = "timeout"
            finally:
                end_group(running)
            seconds = cpu_seconds() - before
            said.seek(0)
            text = said.read().decode("utf-8", "replace")
        lines = []
        if os.path.exists(out):
            with open(out, encoding="utf-8") as file:
                lines = file.readlines()
        return Run(lines, code, seconds, text)


class Recording:
    """Whatever the tests did, it can be read. `mib` None: nothing was recorded, no driver and no tensor."""

    def __init__(self, tare, rec):
        self.mib, self.wrong = None, None
        if not os.path.isdir(rec):
            return
        self.mib = sum(os.path.getsize(os.path.join(rec, name)) for name in os.listdir(rec)) / (1 << 20)
        done = subprocess.run([tare, "report", rec, "--at", "end", "--json"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        if done.returncode:
            self.wrong = "tare report: exit %d: %s" % (done.returncode, done.stderr.decode("utf-8", "replace"))


def cpu_seconds():
    """Of the children that ended, and theirs: what other programs do here is not in it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def end_group(running):
    """What the tests left behind would disturb the next run."""
    try:
        os.killpg(running.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    running.wait()


def differing(plain, recorded):
    tests = dict.fromkeys(list(plain.outcomes) + list(recorded.outcomes))
    return [test for test in tests if plain.of(test) != recorded.of(test)]


def class_of(test):
    """Of `__main__.TestClass.test_name`, and of `setUpClass (__main__.TestClass)`."""
    return test[test.index("(") + 1:-1] if test.endswith(")") else test.rpartition(".")[0]


def is_flaky(plain, recorded):
    """Outcomes of one test, three of each way."""
    return len(set(plain)) > 1 or recorded.count(plain[0]) >= len(recorded) - 1


class Module:
    """The comparison of one module."""

    def __init__(self, name, patterns, ways):
        self.name, self.seconds = name, ways.seconds
        self.plain = ways.plain(name, patterns)
        self.recorded, self.recording = ways.recorded(name, patterns)
        self.flaky, self.ours = [], []
        different = differing(self.plain, self.recorded)
        if different:
            self.look_again(different, ways)

    def look_again(self, different, ways):
        classes = set(map(class_of, different))
        patterns = [test for test in dict.fromkeys(list(self.plain.outcomes) + list(self.recorded.outcomes))
                    if class_of(test) in classes and not test.endswith(")")]
        plain, recorded = [self.plain], [self.recorded]
        again = {"plain": lambda: plain.append(ways.plain(self.name, patterns)),
                 "recorded": lambda: recorded.append(ways.recorded(self.name, patterns)[0])}
        for way in ("recorded", "plain", "plain", "recorded"):  # what alternates by itself is not ours
            again[way]()
        for test in different:
            sides = [run.of(test) for run in plain], [run.of(test) for run in recorded]
            (self.flaky if is_flaky(*sides) else self.ours).append((test,) + sides)

    def counts(self):
        """How often there was which outcome when plain; errors of all kinds are one."""
        counts = {}
        for outcome in self.plain.outcomes.values():
            kind = outcome.split(" ", 1)[0] if outcome.startswith("error") else outcome
            counts[kind] = counts.get(kind, 0) + 1
        order = sorted(counts, key=lambda kind: (-counts[kind], kind))
        return ", ".join("%d %s" % (counts[kind], kind) for kind in order)

    def problems(self):
        """What makes the comparison fail, besides tests."""
        out = [self.recording.wrong] if self.recording.wrong else []
        if "timeout" in (self.plain.code, self.recorded.code):
            out.append("it took more than %g s" % self.seconds)
            return out
        if not self.plain.outcomes:
            out.append("no test ran: " + self.plain.reason())
        if self.plain.code != self.recorded.code and not self.flaky and not self.ours:
            out.append("the program ended with %s, recorded with %s" % (self.plain.code, self.recorded.code))
        return out

    def row(self):
        tests = len(set(self.plain.outcomes) | set(self.recorded.outcomes))
        other = len(self.flaky) + len(self.ours)
        return [self.name, tests, tests - other, len(self.ours), len(self.flaky),
                self.counts(), "%.0f" % self.plain.seconds, "%.0f" % self.recorded.seconds,
                "–" if self.recording.mib is None else "%.1f" % self.recording.mib]


def show(modules):
    print("| module | tests | same | different | flaky | outcomes without tare | CPU s plain | CPU s recorded "
          "| MiB recorded |")
    print("|---|---|---|---|---|---|---|---|---|")
    for module in modules:
        print("| " + " | ".join(map(str, module.row())) + " |")
    for module in modules:
        for kind, tests in (("different", module.ours), ("flaky", module.flaky)):
            for test, plain, recorded in tests:
                print("%s: %s %s: plain %s; recorded %s" % (
                    kind, module.name, test, " / ".join(plain), " / ".join(recorded)))
        for problem in module.problems():
            print("problem: %s: %s" % (module.name, problem))


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
    ways = Ways(args.tare, ["--stacks", args.stacks], args.folder, args.seconds)
    modules = []
    for name, patterns in choose(args.modules or PARTS[args.parts], args.folder):
        modules.append(Module(name, patterns, ways))
        print("%s: %s" % (name, "differs" if modules[-1].ours else "the same"), file=sys.stderr, flush=True)
    show(modules)
    sys.exit(any(module.ours or module.problems() for module in modules))


if __name__ == "__main__":
    main()
