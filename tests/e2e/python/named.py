# SPDX-License-Identifier: Apache-2.0
"""Variables that keep tensors, and objects that nobody may touch: the oracle of t_named.py.

    named.py TRUTH        TRUTH gets one line: {"named": {variable: bytes, …}, "nameless": [bytes, …], "touched": […]}

Each tensor has a size of its own, so that one whose name is another's is found.
"""
import collections
import gc
import json
import os
import sys
import types

import numpy
import torch

WIDTH, STEPS, HUGE = 64, 12, 30000
touched = []  # what of the objects below was called: only Tare could have
made = 0


def tensor():
    global made
    made += 1
    return torch.ones(1000 + 16 * made)


def size(*tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


class Store:
    def __init__(self, *items):
        self.items = list(items)


class Slotted:
    __slots__ = ("items", "never_set")

    def __init__(self, *items):
        self.items = items


def touch(name):
    def method(self, *args):
        touched.append(name)
        raise RuntimeError("%s was called" % name)

    return method


class Touchy:
    """Raises whatever is asked of it."""

    def __init__(self, *items):
        object.__setattr__(self, "items", list(items))

    answer = property(touch("a property"))
    __class__ = property(touch("__class__"))
    for name in ("__getattr__", "__setattr__", "__len__", "__iter__", "__getitem__", "__contains__", "__bool__", "__hash__",
                 "__eq__", "__repr__", "__str__", "__call__", "__instancecheck__"):
        locals()[name] = touch(name)
    del name


class TouchyDict(dict):
    for name in ("__getitem__", "__iter__", "__len__", "keys", "items", "values", "get", "__contains__"):
        locals()[name] = touch("TouchyDict." + name)
    del name


class TouchyMeta(type):
    for name in ("__instancecheck__", "__subclasscheck__", "mro", "__getattribute__"):
        locals()[name] = touch("TouchyMeta." + name) if name != "mro" else type.mro
    del name


class Shape(metaclass=TouchyMeta):
    pass


# Of __main__.
results = [tensor(), tensor()]
replay = collections.deque([(tensor(), 1), (tensor(), 2)], maxlen=8)
dataset = Store(tensor(), tensor())
tables = {"a": {"b": [tensor()]}}
chosen = {tensor()}
slotted = Slotted(tensor())
touchy = Touchy(tensor())
touchy_dict = TouchyDict(a=tensor())
shape = Shape
shadowed = [tensor()]
_hidden = [tensor()]
deep = [[[[[[[[tensor()]]]]]]]]
gone = [tensor()]
del gone
huge = [tensor()] + [None] * HUGE  # a list is gone through from its end
loop = [tensor()]
loop.append(loop)
kept_elsewhere = types.ModuleType("elsewhere")
sys.modules["elsewhere"] = kept_elsewhere
kept_elsewhere.theirs = [tensor()]
from_numpy = [torch.from_numpy(numpy.ones(77777, dtype="float32"))]


def captured_by(outer):
    captured = [tensor()]

    def inner():
        return captured

    return outer(inner), size(*captured)


def train(inner):
    teacher, student = torch.nn.Linear(WIDTH, WIDTH, bias=False).requires_grad_(False), torch.nn.Linear(WIDTH, WIDTH, bias=False)
    cache, shadowed = {}, [tensor()]
    optimizer = torch.optim.SGD(student.parameters(), .1)
    for step in range(STEPS):
        x = torch.ones(4, WIDTH)
        optimizer.zero_grad()
        (student(x) - teacher(x)).pow(2).mean().backward()
        optimizer.step()
        cache[step % 2] = [tensor()]
    named = {"cache": size(*(t for row in cache.values() for t in row)), "student.weight": size(student.weight),
             "teacher.weight": size(teacher.weight), "shadowed": size(*shadowed, *globals()["shadowed"])}
    return named, (teacher, student, optimizer, cache, shadowed, inner)


class Runner:
    def run(self):
        self.log = [tensor()]
        return captured_by(train), self.log


def main():
    ((named, kept), captured), log = Runner().run()
    named.update(
        captured=captured, log=size(*log), results=size(*results), replay=size(*(t for t, _ in replay)), dataset=size(*dataset.items),
        tables=size(tables["a"]["b"][0]), chosen=size(*chosen), slotted=size(*slotted.items), loop=size(loop[0]),
        touchy=size(*object.__getattribute__(touchy, "items")), touchy_dict=size(dict.__getitem__(touchy_dict, "a")))
    nameless = [size(*_hidden), size(deep[0][0][0][0][0][0][0][0]), size(huge[0]), size(*kept_elsewhere.theirs)]
    with open(sys.argv[1], "w") as file:
        file.write(json.dumps({"named": named, "nameless": nameless, "from_numpy": size(*from_numpy), "touched": touched}))
    return kept, log


if __name__ == "__main__":
    torch.manual_seed(1)
    torch.set_num_threads(1)
    main_has = main()
    gc.collect()
    os._exit(0)
