# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs for any number of sizes, for the device memory of the largest. PyTorch ≥ 2.8.

    from tare import graphs

    for bs in range(1, 129):
        with graphs.capture(bs) as capture:
            capture.outputs = model(x[:bs])
    y = graphs.replay(17)                     # valid until another size is replayed

or, for a program that uses torch.cuda.graph already, before its first capture:

    import tare.graphs
    tare.graphs.install()

An output belongs to the arena that all sizes share: reading it after another size was replayed
raises StaleOutput. Clone what must live longer. docs/GRAPHS.md says what cannot be noticed.
"""

import ctypes
import gc
import sys
import weakref

import torch

from tare import graphs_lib
from tare.graphs_lib import Error, StaleOutput

__all__ = ["Error", "StaleOutput", "Graphs", "capture", "replay", "prepare", "drop", "stats", "default",
           "install", "uninstall"]

_Plain = torch.cuda.CUDAGraph
_plain_names = (torch.cuda, torch.cuda.graphs)
_raw_stream = torch._C._cuda_getCurrentRawStream

# What may be asked of a stale output: it does not read the memory.
_HARMLESS = frozenset((
    "__get__", "size", "dim", "stride", "numel", "nelement", "element_size", "is_contiguous",
    "storage_offset", "ndimension", "get_device", "is_floating_point", "is_complex", "type",
    "__len__", "__hash__", "is_pinned", "has_names", "is_inference", "untyped_storage",
))


_interface = torch.Tensor.__cuda_array_interface__


def _is_harmless(func):
    return getattr(func, "__name__", "") in _HARMLESS and getattr(func, "__self__", None) is not _interface


class _State:
    """A capture as its outputs know it. The key goes when the graph and its outputs are gone."""

    def __init__(self, arena, key, span, pool):
        self.arena, self.key, self.span = arena, key, span
        weakref.finalize(self, _let_go, arena, key, pool).atexit = False

    def holds(self, address):
        return self.span[0] <= address < self.span[1]


def _let_go(arena, key, pool):
    """The pool goes with this call, the key at the arena's next tidy(): torch forgets first."""
    del pool
    if arena.raw.handle:
        arena.dropped.append(key)


def _tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))


class _Output(torch.Tensor):
    """A tensor in the arena. Every use of it asks whether its key was the last to write there."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        states = {}
        with torch._C.DisableTorchFunctionSubclass():
            harmless = _is_harmless(func)
            for tensor in _tensors((args, kwargs)):
                if type(tensor) is not cls:
                    continue
                state = tensor.__dict__.get("_tare")
                if state is not None:
                    states[id(state)] = state
                    if not harmless:
                        state.arena.check(state, tensor)
            result = func(*args, **kwargs)
            for tensor in _tensors(result):
                for state in states.values():
                    _guard(tensor, state)
        return result

    def __deepcopy__(self, memo):
        return self.clone()


def _guard(tensor, state):
    if type(tensor) is not torch.Tensor or not tensor.is_cuda:
        return False
    try:
        address = tensor.untyped_storage().data_ptr()
    except RuntimeError:  # no storage: sparse, functional …
        return False
    if not state.holds(address):
        return False
    tensor._tare = state
    tensor.__class__ = _Output
    return True


def _kept(pool):
    """Address and size of what the program still holds of a capture's memory."""
    return {block["address"]: block["size"] for segment in pool.snapshot(include_traces=False)
            for block in segment["blocks"] if block["state"] != "inactive"}


def _guard_all(state, kept, had_collections):
    """Every tensor of the program that lies in the capture: what the program kept of it."""
    active = set(kept)
    # No collection ran meanwhile, so what the capture made is among the youngest objects.
    if active and had_collections == _collections():
        active -= _guard_among(gc.get_objects(generation=0), state)
    if active:
        _guard_among(gc.get_objects(), state)


def _collections():
    return [generation["collections"] for generation in gc.get_stats()]


def _guard_among(things, state):
    found = set()
    for thing in things:
        kind = type(thing)
        tensor = thing.grad if kind is torch.nn.Parameter else thing if kind is torch.Tensor else None
        if tensor is not None and _guard(tensor, state):
            found.add(tensor.untyped_storage().data_ptr())
    return found


class CUDAGraph(_Plain):
    """torch.cuda.CUDAGraph in an arena. torch captures; libtare_graphs keeps and replays."""

    def __new__(cls, keep_graph=False, arena=None, key=None, after=None):
        return super().__new__(cls, True)

    def __init__(self, keep_graph=False, arena=None, key=None, after=None):
        super().__init__(True)
        self._arena, self._key, self._after = arena, key, after
        self._state = None
        self._is_random = False
        self._generators = []
        self.outputs = None

    def register_generator_state(self, generator):
        self._generators.append(generator)
        super().register_generator_state(generator)

    def capture_begin(self, pool=None, capture_error_mode="global"):
        """`pool` is not used: all captures share the arena."""
        if self._arena is None:
            self._arena = default()
        arena = self._arena
        arena.tidy()
        if self._key is None:
            self._key = arena.next_key()
        # Each capture gets its cuBLAS workspaces from the arena, instead of one from another's.
        torch._C._cuda_clearCublasWorkspaces()
        arena.raw.begin(self._key, None, graphs_lib.FOREIGN | graphs_lib.DECLARED, self._after)
        arena.capturing = True
        self._pool = arena.new_pool()
        self._had = gc.isenabled(), _collections()
        gc.disable()
        try:
            super().capture_begin(pool=self._pool.id, capture_error_mode=capture_error_mode)
        except BaseException:
            self._abort()
            raise

    def capture_end(self):
        arena = self._arena
        try:
            super().capture_end()
            graph = self.raw_cuda_graph()
        except BaseException:
            self._abort()
            raise
        torch._C._cuda_clearCublasWorkspaces()
        arena.capturing = False
        if self._had[0]:
            gc.enable()
        kept = _kept(self._pool)
        try:
            arena.raw.keep(0, 0)
            for address, size in kept.items():
                arena.raw.keep(address, size)
        except Error:
            arena.raw.abort()
            raise
        arena.raw.adopt(graph)
        self._empty_graph(graph)
        self._state = _State(arena, self._key, arena.raw.span(self._key), self._pool)
        if arena.is_checked:
            _guard_all(self._state, kept, self._had[1])

    def _abort(self):
        self._arena.raw.abort()
        self._arena.capturing = False
        torch._C._cuda_clearCublasWorkspaces()
        if self._had[0]:
            gc.enable()

    def _empty_graph(self, graph):
        """What torch's own replay() still does for us is to advance random generators."""
        arena = self._arena
        arena.empty(graph)
        generators = [torch.cuda.default_generators[arena.index], *self._generators]
        before = [generator.get_offset() for generator in generators]
        super().replay()
        self._is_random = before != [generator.get_offset() for generator in generators]
        for generator, offset in zip(generators, before):
            generator.set_offset(offset)

    def replay(self):
        arena = self._arena
        if self._state is None:
            raise Error("ORDER", "replay: nothing was captured in this graph; capture first")
        if self._is_random:
            super().replay()
        arena.raw.launch(self._key, _raw_stream(arena.index))
        arena.last = self._state

    def prepare(self):
        """Switches to this graph ahead of its replay, while another one still runs."""
        if self._state is None:
            raise Error("ORDER", "prepare: nothing was captured in this graph; capture first")
        self._arena.raw.prepare(self._key, _raw_stream(self._arena.index))

    def reset(self):
        if self._arena is not None and self._arena.last is self._state:
            self._arena.last = None
        self._state = None
        super().reset()

    def instantiate(self):
        """Nothing to do: few executable graphs serve all captures."""


class Graphs:
    """An arena and its captures, on one device. Replays of one arena follow one another."""

    def __init__(self, device=None, *, check=True, refuse_overlap=False, execs_per_group=1,
                 limit_bytes=0, reserve_bytes=0, execs_max=0, by_device=False):
        torch.cuda.init()
        self.index = self._index_of(device)
        with torch.cuda.device(self.index):
            torch.cuda.current_stream().synchronize()  # makes the context
            self.raw = graphs_lib.Arena(
                graphs_lib.REFUSE_OVERLAP if refuse_overlap else 0, execs_per_group, limit_bytes,
                reserve_bytes, execs_max, self._runtime() if by_device else None)
        self.is_checked = check
        self.last = None
        self.capturing = False
        self.dropped = []  # keys whose last user is gone; a finalizer must not call the driver
        self._graphs = {}
        self._numbers = {}  # the program's keys may be anything hashable
        self._next = 0
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._allocator = torch.cuda.memory.CUDAPluggableAllocator(
            graphs_lib.library_path(), "tare_graphs_pool_alloc", "tare_graphs_pool_free")

    @staticmethod
    def _index_of(device):
        """Of a number, "cuda:1" or torch.device; of one without a number, and of None, the current one."""
        which = torch.device("cuda" if device is None else device)
        if which.type != "cuda":
            raise Error("ARGUMENT", f"device is {which}; CUDA graphs are of a GPU")
        return torch.cuda.current_device() if which.index is None else which.index

    @staticmethod
    def _runtime():
        path = graphs_lib.device_runtime()
        if not path:
            raise Error("ARGUMENT", "by_device: no libcudadevrt.a beside PyTorch or in CUDA_HOME; leave it out")
        return path

    # ---- what CUDAGraph needs ----
    def next_key(self):
        self._next += 1
        return self._next

    def new_pool(self):
        return torch.cuda.MemPool(self._allocator.allocator())

    def tidy(self):
        while self.dropped:
            try:
                self.raw.drop(self.dropped.pop())
            except Error as error:
                if error.name != "NO_KEY":
                    raise

    def empty(self, graph):
        count = ctypes.c_size_t(0)
        handle = ctypes.c_void_p(graph)
        self._driver.cuGraphGetNodes(handle, None, ctypes.byref(count))
        nodes = (ctypes.c_void_p * count.value)()
        self._driver.cuGraphGetNodes(handle, nodes, ctypes.byref(count))
        for node in nodes:
            self._driver.cuGraphDestroyNode(ctypes.c_void_p(node))

    def check(self, state, tensor):
        """Raises StaleOutput unless the state's key wrote last where this tensor lies."""
        if torch.cuda.is_current_stream_capturing():
            if self.capturing:  # nothing is read now, but at each replay of what is captured
                self.raw.reads(state.key)
        elif self.last is not state:
            self.raw.check(tensor.data_ptr())

    # ---- what a program uses ----
    def capture(self, key, *, after=None, stream=None, capture_error_mode="thread_local"):
        """A context manager: what it encloses is captured for `key`. `after` names the earlier
        piece whose outputs this one reads. Its value is the graph: set .outputs on it."""
        earlier = None if after is None else self._numbers[after]
        self._numbers[key] = self.next_key()  # a key captured again is another one to the library
        graph = CUDAGraph(False, self, self._numbers[key], earlier)
        return _Capture(self, key, graph, stream, capture_error_mode)

    def _graph(self, what, key):
        graph = self._graphs.get(key)
        if graph is None:
            raise Error("NO_KEY", f"{what}: {key!r} was not captured; capture it first")
        return graph

    def replay(self, key):
        """Replays `key` on the current stream; returns what was set as outputs."""
        graph = self._graph("replay", key)
        graph.replay()
        return graph.outputs

    def prepare(self, key):
        """Switches to `key` ahead of its replay, while another one still runs."""
        self._graph("prepare", key).prepare()

    def drop(self, key):
        graph = self._graphs.pop(key, None)
        if graph is not None:
            graph.outputs = None
            graph.reset()
            del graph
        self.tidy()

    def stats(self):
        self.tidy()
        return self.raw.stats()

    def groups(self):
        return self.raw.groups()

    def __contains__(self, key):
        return key in self._graphs

    def destroy(self):
        """Outputs that the program still holds must not be read any more."""
        self._graphs.clear()
        self.last = None
        torch.cuda.synchronize(self.index)
        self.raw.destroy()


class _Capture:
    def __init__(self, owner, key, graph, stream, mode):
        self._owner, self._key, self._graph = owner, key, graph
        self._inner = torch.cuda.graph(graph, stream=stream, capture_error_mode=mode)

    def __enter__(self):
        self._inner.__enter__()
        return self._graph

    def __exit__(self, kind, value, trace):
        try:
            self._inner.__exit__(kind, value, trace)
        except BaseException:  # torch leaves its capture stream current then
            self._inner.stream_ctx.__exit__(kind, value, trace)
            raise
        if kind is None:
            self._owner._graphs[self._key] = self._graph


# ---- one arena per device, for those who need no more ----
_defaults = {}
_options = {}


def default(device=None):
    """The arena of the current device."""
    index = torch.cuda.current_device() if device is None else torch.device(device).index or 0
    if index not in _defaults:
        _defaults[index] = Graphs(f"cuda:{index}", **_options)
    return _defaults[index]


def capture(key, **options):
    return default().capture(key, **options)


def replay(key):
    return default().replay(key)


def prepare(key):
    default().prepare(key)


def drop(key):
    default().drop(key)


def stats():
    return default().stats()


class _Installed(CUDAGraph):
    """What torch.cuda.CUDAGraph is after install()."""

    def __new__(cls, keep_graph=False):
        caller = sys._getframe(1)
        # These manage a pool across graphs, and outputs that live on in it: they keep torch's own.
        if (keep_graph or caller.f_globals.get("__name__", "").startswith("torch._inductor")
                or caller.f_code.co_name == "make_graphed_callables"):
            return _Plain(keep_graph)
        return super().__new__(cls, keep_graph)


def install(**options):
    """From now on torch.cuda.graph and torch.cuda.CUDAGraph capture into the default arena.
    Options are those of Graphs. torch.compile's graphs and make_graphed_callables stay torch's."""
    _options.update(options)
    for module in _plain_names:
        module.CUDAGraph = _Installed


def uninstall():
    for module in _plain_names:
        module.CUDAGraph = _Plain
