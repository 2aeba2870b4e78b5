# SPDX-License-Identifier: Apache-2.0
"""python/tare/graphs_lib.py against the simulated driver: the part that needs no framework."""

import ctypes

from tare import graphs_lib

driver = ctypes.CDLL("libcuda.so.1")
context, stream = ctypes.c_void_p(), ctypes.c_void_p()


def ok(result):
    assert result == 0, result


def raises(name, function, *args, **options):
    try:
        function(*args, **options)
    except graphs_lib.Error as error:
        assert error.name == name, error
        return
    raise AssertionError(f"{name} was not raised")


raises("ORDER", graphs_lib.Arena) if driver.cuInit(0) == 0 else None
ok(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
ok(driver.cuCtxSetCurrent(context))
ok(driver.cuStreamCreate(ctypes.byref(stream), 1))
for name in ("execs_per_group", "limit_bytes", "reserve_bytes", "execs_max"):
    raises("ARGUMENT", graphs_lib.Arena, **{name: -1})
arena = graphs_lib.Arena(limit_bytes=64 << 20)
lib = graphs_lib.load()
lib.tare_graphs_alloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p]
for key in (1, 2, 3):
    arena.begin(key, stream)
    address = ctypes.c_uint64()
    ok(lib.tare_graphs_alloc(arena.handle, key << 20, stream, ctypes.byref(address)))
    ok(driver.cuMemsetD8Async(address, 7, ctypes.c_size_t(key << 20), stream))
    arena.end()
    first, last = arena.span(key)
    assert first == address.value and last >= first + (key << 20)
    arena.launch(key, stream)
    arena.check(first)
assert arena.stats()["captures"] == 3 and arena.stats()["arena_bytes"] == 4 << 20, arena.stats()
assert [row["key"] for row in arena.keys()] == [1, 2, 3] and len(arena.groups()) == 1
try:
    arena.check(arena.span(1)[0])
    raise AssertionError("not stale")
except graphs_lib.StaleOutput:
    pass
raises("NO_KEY", arena.launch, 9, stream)
arena.begin(4, stream, after=3)
raises("DEVICE_MEMORY", arena._check,
       lib.tare_graphs_alloc(arena.handle, 65 << 20, stream, ctypes.byref(address)))
arena.abort()
arena.drop(3)
assert arena.stats()["arena_bytes"] == 2 << 20, arena.stats()
arena.destroy()
raises("ARGUMENT", arena.launch, 1, stream)
