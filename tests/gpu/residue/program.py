#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes memory in every way that stays, gives back its tensors, and then makes each call that gives the rest back.

    program.py llama     trains a Llama, moves it to the CPU, deletes it (needs transformers)
    program.py rows      a small model, and one thing of each row of src/view/residue.def that a program can make
    program.py rows --pinned-gib N --nodes N      pins so much host memory in that (1), captures so many nodes (8000)
    program.py libraries       the same of cuDNN, cuSPARSE, CuPy and NCCL's own calls, and an engine's sleep (libraries.py)
    program.py llama --layers N --streams         another depth (12), offloaded on a stream of its own

A line of JSON for each call: its name, what cuMemGetInfo says is in use before it and after it. Each call is a range of NVTX,
so that `table.py` finds the same moments in the recording.
"""

import argparse
import contextlib
import ctypes
import gc
import json
import os
import tempfile

import torch

MIB = 1 << 20


def library(*names):
    """One that the process has loaded already, else the first that can be."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        loaded = {line.split(None, 5)[5].strip() for line in maps if "/" in line}
    for name in names:
        for path in sorted(loaded):
            if os.path.basename(path).startswith(name):
                return ctypes.CDLL(path)
    for name in names:
        with contextlib.suppress(OSError):
            return ctypes.CDLL(name)
    raise SystemExit("no library of " + ", ".join(names))


def check(result, what):
    if result:
        raise RuntimeError("%s says error %d" % (what, result))


def used():
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    return total - free


def step(name, row, call):
    before = used()
    torch.cuda.nvtx.range_push(name)
    error = None
    try:
        call()
    except Exception as e:  # a call that this driver does not have is a row of the table, too
        error = "%s: %s" % (type(e).__name__, str(e).splitlines()[0][:120])
    torch.cuda.nvtx.range_pop()
    print(json.dumps({"step": name, "row": row, "before": before, "after": used(), "error": error}), flush=True)


def train_llama(layers):
    from transformers import LlamaConfig, LlamaForCausalLM
    config = LlamaConfig(hidden_size=1024, intermediate_size=2816, num_hidden_layers=layers, num_attention_heads=16,
                         vocab_size=32000, use_cache=False)
    model = LlamaForCausalLM(config).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        ids = torch.randint(0, 32000, (4, 256), device="cuda")
        model(ids, labels=ids).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model, optimizer


class ByHand:
    """Two moments for each parameter. An optimizer of PyTorch would import its compiler, which costs more than all the rest."""

    def __init__(self, parameters):
        self.state = {p: (torch.zeros_like(p), torch.zeros_like(p)) for p in parameters}

    @torch.no_grad()
    def step(self):
        for p, (first, second) in self.state.items():
            first.lerp_(p.grad, 0.1)
            second.lerp_(p.grad.square(), 0.001)
            p.sub_(first / (second.sqrt() + 1e-8), alpha=1e-3)
            p.grad = None


def train_small():
    model = torch.nn.Sequential(torch.nn.Linear(2048, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 2048)).cuda()
    optimizer = ByHand(model.parameters())
    for _ in range(2):
        model(torch.randn(256, 2048, device="cuda")).square().mean().backward()
        optimizer.step()
    return model, optimizer


def give_back(trained, on_stream):
    torch.cuda.nvtx.range_push("give back tensors")
    model, optimizer = trained
    with torch.cuda.stream(torch.cuda.Stream()) if on_stream else contextlib.nullcontext():
        model.cpu()
    optimizer.state.clear()
    del model, optimizer
    trained.clear()
    gc.collect()
    torch.cuda.nvtx.range_pop()


def clear_workspaces():
    torch._C._cuda_clearCublasWorkspaces()
    torch.cuda.empty_cache()


class Rows:
    """One thing for each row; each method that is a step gives its own back."""

    def __init__(self, pinned, nodes):
        self.rt = library("libcudart.so")
        self.cu = library("libcuda.so.1")
        self.pinned = torch.empty(int(pinned * (1 << 30)), dtype=torch.uint8, pin_memory=True)
        self.fft()
        self.torch_graph()
        self.memory_node()
        self.many_nodes(nodes)
        self.async_pool()
        self.cublas()
        self.streams = [self.pointer("cudaStreamCreate") for _ in range(32)]
        self.module()
        self.array = self.pointer("cudaMallocManaged", ctypes.c_size_t(256 * MIB), ctypes.c_uint(1))
        check(self.rt.cudaMemset(self.array, 0, ctypes.c_size_t(256 * MIB)), "cudaMemset")
        self.direct = self.pointer("cudaMalloc", ctypes.c_size_t(100 * MIB))
        self.vmm()
        self.nccl()

    def pointer(self, name, *more):
        out = ctypes.c_void_p()
        check(getattr(self.rt, name)(ctypes.byref(out), *more), name)
        return out

    def fft(self):
        torch.fft.rfft(torch.randn(1000003, device="cuda"))

    def fft_clear(self):
        torch.backends.cuda.cufft_plan_cache.clear()

    def torch_graph(self):
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.graph_out = torch.zeros(48 * MIB, dtype=torch.uint8, device="cuda") + 1
        self.graph.replay()

    def graph_reset(self):
        self.graph.reset()
        self.graph = self.graph_out = None
        gc.collect()
        torch.cuda.empty_cache()

    def captured(self, body):
        stream, graph, execs = self.pointer("cudaStreamCreate"), ctypes.c_void_p(), ctypes.c_void_p()
        check(self.rt.cudaStreamBeginCapture(stream, 1), "cudaStreamBeginCapture")
        body(stream)
        check(self.rt.cudaStreamEndCapture(stream, ctypes.byref(graph)), "cudaStreamEndCapture")
        check(self.rt.cudaGraphInstantiate(ctypes.byref(execs), graph, ctypes.c_ulonglong(0)), "cudaGraphInstantiate")
        check(self.rt.cudaGraphLaunch(execs, stream), "cudaGraphLaunch")
        check(self.rt.cudaStreamSynchronize(stream), "cudaStreamSynchronize")
        return graph, execs

    def memory_node(self):
        def body(stream):
            at = ctypes.c_void_p()
            check(self.rt.cudaMallocAsync(ctypes.byref(at), ctypes.c_size_t(128 * MIB), stream), "cudaMallocAsync")
            check(self.rt.cudaMemsetAsync(at, 0, ctypes.c_size_t(128 * MIB), stream), "cudaMemsetAsync")
            check(self.rt.cudaFreeAsync(at, stream), "cudaFreeAsync")
        self.node = self.captured(body)

    def graph_trim(self):
        check(self.rt.cudaGraphExecDestroy(self.node[1]), "cudaGraphExecDestroy")
        check(self.rt.cudaGraphDestroy(self.node[0]), "cudaGraphDestroy")
        check(self.rt.cudaDeviceGraphMemTrim(0), "cudaDeviceGraphMemTrim")

    def many_nodes(self, nodes):
        self.big = torch.cuda.CUDAGraph()
        x = torch.zeros(1024, device="cuda")
        with torch.cuda.graph(self.big):
            for _ in range(nodes):
                x.add_(1)
        self.big.replay()

    def execs_destroy(self):
        self.big.reset()
        self.big = None
        gc.collect()

    def execs_trim(self):
        check(self.rt.cudaDeviceGraphMemTrim(0), "cudaDeviceGraphMemTrim")

    def async_pool(self):
        self.pool = self.pointer("cudaDeviceGetDefaultMemPool", 0)
        most = ctypes.c_uint64(1 << 40)
        check(self.rt.cudaMemPoolSetAttribute(self.pool, 4, ctypes.byref(most)), "cudaMemPoolSetAttribute")
        at = self.pointer("cudaMallocAsync", ctypes.c_size_t(100 * MIB), None)
        check(self.rt.cudaFreeAsync(at, None), "cudaFreeAsync")
        torch.cuda.synchronize()

    def pool_trim(self):
        check(self.rt.cudaMemPoolTrimTo(self.pool, ctypes.c_size_t(0)), "cudaMemPoolTrimTo")

    def cublas(self):
        self.blas, self.handle = library("libcublas.so"), ctypes.c_void_p()
        check(self.blas.cublasCreate_v2(ctypes.byref(self.handle)), "cublasCreate")

    def cublas_destroy(self):
        check(self.blas.cublasDestroy_v2(self.handle), "cublasDestroy")

    def streams_destroy(self):
        for stream in self.streams:
            check(self.rt.cudaStreamDestroy(stream), "cudaStreamDestroy")

    def module(self):
        ptx = (b".version 7.0\n.target sm_50\n.address_size 64\n.visible .global .align 4 .b8 big[67108864];\n"
               b".visible .entry nothing()\n{\nret;\n}\n\0")
        self.loaded = ctypes.c_void_p()
        check(self.cu.cuModuleLoadData(ctypes.byref(self.loaded), ptx), "cuModuleLoadData")

    def module_unload(self):
        check(self.cu.cuModuleUnload(self.loaded), "cuModuleUnload")

    def managed_free(self):
        check(self.rt.cudaFree(self.array), "cudaFree")

    def direct_free(self):
        check(self.rt.cudaFree(self.direct), "cudaFree")

    def vmm(self):
        class Prop(ctypes.Structure):
            _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int), ("where", ctypes.c_int), ("id", ctypes.c_int),
                        ("meta", ctypes.c_void_p), ("flags", ctypes.c_ubyte * 8)]
        prop = Prop(type=1, where=1)
        self.virtual, self.physical = ctypes.c_uint64(), ctypes.c_uint64()
        size = ctypes.c_size_t(64 * MIB)
        check(self.cu.cuMemAddressReserve(ctypes.byref(self.virtual), size, ctypes.c_size_t(0), ctypes.c_uint64(0),
                                          ctypes.c_ulonglong(0)), "cuMemAddressReserve")
        check(self.cu.cuMemCreate(ctypes.byref(self.physical), size, ctypes.byref(prop), ctypes.c_ulonglong(0)), "cuMemCreate")
        check(self.cu.cuMemMap(self.virtual, size, ctypes.c_size_t(0), self.physical, ctypes.c_ulonglong(0)), "cuMemMap")

    def vmm_sleep(self):
        check(self.cu.cuMemUnmap(self.virtual, ctypes.c_size_t(64 * MIB)), "cuMemUnmap")
        check(self.cu.cuMemRelease(self.physical), "cuMemRelease")

    def nccl(self):
        self.rendezvous = tempfile.mkdtemp()
        torch.distributed.init_process_group("nccl", init_method="file://%s/ranks" % self.rendezvous, rank=0, world_size=1,
                                             device_id=torch.device("cuda", 0))
        torch.distributed.all_reduce(torch.ones(1024, device="cuda"))

    def nccl_destroy(self):
        torch.distributed.destroy_process_group()

    def pinned_free(self):
        self.pinned = None
        torch._C._host_emptyCache()

    def stack_limit(self):
        check(self.rt.cudaDeviceSetLimit(0, ctypes.c_size_t(8192)), "cudaDeviceSetLimit")

    def stack_limit_back(self):
        check(self.rt.cudaDeviceSetLimit(0, ctypes.c_size_t(1024)), "cudaDeviceSetLimit")


# Names of steps, each with the row that it gives back.
STEPS = (("empty_cache", "cached"), ("clear_workspaces", "workspace"), ("graph_reset", "held"),
         ("graph_trim", "graph-memory"), ("execs_destroy", "execs"), ("execs_trim", "kept"), ("pool_trim", "pool-idle"),
         ("cublas_destroy", "cublas"), ("fft_clear", "cufft"), ("streams_destroy", "streams"), ("module_unload", "code"),
         ("managed_free", "managed"), ("direct_free", "direct"), ("vmm_sleep", "vmm"), ("nccl_destroy", "nccl"),
         ("pinned_free", "hostmap"), ("stack_limit", "local"), ("stack_limit_back", "local"))


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("what", choices=("llama", "rows", "libraries"))
    ask.add_argument("--layers", type=int, default=12)
    ask.add_argument("--streams", action="store_true")
    ask.add_argument("--pinned-gib", type=float, default=1.0)
    ask.add_argument("--nodes", type=int, default=8000)
    ask = ask.parse_args()
    start = used()
    trained = list(train_llama(ask.layers) if ask.what == "llama" else train_small())
    rows, steps = None, STEPS[:2]
    if ask.what == "rows":
        rows, steps = Rows(ask.pinned_gib, ask.nodes), STEPS
    elif ask.what == "libraries":
        from libraries import STEPS as steps, Libraries
        rows = Libraries(library, check)
    step("give_back", "tensors", lambda: give_back(trained, ask.streams))
    for name, row in steps:
        call = {"empty_cache": torch.cuda.empty_cache, "clear_workspaces": clear_workspaces}.get(name)
        step(name, row, call or getattr(rows, name))
    print(json.dumps({"name": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda,
                      "start": start, "end": used()}), flush=True)


if __name__ == "__main__":
    main()
