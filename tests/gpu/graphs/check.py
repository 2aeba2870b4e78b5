# SPDX-License-Identifier: Apache-2.0
"""tare.graphs on a real GPU: what must be right, and what must be refused. Prints ok or not ok."""

import random
import threading
import traceback

import torch

from tare import graphs

failed = 0


def test(function):
    global failed
    try:
        function()
        print("ok", function.__name__, flush=True)
    except BaseException:
        failed += 1
        print("not ok", function.__name__, flush=True)
        traceback.print_exc()


def raises(name, function, *args):
    try:
        function(*args)
    except graphs.Error as error:
        assert error.name == name, error
        return
    raise AssertionError(f"{name} was not raised")


def mlp(width=256, layers=4):
    torch.manual_seed(1)
    parts = []
    for _ in range(layers):
        parts += [torch.nn.Linear(width, width), torch.nn.GELU()]
    return torch.nn.Sequential(*parts).cuda().eval()


@torch.no_grad()
def every_size_is_right():
    net, x, arena = mlp(), torch.randn(64, 256, device="cuda"), graphs.Graphs()
    sizes = random.Random(1).sample(range(1, 65), 64)
    for bs in sizes:
        net(x[:bs])
        with arena.capture(bs) as graph:
            graph.outputs = net(x[:bs])
    for bs in random.Random(2).choices(sizes, k=300):
        assert torch.equal(arena.replay(bs), net(x[:bs])), bs
    print("#", arena.stats(), arena.groups())
    assert arena.stats()["moves"] == 0
    arena.destroy()


@torch.no_grad()
def stale_outputs_are_refused():
    x, arena = torch.ones(8, 1024, device="cuda"), graphs.Graphs()
    for bs in (4, 8):
        with arena.capture(bs) as graph:
            graph.outputs = x[:bs] * bs
    four = arena.replay(4)
    view = four[1:]
    total = four.sum()
    assert type(total) is torch.Tensor and total.item() == 4 * 4 * 1024
    arena.replay(8)
    for use in (lambda: four + 1, lambda: torch.add(x[:4], four), lambda: view.sum(), four.clone,
                lambda: torch.cat([x, four]), four.data_ptr, lambda: four.cpu(), lambda: str(four)):
        raises("STALE", use)
    assert four.shape == (4, 1024) and four.device.type == "cuda"
    arena.replay(4)
    assert view.sum().item() == 3 * 4 * 1024
    arena.destroy()


@torch.no_grad()
def random_numbers_go_on():
    x, arena = torch.ones(64, 4096, device="cuda"), graphs.Graphs()
    for bs in (16, 64):
        with arena.capture(bs) as graph:
            graph.outputs = torch.nn.functional.dropout(x[:bs], 0.5)
    seen = [arena.replay(bs).clone() for bs in (16, 16, 64, 64)]
    assert not torch.equal(seen[0], seen[1]) and not torch.equal(seen[2], seen[3])
    torch.manual_seed(5)
    eager = [torch.nn.functional.dropout(x[:bs], 0.5) for bs in (16, 64, 16)]
    torch.manual_seed(5)
    for bs, want in zip((16, 64, 16), eager):
        assert torch.equal(arena.replay(bs), want)
    arena.destroy()


@torch.no_grad()
def pieces_work():
    net, x, arena = mlp(), torch.randn(32, 256, device="cuda"), graphs.Graphs()
    for bs in (32, 16, 8):
        for declared in (True, False):
            with arena.capture((bs, declared, 0)) as first:
                first.outputs = net(x[:bs])
            with arena.capture((bs, declared, 1), after=(bs, declared, 0) if declared else None) as second:
                second.outputs = net(first.outputs)
    assert arena.stats()["moves"] >= 3, arena.stats()
    for bs in (8, 32, 16):
        for declared in (True, False):
            arena.replay((bs, declared, 0))
            assert torch.equal(arena.replay((bs, declared, 1)), net(net(x[:bs])))
    raises("STALE", arena.replay, (32, True, 1))
    arena.destroy()


@torch.no_grad()
def installed_graphs_need_no_other_edit():
    net, x = mlp(), torch.randn(32, 256, device="cuda")
    graphs.install()
    try:
        held, outs = {}, {}
        for bs in range(1, 33):
            net(x[:bs])
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g):
                outs[bs] = net(x[:bs])
            held[bs] = g
        for bs in random.Random(1).choices(range(1, 33), k=100):
            held[bs].replay()
            assert torch.equal(outs[bs], net(x[:bs]))
        assert graphs.stats()["captures"] == 32
        raises("STALE", lambda: outs[1 + bs % 32] + 1)
        del held[7], outs[7]
        g = None
        assert graphs.stats()["captures"] == 31, graphs.stats()
        small = torch.nn.Linear(8, 8).cuda()
        with torch.enable_grad():
            made = torch.cuda.make_graphed_callables(small, (torch.randn(4, 8, device="cuda"),))
            made(torch.randn(4, 8, device="cuda")).sum().backward()
    finally:
        graphs.uninstall()


@torch.no_grad()
def out_of_memory_leaves_the_rest_alone():
    x = torch.ones(64, 1 << 20, device="cuda")
    arena = graphs.Graphs(limit_bytes=64 << 20)
    with arena.capture(4) as graph:
        graph.outputs = x[:4] + 1
    try:
        with arena.capture(64) as graph:
            graph.outputs = x + 1
        raise AssertionError("no error")
    except (torch.OutOfMemoryError, graphs.Error):
        pass
    torch.cuda.synchronize()
    assert arena.replay(4).sum().item() == 8 * (1 << 20)
    arena.destroy()


@torch.no_grad()
def two_streams_stay_in_order():
    x, arena = torch.randn(64, 65536, device="cuda"), graphs.Graphs()
    want = {bs: torch.relu(x[:bs] * bs) + 1 for bs in (8, 32, 64)}
    for bs in want:
        with arena.capture(bs) as graph:
            graph.outputs = torch.relu(x[:bs] * bs) + 1
    lock, wrong = threading.Lock(), []

    def work(seed):
        chosen = random.Random(seed)
        stream = torch.cuda.Stream()
        with torch.no_grad(), torch.cuda.stream(stream):
            for _ in range(300):
                bs = chosen.choice(list(want))
                with lock:  # a replay and the copy of its output belong together
                    copy = arena.replay(bs).clone()
                    stream.synchronize()
                wrong.append(not torch.equal(copy, want[bs]))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not any(wrong) and len(wrong) == 600
    # And without waiting: launches from two streams overlap nowhere, so the last one is whole.
    a, b = torch.cuda.Stream(), torch.cuda.Stream()
    for at in range(500):
        with torch.cuda.stream(a):
            arena.replay(64)
        with torch.cuda.stream(b):
            y = arena.replay((8, 32)[at % 2]).clone()
        if at % 50 == 0:
            torch.cuda.synchronize()
            assert torch.equal(y, want[(8, 32)[at % 2]])
    torch.cuda.synchronize()
    arena.destroy()


@torch.no_grad()
def everything_is_given_back():
    def used():
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        free, total = torch.cuda.mem_get_info()
        return total - free

    x = torch.ones(64, 1 << 20, device="cuda")
    levels = []
    for _ in range(4):
        arena = graphs.Graphs()
        for bs in (64, 32, 16):
            with arena.capture(bs) as graph:
                graph.outputs = x[:bs] * 2 + 1
            arena.replay(bs)
        del graph
        arena.destroy()
        del arena
        levels.append(used())
    assert levels[-1] - levels[0] <= 2 << 20, levels


for function in (every_size_is_right, stale_outputs_are_refused, random_numbers_go_on, pieces_work,
                 installed_graphs_need_no_other_edit, out_of_memory_leaves_the_rest_alone,
                 two_streams_stay_in_order, everything_is_given_back):
    test(function)
raise SystemExit(failed > 0)
