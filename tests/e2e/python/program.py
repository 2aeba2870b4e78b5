# -*- coding: utf-8 -*-
# SPDX-License-Identifier: Apache-2.0
"""Allocates device memory from known lines, and writes down which: Python 3.6 and later, nothing installed.

Each allocation has a size of its own. note() is called within the call of the driver, on its line, and
writes the stack as Python sees it there: {"size": …, "frames": [[file, line, function], …]}.

If TENSORS names a library that looks like PyTorch's allocator, its blocks are what is allocated.
"""
import _thread
import atexit
import contextlib
import ctypes
import json
import os
import signal
import sys
import threading

TRUTH = os.open(os.environ["TRUTH"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
cu = ctypes.CDLL("libcuda.so.1")
TENSORS = os.environ.get("TENSORS")
LIBRARY, TAKE, GIVE = ((TENSORS, "c10_cuda_take", "c10_cuda_return") if TENSORS else
                       ("libcuda.so.1", "cuMemAlloc_v2", "cuMemFree_v2"))
take = getattr(ctypes.CDLL(LIBRARY), TAKE)
give = getattr(ctypes.CDLL(LIBRARY), GIVE)
take_held = getattr(ctypes.PyDLL(LIBRARY), TAKE)  # keeps the GIL during a call
sizes = iter(range(0x10001, 1 << 30, 16))
lock = threading.Lock()


def note():
    with lock:
        size = next(sizes)
    frames, frame = [], sys._getframe(1)
    while frame:
        frames.append([frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name])
        frame = frame.f_back
    os.write(TRUTH, (json.dumps({"size": size, "frames": frames}) + "\n").encode())
    return size


def start():
    context = ctypes.c_void_p()
    assert cu.cuInit(0) == 0
    assert cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cu.cuCtxSetCurrent(context) == 0
    return context


def alloc():
    at = ctypes.c_uint64()
    assert take(ctypes.byref(at), ctypes.c_size_t(note())) == 0
    return at


def release(at):
    assert give(at) == 0


def decorated(function):
    def wrapper(*args):
        at = ctypes.c_uint64()
        take(ctypes.byref(at), ctypes.c_size_t(note()))
        return function(*args)
    return wrapper


@decorated
def nested(depth):
    def inner():
        return [alloc() for _ in range(2)] + list(map(lambda _: alloc(), range(2)))
    if depth == 0:
        return inner()

    return nested(
        depth - 1)


class Model(object):
    first = alloc() if False else None

    def __init__(self):
        self.at = alloc()

    def __call__(self): return alloc()

    @property
    def size(self):
        return alloc()

    @classmethod
    def made(cls):
        return cls()

    @staticmethod
    def bare():
        return take_held(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(note()))

    def __enter__(self):
        alloc()

    def __exit__(self, *args):
        alloc()


class Warm(object):
    """Made so often that the interpreter takes a short cut to __init__."""

    def __init__(self, depth):
        self.inner = Warm(depth - 1) if depth else alloc()

    def __getattr__(self, name):
        return alloc()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        alloc()

    def __lt__(self, other):
        return alloc().value > 0

    @property
    def size(self):
        return alloc()


def warm():
    for i in range(60):
        one = Warm(i % 3)
        one.missing
        one.size
        with one:
            one < one
        max((alloc() for _ in range(2)), key=lambda at: alloc().value)


def generator():
    alloc()
    yield 1
    alloc()
    yield from (alloc() for _ in range(2))


async def coroutine():
    alloc()
    return alloc()


@contextlib.contextmanager
def managed():
    alloc()
    try:
        yield
    finally:
        alloc()


def recurse(depth):
    if depth:
        return recurse(depth - 1)
    return alloc()


def plain():
    nested(3)
    with Model.made() as model:
        alloc()
    model = Model()
    model()
    model.size
    Model.bare()
    for _ in generator():
        pass
    a = generator()
    next(a)  # resumed from two places
    list(a)
    running = coroutine()
    try:
        running.send(None)
    except StopIteration:
        pass
    with managed():
        alloc()
    try:
        raise ValueError
    except ValueError:
        alloc()
    finally:
        alloc()
    sorted([3, 1, 2], key=lambda x: alloc().value)

    class Inside(object):
        at = alloc()
    warm()
    sys.setrecursionlimit(3000)
    recurse(1000)
    recurse(90)


def unicode_names():
    names = ["größe_δ", "变量", "ascii"]
    for file in ("naïve.py", "файл.py", "文件.py", "𝔲𝔫𝔦.py", "plain.py"):
        for name in names:
            scope = {"alloc": alloc}
            exec(compile("def %s():\n\n    return alloc()\n" % name, file, "exec"), scope)
            scope[name]()


def generated(count):
    """Code objects that die at once: their addresses, names and strings come again."""
    for i in range(count):
        scope = {"alloc": alloc, "release": release}
        lines = "\n" * (i * 7919 % 97)
        if i % 4 == 0:
            text = lines + "def f():\n    return alloc()\nrelease(f())\n"
            exec(compile(text, "<string>", "exec"), scope)
        elif i % 4 == 1:
            text = "def f():\n" + lines + "    x = 1\n    return alloc()\nrelease(f())\n"
            exec(compile(text, "<string>", "exec"), scope)
        elif i % 4 == 2:
            exec(compile("def f%d():\n    return alloc()\nrelease(f%d())\n" % (i, i), "<string>", "exec"), scope)
        else:
            exec(compile("def f():\n    return alloc()\nrelease(f())\n", "<made %d>" % i, "exec"), scope)


def threads():
    context = ctypes.c_void_p()
    cu.cuCtxGetCurrent(ctypes.byref(context))

    def work(n):
        cu.cuCtxSetCurrent(context)
        for _ in range(20):
            recurse(n)
            nested(1)
    def outermost(done):
        cu.cuCtxSetCurrent(context)
        alloc()
        done.release()

    def caller(done):
        outermost(done)
    for start in (outermost, caller) * 3:  # one thread after the other, so the next has the memory of the last
        done = threading.Lock()
        done.acquire()
        _thread.start_new_thread(start, (done,))
        done.acquire()
    all_of_them = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in all_of_them:
        thread.start()
    for thread in all_of_them:
        thread.join()


def code_dealloc_is_taken_back():
    """PyCode_Type's function to take code down becomes what it was at the start: nobody is told of deaths now."""
    import random_calls
    kind = type(plain.__code__)
    slot = ctypes.c_void_p.from_address(id(kind) + 48)
    alloc()
    ours, real = slot.value, id(kind) + int(os.environ["CODE_DEALLOC"])
    sys.setrecursionlimit(3000)
    for value in (ours, real, ours):
        slot.value = value
        random_calls.Walk(lambda: release(alloc()), 3).run()
    print("led through the recorder" if ours != real else "never touched")


def random_threads():
    """Several at once: what dies in one may be on the stack that another had last."""
    import random_calls
    context = ctypes.c_void_p()
    cu.cuCtxGetCurrent(ctypes.byref(context))
    sys.setrecursionlimit(3000)

    def work(seed):
        cu.cuCtxSetCurrent(context)
        random_calls.Walk(lambda: release(alloc()), seed).run()
    others = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2)]
    for thread in others:
        thread.start()
    work(int(os.environ.get("SEED", "0")))
    for thread in others:
        thread.join()


def handler(number, frame):
    alloc()


def signals():
    signal.signal(signal.SIGUSR1, handler)
    os.kill(os.getpid(), signal.SIGUSR1)
    for _ in range(10):
        pass


def bare_thread():
    """A thread that never ran Python frees an allocation, or hands out a block."""
    at = ctypes.byref(ctypes.c_uint64()) if TENSORS else alloc()
    libc = ctypes.CDLL(None)
    thread = ctypes.c_ulong()
    name = "c10_cuda_take_some" if TENSORS else GIVE
    function = ctypes.cast(getattr(ctypes.CDLL(LIBRARY), name), ctypes.c_void_p)
    assert libc.pthread_create(ctypes.byref(thread), None, function, at) == 0
    libc.pthread_join(thread, None)


class Late(object):
    """Ends when Python does, after atexit, and hands out a block then."""

    def __del__(self, some=getattr(ctypes.CDLL(LIBRARY), "c10_cuda_take_some", None), at=ctypes.c_uint64(),
                byref=ctypes.byref):
        if some:
            some(byref(at))


def teardown():
    alloc()
    sys.kept_to_the_end = Late()
    sys.kept_to_the_end.itself = sys.kept_to_the_end


INSIDE = """
import ctypes, json, os, sys
take = getattr(ctypes.%s(%r), %r)
def note(size):
    frames, frame = [], sys._getframe(1)
    while frame:
        frames.append([frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name])
        frame = frame.f_back
    os.write(%d, (json.dumps({"size": size, "frames": frames, "inside": %d}) + "\\n").encode())
    return size
def alloc():
%s    at = ctypes.c_uint64()
    take(ctypes.byref(at), ctypes.c_size_t(note(%d)))
alloc()
"""


def find_interpreters():
    """Functions that make one, run a text in it and end it; None: there are none."""
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            module = __import__(name)
            break
        except ImportError:
            module = None
    if not module:
        print("no sub-interpreters")
        return None

    def create():
        try:
            return module.create("legacy") if name == "_interpreters" else module.create(isolated=False)
        except TypeError:
            return module.create()

    def run(one, text):
        failure = (module.exec if name == "_interpreters" else module.run_string)(one, text)
        assert not failure, failure
    return create, run, module.destroy


def sub_interpreter():
    found = find_interpreters()
    if not found:
        return
    create, run, destroy = found
    one = create()
    for dll, inside in (("PyDLL", 1), ("CDLL", 2)):
        run(one, INSIDE % (dll, LIBRARY, TAKE, TRUTH, inside, "", next(sizes)))
    alloc()
    destroy(one)
    alloc()


def sub_interpreters():
    """One after the other: what each runs may lie where the one before had something else."""
    found = find_interpreters()
    if not found:
        return
    create, run, destroy = found
    for i in range(12):
        one = create()
        for k in range(3):
            run(one, INSIDE % ("PyDLL", LIBRARY, TAKE, TRUTH, 1, "\n" * ((i + k) % 5), next(sizes)))
        destroy(one)
        alloc()


def forked():
    if TENSORS:
        alloc()  # that its line is in the parent's log does not help the child's
    child = os.fork()
    if child == 0:
        if not TENSORS:
            start()
        alloc()
        recurse(3)
        os._exit(0)
    os.waitpid(child, 0)
    start()
    alloc()


if __name__ == "__main__":
    what = sys.argv[1]
    if what == "forked":
        forked()
        sys.exit(0)
    start()
    atexit.register(alloc)
    if what == "generated":
        generated(1000)
    else:
        globals()[what]()
