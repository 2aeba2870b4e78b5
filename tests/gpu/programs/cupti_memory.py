# SPDX-License-Identifier: Apache-2.0
"""When CUPTI takes memory of the device: NVML's reading before and after each step, a line of JSON for each.

    cupti_memory.py calls     CUPTI's own functions in the order in which torch.profiler calls them, no profiler
    cupti_memory.py torch     torch.profiler, twice
"""
import ctypes
import json
import sys

import torch

KINDS = {"memcpy": 1, "memset": 2, "concurrent kernel": 10, "external correlation": 39, "runtime": 5, "driver": 4,
         "overhead": 17}


class Used:
    """What NVML says is in use on the first device; its driver's reserve is the same before and after."""

    class Memory(ctypes.Structure):
        _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]

    def __init__(self):
        self.nvml, self.device = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p()
        assert self.nvml.nvmlInit_v2() == 0
        uuid = getattr(torch.cuda.get_device_properties(0), "uuid", None)
        if not uuid or self.nvml.nvmlDeviceGetHandleByUUID(b"GPU-" + str(uuid).encode(), ctypes.byref(self.device)):
            assert self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device)) == 0
        self.last = self.read()

    def read(self):
        memory = Used.Memory()
        assert self.nvml.nvmlDeviceGetMemoryInfo(self.device, ctypes.byref(memory)) == 0
        return memory.used

    def say(self, step, result=None):
        now = self.read()
        print(json.dumps({"step": step, "grew_bytes": now - self.last, "result": result}), flush=True)
        self.last = self.read()


def cupti():
    """The one that torch is linked with."""
    with open("/proc/self/maps") as maps:
        path = next((line.split()[-1] for line in maps if "libcupti" in line), "libcupti.so")
    return ctypes.CDLL(path)


def work(x):
    y = x @ x
    torch.cuda.synchronize()
    return y


requested_fn = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t),
                                ctypes.POINTER(ctypes.c_size_t))
completed_fn = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t,
                                ctypes.c_size_t)
buffers = []


@requested_fn
def requested(buffer, size, records):
    buffers.append(ctypes.create_string_buffer((1 << 22) + 8))
    buffer[0] = (ctypes.addressof(buffers[-1]) + 7) & ~7
    size[0] = 1 << 22
    records[0] = 0


@completed_fn
def completed(context, stream, buffer, size, valid):
    pass


def calls(used, x):
    api = cupti()
    used.say("dlopen of CUPTI")
    used.say("cuptiActivityRegisterCallbacks", api.cuptiActivityRegisterCallbacks(requested, completed))
    for name, kind in KINDS.items():
        used.say("cuptiActivityEnable(%s)" % name, api.cuptiActivityEnable(kind))
    for i in range(3):
        work(x)
        used.say("a launch and a synchronization, %d" % i)
    used.say("cuptiActivityFlushAll", api.cuptiActivityFlushAll(0))
    for name, kind in KINDS.items():
        used.say("cuptiActivityDisable(%s)" % name, api.cuptiActivityDisable(kind))
    used.say("cuptiFinalize", api.cuptiFinalize())
    work(x)
    used.say("a launch after that")


def profiler(used, x):
    for i in range(2):
        prof = torch.profiler.profile(profile_memory=True, record_shapes=True, with_stack=True)
        used.say("profile(), %d" % i)
        prof.__enter__()
        used.say("its __enter__, %d" % i)
        for j in range(3):
            work(x)
            used.say("a launch and a synchronization, %d.%d" % (i, j))
        prof.__exit__(None, None, None)
        used.say("its __exit__, %d" % i)
        del prof
        used.say("del, %d" % i)


def main(what):
    x = torch.randn(512, 512, device="cuda")
    work(x)
    used = Used()
    used.say("nothing")
    {"calls": calls, "torch": profiler}[what](used, x)
    work(x)
    used.say("at the end")


main(*sys.argv[1:])
