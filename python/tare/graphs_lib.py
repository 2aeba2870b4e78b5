# SPDX-License-Identifier: Apache-2.0
"""libtare_graphs by ctypes: include/tare/tare_graphs.h, one to one. Needs no framework."""

import ctypes
import glob
import itertools
import os
import sys

from tare import installed

REHEARSE, FOREIGN, DECLARED = 1, 2, 4
REFUSE_OVERLAP, ONE_RANGE = 1, 2


class Error(RuntimeError):
    """A call of libtare_graphs failed; `name` is STALE, BUSY, DEVICE_MEMORY …"""

    def __init__(self, name, sentence):
        super().__init__(f"{sentence} [{name}]")
        self.name = name


class StaleOutput(Error):
    """Memory of one key was read after another key's replay had overwritten it."""


class _Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("flags", ctypes.c_uint),
        ("execs_per_group", ctypes.c_uint),
        ("limit_bytes", ctypes.c_uint64),
        ("reserve_bytes", ctypes.c_uint64),
        ("execs_max", ctypes.c_uint64),
        ("device_runtime", ctypes.c_char_p),
    ]


class _How(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("flags", ctypes.c_uint),
        ("after", ctypes.POINTER(ctypes.c_uint64)),
    ]


class _KeyInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in
                ("key", "bytes", "nodes", "group", "address", "address_bytes")]


class _GroupInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in
                ("nodes", "keys", "execs", "exec_bytes", "is_refused")]


def library_path():
    """Where libtare_graphs.so is: TARE_GRAPHS_LIBRARY, beside an installed tare, or in build/."""
    path = os.environ.get("TARE_GRAPHS_LIBRARY") or installed.find(
        "tare-*/libtare_graphs.so", "lib/tare/libtare_graphs.so", "build/src/graphs/libtare_graphs.so")
    if not path:
        raise ImportError("libtare_graphs.so was not found; build Tare, or set TARE_GRAPHS_LIBRARY to its path")
    return path


_HANDLE, _U64, _SIZE = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t
_PROTOTYPES = {
    "tare_graphs_error": (ctypes.c_char_p, []),
    "tare_graphs_result_name": (ctypes.c_char_p, [ctypes.c_int]),
    "tare_graphs_create": (ctypes.c_int, [ctypes.POINTER(_Options), ctypes.POINTER(_HANDLE)]),
    "tare_graphs_destroy": (None, [_HANDLE]),
    "tare_graphs_begin": (ctypes.c_int, [_HANDLE, _U64, _HANDLE, ctypes.POINTER(_How)]),
    "tare_graphs_end": (ctypes.c_int, [_HANDLE]),
    "tare_graphs_adopt": (ctypes.c_int, [_HANDLE, _HANDLE]),
    "tare_graphs_keep": (ctypes.c_int, [_HANDLE, _U64, _SIZE]),
    "tare_graphs_reads": (ctypes.c_int, [_HANDLE, _U64]),
    "tare_graphs_abort": (None, [_HANDLE]),
    "tare_graphs_launch": (ctypes.c_int, [_HANDLE, _U64, _HANDLE]),
    "tare_graphs_prepare": (ctypes.c_int, [_HANDLE, _U64, _HANDLE]),
    "tare_graphs_check": (ctypes.c_int, [_HANDLE, _U64]),
    "tare_graphs_drop": (ctypes.c_int, [_HANDLE, _U64]),
    "tare_graphs_stats": (ctypes.c_int, [_HANDLE, _HANDLE, _SIZE]),
    "tare_graphs_stat_name": (ctypes.c_char_p, [_SIZE]),
    "tare_graphs_list_keys": (_SIZE, [_HANDLE, ctypes.POINTER(_KeyInfo), _SIZE]),
    "tare_graphs_list_groups": (_SIZE, [_HANDLE, ctypes.POINTER(_GroupInfo), _SIZE]),
}


def device_runtime():
    """libcudadevrt.a of the toolkit that PyTorch brought, or of an installed one; None: there is none."""
    names = [os.path.join(path, "nvidia", "*", "lib", "libcudadevrt.a") for path in sys.path]
    names += [os.path.join(root, "lib64", "libcudadevrt.a") for root in (os.environ.get("CUDA_HOME"), "/usr/local/cuda") if root]
    return next(iter(path for name in names for path in glob.glob(name)), None)


_loaded = None


def load():
    """The library, loaded once."""
    global _loaded
    if _loaded is None:
        lib = ctypes.CDLL(library_path())
        for name, (result, arguments) in _PROTOTYPES.items():
            function = getattr(lib, name)
            function.restype, function.argtypes = result, arguments
        _loaded = lib
    return _loaded


def _rows(function, handle, kind):
    room = function(handle, None, 0)
    rows = (kind * room)()
    count = min(function(handle, rows, room), room)
    return [{name: getattr(row, name) for name, _ in kind._fields_} for row in rows[:count]]


class Arena:
    """struct tare_graphs, for the CUDA context that is current when it is made."""

    def __init__(self, flags=0, execs_per_group=0, limit_bytes=0, reserve_bytes=0, execs_max=0,
                 device_runtime=None):
        numbers = {"execs_per_group": execs_per_group, "limit_bytes": limit_bytes, "reserve_bytes": reserve_bytes, "execs_max": execs_max}
        for name, number in numbers.items():
            if number < 0:  # in C it would be a very large one
                raise Error("ARGUMENT", f"{name} is {number}; it is 0 or more")
        self.lib = load()
        self.handle = ctypes.c_void_p()
        options = _Options(ctypes.sizeof(_Options), flags, execs_per_group, limit_bytes, reserve_bytes,
                           execs_max, device_runtime.encode() if device_runtime else None)
        self._check(self.lib.tare_graphs_create(ctypes.byref(options), ctypes.byref(self.handle)))

    def _check(self, result):
        if result:
            name = self.lib.tare_graphs_result_name(result).decode()
            kind = StaleOutput if name == "STALE" else Error
            raise kind(name, self.lib.tare_graphs_error().decode())

    def begin(self, key, stream=None, flags=0, after=None):
        how = _How(ctypes.sizeof(_How), flags)
        if after is not None:
            how.after = ctypes.pointer(ctypes.c_uint64(after))
        self._check(self.lib.tare_graphs_begin(self.handle, key, stream, ctypes.byref(how)))

    def end(self):
        self._check(self.lib.tare_graphs_end(self.handle))

    def adopt(self, graph):
        self._check(self.lib.tare_graphs_adopt(self.handle, graph))

    def keep(self, address, size):
        self._check(self.lib.tare_graphs_keep(self.handle, address, size))

    def reads(self, key):
        self._check(self.lib.tare_graphs_reads(self.handle, key))

    def abort(self):
        self.lib.tare_graphs_abort(self.handle)

    def launch(self, key, stream):
        result = self.lib.tare_graphs_launch(self.handle, key, stream)
        if result:
            self._check(result)

    def prepare(self, key, stream):
        self._check(self.lib.tare_graphs_prepare(self.handle, key, stream))

    def check(self, address):
        self._check(self.lib.tare_graphs_check(self.handle, address))

    def drop(self, key):
        self._check(self.lib.tare_graphs_drop(self.handle, key))

    def stats(self):
        names = map(self.lib.tare_graphs_stat_name, itertools.count())
        names = [name.decode() for name in itertools.takewhile(bool, names)]
        values = (ctypes.c_uint64 * len(names))()
        self._check(self.lib.tare_graphs_stats(self.handle, values, ctypes.sizeof(values)))
        return dict(zip(names, values))

    def span(self, key):
        """First address of a key's memory, and the one after its last."""
        room = self.lib.tare_graphs_list_keys(self.handle, None, 0)
        rows = (_KeyInfo * room)()
        self.lib.tare_graphs_list_keys(self.handle, rows, room)
        row = next(row for row in rows if row.key == key)
        return row.address, row.address + row.address_bytes

    def keys(self):
        return _rows(self.lib.tare_graphs_list_keys, self.handle, _KeyInfo)

    def groups(self):
        return _rows(self.lib.tare_graphs_list_groups, self.handle, _GroupInfo)

    def destroy(self):
        handle, self.handle = self.handle, ctypes.c_void_p()
        self.lib.tare_graphs_destroy(handle)
