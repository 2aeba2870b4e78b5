# SPDX-License-Identifier: Apache-2.0
"""Calls functions of many kinds at random, and allocates in them: what a stack shares with the one before it is
as different as can be. Nothing here is a test: whoever records it compares the stacks with Python's own."""
import random
import types

MOST = 1200  # allocations of one walk
DEEP = 150  # frames, more than a stack has


class Walk(object):
    """One thread's way through functions."""

    def __init__(self, alloc, seed):
        self.alloc, self.random, self.left = alloc, random.Random(seed), MOST
        self.asleep = []  # generators that are resumed from wherever somebody comes by
        self.scope = {"walk": self}

    def run(self):
        while self.left > 0:
            self.go(self.random.randint(1, 12))

    def go(self, depth):
        if self.left <= 0:
            return
        if depth <= 0:
            self.left -= 1
            self.alloc()
            return
        kind = self.random.choice(KINDS)
        if self.random.random() < 0.5:
            kind(self, depth - 1)
        else:
            kind(self, depth - 1)

    def some(self):
        return range(self.random.randint(1, 3))


def loop(walk, depth):
    for _ in walk.some():
        walk.go(depth)
    walk.go(depth)


def leaf(walk, depth):
    walk.go(0)
    walk.go(0)


def helper(walk):
    walk.go(0)


def from_two_lines(walk, depth):
    """The same function at the same address, called from another line."""
    helper(walk)
    helper(walk)
    [helper(walk) for _ in walk.some()]


def recursion(walk, depth):
    def down(n):
        if n:
            return down(n - 1)
        walk.go(0)
        return walk.go(min(depth, 2))
    down(walk.random.choice((1, 3, 10, 60, DEEP - 30, DEEP)))


def steps(walk, depth):
    for _ in walk.some():
        walk.go(depth)
        yield
    walk.go(0)


def inner_steps(walk, depth):
    yield from steps(walk, depth)
    walk.go(0)


def generator(walk, depth):
    for _ in inner_steps(walk, depth):
        walk.go(0)


def resume(walk, depth):
    """One that another stack left behind."""
    if not walk.asleep or walk.random.random() < 0.4:
        walk.asleep.append(inner_steps(walk, 0))
    one = walk.asleep.pop(walk.random.randrange(len(walk.asleep)))
    try:
        next(one)
    except StopIteration:
        return
    walk.asleep.append(one)


@types.coroutine
def pause():
    yield


async def awaiting(walk, depth):
    walk.go(depth)
    await pause()
    walk.go(0)


async def awaits(walk, depth):
    await awaiting(walk, depth)


def coroutine(walk, depth):
    one = awaits(walk, depth)
    try:
        one.send(None)
        one.send(None)
    except StopIteration:
        walk.go(0)


class Stop(Exception):
    pass


def raising(walk, depth):
    try:
        walk.go(depth)
        thrower(walk, walk.random.randint(0, 3))
    except Stop:
        walk.go(0)
    finally:
        walk.go(0)


def thrower(walk, depth):
    if depth:
        try:
            thrower(walk, depth - 1)
        finally:
            walk.go(0)
    raise Stop


def generated(walk, depth):
    """Code that dies at once, in one scope: the next lies where it was, and so does its name."""
    for _ in walk.some():
        text = "\n" * walk.random.randint(0, 9) + "walk.go(0)\n"
        exec(compile(text, "<made>", "exec"), walk.scope)


def evaluated(walk, depth):
    for _ in walk.some():
        name = walk.random.choice(("<some>", "<more>"))
        eval(compile("(" + "\n" * walk.random.randint(0, 9) + "walk.go(0))", name, "eval"), walk.scope)


def function_made(walk, depth):
    name = walk.random.choice(("one", "two"))
    text = "def %s(depth):\n%s    walk.go(depth)\n" % (name, "\n" * walk.random.randint(0, 9))
    exec(compile(text, "<function>", "exec"), walk.scope)
    for _ in walk.some():
        walk.scope[name](min(depth, 1))


def change_code(walk, depth):
    """A function that becomes another while it keeps its name and place."""
    def made(lines):
        scope = {}
        exec(compile("\n" * lines + "def f(walk):\n" + "\n" * lines + "    walk.go(0)\n", "<f>", "exec"), scope)
        return scope["f"]

    one = made(0)
    for _ in range(4):
        one(walk)
        one.__code__ = made(walk.random.randint(0, 9)).__code__
        one(walk)


class Object(object):
    def __init__(self, walk, depth):
        walk.go(depth)
        self.walk = walk

    def __call__(self, depth):
        self.walk.go(depth)

    def __getattr__(self, name):
        self.walk.go(0)

    def __del__(self):
        self.walk.go(0)


def objects(walk, depth):
    one = Object(walk, depth)
    one(depth)
    one.missing
    del one


def through_c(walk, depth):
    """Frames with the interpreter's own between them."""
    list(map(lambda _: walk.go(depth), walk.some()))
    sorted(walk.some(), key=lambda _: walk.go(0) or 0)


KINDS = [loop, leaf, from_two_lines, recursion, generator, resume, coroutine, raising, generated, evaluated,
         function_made, change_code, objects, through_c]
