# SPDX-License-Identifier: Apache-2.0
"""What a scan of the program's objects could disturb. scanned.py CASE prints what it sees; with Tare that is the same.

BLOCKS names a library that looks like PyTorch's allocator: a block of it makes the recorder ask for a
scan (TARE_SCAN=eager), which comes between two instructions of the main thread.
"""
import ctypes
import gc
import os
import signal
import sys
import threading
import time
import warnings

if os.environ.get("FAKE"):
    import fake_torch
    fake_torch.install()
    torch = None
else:
    import torch
gc.collect()

block = ctypes.CDLL(os.environ["BLOCKS"]).c10_cuda_block
block.argtypes = [ctypes.c_uint64, ctypes.c_int64, ctypes.c_bool]


def poke():
    block(0x7000, 512, False)
    block(0x7000, -512, False)
    for _ in range(100):  # instructions between which a sweep can come
        pass


class Hostile(object):
    """Whatever is asked of it says so."""

    def __getattr__(self, name):
        print("asked for", name)
        raise ValueError(name)

    @property
    def __class__(self):
        print("asked for its class")
        raise ValueError("class")

    def __eq__(self, other):
        print("compared")
        return True

    __hash__ = None


def names():
    """Python's own names of modules and optimizers, for any interpreter."""
    from fake_torch import Module, Optimizer, Parameter, Tensor
    net, inner, half = Module(), Module(), Module()
    net._modules = {"layer": inner, "none": None}
    inner._modules = {"0": half}
    weight, bias = Parameter(0x1000), Parameter(0x2000)
    half._parameters = {"weight": weight, "bias": bias, "none": None, "odd": 5, 7: weight}
    half._buffers = {"mean": Tensor(0x3000), "view": Tensor(0x4000, offset=16)}
    optimizer = Optimizer([weight, bias])
    optimizer.state = {weight: {"exp_avg": Tensor(0x5000), "step": 3}, bias: None}
    weight.gradient = Tensor(0x6000)
    kept = Tensor(0x8000, requires_grad=True)
    poke()
    print(len([net, optimizer, kept]))


def pool():
    """One segment of 20 MiB, a block of 1 MiB in it; what the allocator says of that is made up."""
    cu, what = ctypes.CDLL("libcuda.so.1"), os.environ["POOL"]
    handle = ctypes.c_void_p()
    assert cu.cuInit(0) == 0 and cu.cuDevicePrimaryCtxRetain(ctypes.byref(handle), 0) == 0
    assert cu.cuCtxSetCurrent(handle) == 0
    segment = ctypes.CDLL(os.environ["BLOCKS"]).c10_cuda_segment
    segment.restype, segment.argtypes = ctypes.c_uint64, [ctypes.c_void_p, ctypes.c_uint64]
    at = segment(ctypes.cast(cu.cuMemAlloc_v2, ctypes.c_void_p), 20 << 20)
    assert at
    said = {"allocated": 1 << 20, "reserved": 20 << 20, "active": 1 << 20, "requested": 1000000,
            "inactive_split": 19 << 20}
    if what == "other":
        said["allocated"] += 512
    if what == "old":
        del said["requested"]
    stats = {name + "_bytes": {"all": {"current": said[name], "peak": 1 << 40}} for name in said}
    odd = {"list": [], "empty": {}, "text": {"allocated_bytes": "all", "reserved_bytes": {"all": {"current": "many"}}},
           "negative": {name: {"all": {"current": -1}} for name in stats}}
    fake_torch.install_cuda(odd.get(what, stats), initialized="yes" if what == "lie" else what != "asleep",
                            backend={"driver": "cudaMallocAsync", "old": None}.get(what, "native"),
                            bad_fork=what == "forked")
    if what == "python":
        sys.modules["torch._C"]._cuda_memoryStats = lambda _: print("called")
    block(at, 1 << 20, False)
    for _ in range(100):
        pass
    print("fine")


def hostile():
    class Net(torch.nn.Module):
        def __getattr__(self, name):
            print("net asked for", name)
            return torch.nn.Module.__getattr__(self, name)

        @property
        def state(self):
            print("net asked for its state")
            raise RuntimeError("no")

    class Odd(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            print("function", function.__name__)
            return super().__torch_function__(function, types, args, kwargs or {})

    net = Net()
    net.register_parameter("weight", torch.nn.Parameter(torch.ones(3)))
    net.register_buffer("odd", torch.ones(3).as_subclass(Odd))
    things = [Hostile() for _ in range(50)]
    kept = [net, torch.empty(3, device="meta"), torch.ones(3).to_sparse(), (torch.ones(3, requires_grad=True) * 2)]
    # Names that are not what they seem.
    sys.modules["torch.optim.optimizer"], old = Hostile(), sys.modules["torch.optim.optimizer"]
    poke()
    sys.modules["torch.optim.optimizer"] = old
    print(len(things), len(kept))


def floats(count):
    return torch.zeros(count)


def speaking(name, slots=None):
    """A class of tensors that only wrap others, and say so when anything is asked of one."""
    def said(cls, function, *_):
        print("function", function)
        raise RuntimeError("no")

    def asked(self, attribute):
        print("asked for", attribute)
        raise AttributeError(attribute)
    members = {"__torch_function__": classmethod(said), "__torch_dispatch__": classmethod(said), "__getattr__": asked}
    if slots:
        members["__slots__"] = slots
    return type(torch.Tensor)(name, (torch.Tensor,), members)


def wrapped(cls, **inner):
    """One that has `inner` as its attributes, and no memory."""
    tensor = torch.Tensor._make_wrapper_subclass(cls, (3,), dtype=torch.float32, requires_grad=True)
    for name, value in inner.items():
        object.__setattr__(tensor, name, value)
    return tensor


def wrappers():
    """Parameters of classes that wrap others: in slots, in attributes, in each other."""
    part, quantized = speaking("Part", ["_local_tensor", "_spec"]), speaking("Quantized")
    net = torch.nn.Module()
    net.layer = torch.nn.Module()
    net.layer._parameters["sharded"] = wrapped(part, _local_tensor=floats(1001), _spec=7)
    net.layer._parameters["quantized"] = wrapped(quantized, qdata=floats(1002), scale=floats(1003))
    net.layer._parameters["both"] = wrapped(part, _local_tensor=wrapped(quantized, qdata=floats(1004)), _spec=None)
    net.layer._parameters["plain"] = torch.nn.Parameter(floats(1005))
    net.layer._buffers["view"] = floats(1006)[5:].as_subclass(quantized)
    gradient = wrapped(part, _local_tensor=floats(1008), _spec=7)
    with torch._C.DisableTorchFunction():
        net.layer._parameters["sharded"].grad = gradient
    (net.layer._parameters["plain"] * 2).sum().backward()
    state = torch.optim.SGD([torch.nn.Parameter(floats(1))], lr=1)
    state.state[net.layer._parameters["sharded"]] = {"exp_avg": wrapped(part, _local_tensor=floats(1007), _spec=7)}
    poke()
    print(len(net.layer._parameters))
    keep.extend([net, state, gradient])


def fsdp():
    """The objects of both kinds of FSDP, made up: attributes as theirs are called."""
    import types
    for name in ("FlatParamHandle", "FSDPParam"):
        where = "torch.distributed.fsdp._flat_param" if name == "FlatParamHandle" else \
            "torch.distributed.fsdp._fully_shard._fsdp_param"
        sys.modules[where] = types.ModuleType(where)
        setattr(sys.modules[where], name, type(name, (), {}))
    net = torch.nn.Module()
    net.unit = torch.nn.Module()
    net.unit._modules["_fsdp_wrapped_module"] = inner = torch.nn.Module()
    flat = torch.nn.Parameter(floats(2000))
    flat._is_flat_param, flat._local_shard, flat._full_param_padded = True, floats(2001), floats(4001)
    flat._param_infos = [("weight", inner, ""), ("bias", inner, ""), 5]
    flat._saved_grad_shard = floats(2002)
    handle = sys.modules["torch.distributed.fsdp._flat_param"].FlatParamHandle()
    handle.flat_param = flat
    inner.weight = torch.nn.Parameter(flat._full_param_padded[:10].detach())  # as it is while it is whole
    net.layer = torch.nn.Module()
    net.layer.weight = torch.nn.Parameter(floats(2003))
    one = sys.modules["torch.distributed.fsdp._fully_shard._fsdp_param"].FSDPParam()
    one._module_info = types.SimpleNamespace(module=net.layer, param_name="weight")
    one._sharded_param_data, one.unsharded_accumulated_grad = floats(2004), None
    one.all_gather_outputs = [net.layer.weight.detach(), 7]
    odd = [type(handle)(), type(one)(), type(one)()]
    odd[0].flat_param, odd[1].all_gather_outputs, odd[2]._module_info = 7, 7, 7
    poke()
    print(len(odd))
    keep.extend([net, handle, one, odd])


def folds():
    """Names are known; then another thread makes more blocks than the recording may keep, and the main one waits."""
    def churn():
        for _ in range(30000):
            torch.empty(100)
    net = torch.nn.Sequential(torch.nn.Linear(100, 101))
    poke()
    worker = threading.Thread(target=churn)
    worker.start()
    worker.join()
    keep.append(net)


keep = []  # until the program's end


def unchanged():
    """The state that a program can see, before and after."""
    net = torch.nn.Linear(10, 10)
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(2, 10)).sum().backward()
    optimizer.step()
    alone = torch.nn.Linear(10, 10)  # nobody in Python asks for its gradients
    alone(torch.ones(2, 10)).sum().backward()
    import random

    def look():
        return [gc.isenabled(), gc.get_threshold(), gc.get_count()[1:], gc.get_freeze_count(), sorted(sys.modules),
                torch.get_rng_state().sum().item(), hash(random.getstate()), torch.is_grad_enabled(),
                [sys.getrefcount(p) for p in net.parameters()], sys.getrefcount(net), sys.getrefcount(optimizer),
                len([o for o in gc.get_objects() if type(o) is torch.Tensor]), list(warnings.filters),
                sys.gettrace(), threading.active_count(), sys.exc_info()]
    warnings.simplefilter("error")
    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        with torch.set_grad_enabled(enabled):
            look()
            before = look()
            poke()
            after = look()
            print([(b, a) for b, a in zip(before, after) if b != a])
    freed = []
    import weakref
    one = torch.ones(3)
    ref = weakref.ref(one, lambda _: freed.append(1))
    poke()
    del one
    print(freed, ref())
    sys.settrace(lambda *what: print("traced", what[0].f_code.co_name, what[1]))
    poke()
    sys.settrace(None)


def many():
    """A heap of 100,000 objects, and threads that make more."""
    kept = [[i] for i in range(100000)]
    end = threading.Event()

    def churn():
        while not end.is_set():
            [{} for _ in range(100)]
    threads = [threading.Thread(target=churn) for _ in range(3)]
    [t.start() for t in threads]
    for _ in range(5):
        poke()
    end.set()
    [t.join() for t in threads]
    worker = threading.Thread(target=poke)
    worker.start()
    worker.join()
    poke()
    print(len(kept))


def interrupts():
    """Every signal arrives as the exception that it is, in the program."""
    caught = 0

    def alarm(*_):
        raise TimeoutError("alarm")
    signal.signal(signal.SIGALRM, alarm)
    for i in range(40):
        try:
            block(0x7000, 512, False)
            os.kill(os.getpid(), signal.SIGINT if i % 2 else signal.SIGALRM)
            block(0x7000, -512, False)
            while True:
                pass
        except (KeyboardInterrupt, TimeoutError) as error:
            caught += type(error) is (KeyboardInterrupt if i % 2 else TimeoutError)
    print(caught)


def forks():
    poke()
    block(0x7000, 512, False)  # a sweep may still wait in the interpreter
    child = os.fork()
    poke()
    if not child:
        os._exit(3)
    print(os.WEXITSTATUS(os.waitpid(child, 0)[1]))
    sys.stdout.flush()
    block(0x7000, 512, False)
    os._exit(5)


def audits():
    """A program that forbids to look is not looked at, and goes on."""
    def hook(event, _):
        if event == "gc.get_objects":
            raise RuntimeError(event)
    getattr(sys, "addaudithook", id)(hook)
    poke()
    poke()
    print("fine")


def modes():
    """Nothing of torch is called while the program overrides its functions, or traces them."""
    called = []
    net = torch.nn.Linear(20, 20)
    try:
        from torch.overrides import TorchFunctionMode
    except ImportError:
        TorchFunctionMode = None
    if TorchFunctionMode:
        class Mode(TorchFunctionMode):
            def __torch_function__(self, function, types, args=(), kwargs=None):
                called.append(function)
                return function(*args, **(kwargs or {}))
        with Mode():
            poke()
    traced = torch.jit.trace(lambda x: (poke(), x + 1)[1], torch.ones(2))
    print(called, len(list(traced.graph.nodes())), net.in_features)


globals()[sys.argv[1]]()
