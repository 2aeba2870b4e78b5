# SPDX-License-Identifier: Apache-2.0
"""Lattice fields in CUDA graphs: solvers captured once and replayed, each with memory of its own.

Six captures, as a program that generates configurations makes them: a preconditioner, the force for
three accuracies, an observable, a stochastic estimate. Every one prints what the GPU has in use after
it and by how much that changed. The program knows nothing of Tare; it marks its phases with NVTX.

    tare run -- python examples/lattice.py
    python examples/lattice.py --share-pool         one memory pool for all graphs
    python examples/lattice.py --cpu                the arithmetic alone, on a tiny lattice

Memory of a force graph: 2 fields per shift and a few more, 84 MiB x bs x L; every iteration adds some
180 nodes to the executable graph.
"""

import argparse
import contextlib
import sys

import torch

MASS = 0.5  # added to the operator; the smaller it is, the more iterations a solver needs
TINY = 1e-300
MIB = 2**20


def options(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bs", type=int, default=2, help="fields solved for at once")
    parser.add_argument("--L", type=int, default=6, help="length of the lattice; memory is proportional to it")
    parser.add_argument("--cross", type=int, help="its width (16; 4 with --cpu)")
    parser.add_argument("--asym", type=int, default=4, help="its time direction is so many times its width")
    parser.add_argument("--max-iter", help="iterations of the force graphs, in turn (800,400,200; 100,50 with --cpu)")
    parser.add_argument("--max-iter-se", type=int, default=200, help="iterations of the stochastic estimate")
    parser.add_argument("--nrv", type=int, default=10, help="random vectors of the estimate")
    parser.add_argument("--shifts", type=int, default=25, help="terms of the rational approximation in the force")
    parser.add_argument("--share-pool", action="store_true", help="all graphs allocate from one pool")
    parser.add_argument("--cpu", action="store_true", help="no GPU, no graphs")
    args = parser.parse_args(argv)
    try:
        args.max_iter = [int(n) for n in (args.max_iter or ("100,50" if args.cpu else "800,400,200")).split(",")]
    except ValueError:
        parser.error("--max-iter takes numbers with commas between them, such as 800,400,200")
    args.cross = args.cross or (4 if args.cpu else 16)
    if min(args.bs, args.L, args.cross, args.asym, args.nrv, args.max_iter_se, *args.max_iter) < 1 or args.shifts < 2:
        parser.error("sizes and iterations are at least 1, and there are 2 shifts or more")
    return args


# ---- the operator: MASS + 8 - neighbours, with a phase on every link; fields are [bs, part, L, S, S, T] ----

class Lattice:
    def __init__(self, args, device):
        self.shape = (args.L, args.cross, args.cross, args.asym * args.cross)
        self.device, self.bs = device, args.bs
        phases = [torch.rand(args.bs, 1, *self.shape, device=device) for _ in range(4)]
        self.links = [torch.polar(torch.ones_like(p), p) for p in phases]
        self.back = [u.conj().resolve_conj() for u in self.links]

    def random(self, parts, bs=None):
        return torch.randn(bs or self.bs, parts, *self.shape, dtype=torch.complex64, device=self.device)

    def apply(self, f):
        out = f * (MASS + 8)
        for axis, (link, back) in enumerate(zip(self.links, self.back), 2):
            out -= link * torch.roll(f, -1, axis)
            out -= torch.roll(back * f, 1, axis)
        return out


def dot(a, b):
    return (a.conj() * b).real.sum(dim=(1, 2, 3, 4, 5), dtype=torch.float64)


def on_fields(scalar):
    """[…, bs] as a factor of fields."""
    return scalar.to(torch.float32).view(*scalar.shape, 1, 1, 1, 1, 1)


# ---- solvers, of a fixed number of iterations so that they can be captured ----

def conjugate_gradient(apply, source, iterations, precondition=None):
    answer, rest = torch.zeros_like(source), source.clone()
    near = precondition(rest) if precondition else rest
    way, norm = near.clone(), dot(rest, near)
    stop = norm * 1e-14
    for _ in range(iterations):
        image = apply(way)
        length = torch.where(norm > stop, norm / (dot(way, image) + TINY), torch.zeros_like(norm))
        answer += on_fields(length) * way
        rest -= on_fields(length) * image
        near = precondition(rest) if precondition else rest
        new = dot(rest, near)
        way = near + on_fields(new / (norm + TINY)) * way
        norm = new
    return answer


def shifted_gradients(apply, source, shifts, iterations):
    """(A + shift) x = source for every shift, in the Krylov space of the first (Jegerlehner 1996)."""
    nr, bs = len(shifts), source.shape[0]
    answers = [torch.zeros_like(source) for _ in range(nr)]
    ways = [source.clone() for _ in range(nr)]
    rest, norm = source.clone(), dot(source, source)
    stop = norm * 1e-14
    zeta = torch.ones(nr, bs, dtype=torch.float64, device=source.device)
    zeta_old, length_old, turn_old = zeta, torch.ones_like(norm), torch.zeros_like(norm)
    for _ in range(iterations):
        image = apply(ways[0])
        is_open = norm > stop
        length = torch.where(is_open, norm / (dot(ways[0], image) + TINY), torch.zeros_like(norm))
        below = length_old * zeta_old * (1 + length * shifts) + length * turn_old * (zeta_old - zeta)
        zeta_new = torch.where(is_open, zeta * zeta_old * length_old / (below + TINY), zeta)
        ratio = zeta_new / (zeta + TINY)
        rest -= on_fields(length) * image
        new = dot(rest, rest)
        turn = new / (norm + TINY)
        steps, turns, parts = (on_fields(s) for s in (length * ratio, turn * ratio**2, zeta_new))
        for k in range(nr):
            answers[k] += steps[k] * ways[k]
            ways[k] *= turns[k]
            ways[k] += parts[k] * rest
        zeta_old, zeta, length_old, turn_old, norm = zeta, zeta_new, torch.where(is_open, length, length_old), turn, new
    return answers


def shifts_of(count, device):
    shifts = [0.0] + [0.01 * 1.5**k for k in range(count - 1)]
    return torch.tensor(shifts, dtype=torch.float64, device=device).view(count, 1)


# ---- what is captured ----

def line_matrices(lattice):
    """The operator along L alone, one L x L matrix for every other coordinate."""
    length = lattice.shape[0]
    u = lattice.links[0][:, 0].permute(0, 2, 3, 4, 1)  # [bs, S, S, T, L]
    matrix = torch.zeros(*u.shape, length, dtype=u.dtype, device=u.device)
    matrix.diagonal(dim1=-2, dim2=-1).add_(MASS + 8)
    for x in range(length):
        matrix[..., x, (x + 1) % length] -= u[..., x]
        matrix[..., (x + 1) % length, x] -= u[..., x].conj()
    return matrix


def inverse(matrix, iterations=8):
    """Newton-Schulz: products only, so it can be captured."""
    one = torch.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
    out = one.expand_as(matrix) / (MASS + 8)
    for _ in range(iterations):
        out = out @ (2 * one - matrix @ out)
    return out


def along_lines(matrix, f):
    """matrix [bs, S, S, T, L, L] on every part of f [bs, part, L, S, S, T]."""
    return (matrix @ f.permute(0, 3, 4, 5, 2, 1)).permute(0, 5, 4, 1, 2, 3)


def force(lattice, source, shifts, iterations):
    """What moves the links: one real number for each, from the answers for all shifts."""
    total = torch.zeros(lattice.bs, 4, *lattice.shape, device=lattice.device)
    for answer in shifted_gradients(lattice.apply, source, shifts, iterations):
        for axis in range(4):
            hop = answer.conj() * lattice.links[axis] * torch.roll(answer, -1, axis + 2)
            total[:, axis] += hop.imag.sum(dim=1)
    return total


def residual(lattice, answer, source, shift=0.0):
    rest = lattice.apply(answer) + shift * answer - source
    return float((dot(rest, rest) / dot(source, source)).max().sqrt())


class Captures:
    """Runs a function into a CUDA graph and replays it; without a GPU it just runs it."""

    def __init__(self, args, device):
        self.is_gpu = device.type == "cuda"
        self.pool = torch.cuda.graph_pool_handle() if args.share_pool and self.is_gpu else None
        self.graphs, self.last = [], 0
        print("%-28s used %9.2f MiB" % ("before the first graph", self.used() / MIB))

    def used(self):
        if not self.is_gpu:
            return 0
        torch.cuda.synchronize()
        free, total = torch.cuda.mem_get_info()
        return total - free

    @contextlib.contextmanager
    def phase(self, name):
        if self.is_gpu:
            torch.cuda.nvtx.range_push(name)
        yield
        if self.is_gpu:
            torch.cuda.nvtx.range_pop()

    def add(self, name, out, function):
        """`function` gives a tensor, or several; it is copied to `out`, which outlives the graph's memory."""
        if self.is_gpu:
            torch.cuda.empty_cache()  # what was computed between the captures is no part of this one
        self.last, reserved = self.used(), torch.cuda.memory_reserved() if self.is_gpu else 0
        with self.phase(name):
            if self.is_gpu:
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, pool=self.pool):
                    out.copy_(function())
                graph.replay()
                torch.cuda.synchronize()
                self.graphs.append(graph)
            else:
                out.copy_(function())
        used = self.used()
        print("After %-22s used %9.2f MiB, diff %8.2f, of it PyTorch's %8.2f" % (
            name + ":", used / MIB, (used - self.last) / MIB,
            (torch.cuda.memory_reserved() - reserved) / MIB if self.is_gpu else 0), flush=True)
        return out


def run(args, device):
    torch.manual_seed(1)
    lattice = Lattice(args, device)
    shifts, source = shifts_of(args.shifts, device), lattice.random(12)
    noise = lattice.random(args.nrv)
    answer = torch.empty_like(source)
    precon = torch.empty(args.bs, *lattice.shape[1:], args.L, args.L, dtype=torch.complex64, device=device)
    forces = torch.empty(args.bs, 4, *lattice.shape, device=device)
    estimate = torch.empty(args.bs, args.nrv, dtype=torch.float64, device=device)
    captures = Captures(args, device)
    bad = []

    captures.add("setting precon", precon, lambda: inverse(line_matrices(lattice)))
    error = float((precon @ line_matrices(lattice) - torch.eye(args.L, device=device)).abs().max())
    bad += ["the preconditioner is off by %.1e" % error] if error > 1e-4 else []

    for iterations in args.max_iter:
        captures.add("force_graph max_iter=%d" % iterations, forces,
                     lambda n=iterations: force(lattice, source, shifts, n))
        bad += [] if bool(torch.isfinite(forces).all()) else ["the force is not finite"]

    captures.add("fermion_obsr_graph", answer, lambda: conjugate_gradient(
        lattice.apply, source, args.max_iter_se, lambda f: along_lines(precon, f)))
    rest = residual(lattice, answer, source)
    bad += ["the observable's residual is %.1e" % rest] if args.max_iter_se >= 100 and rest > 1e-4 else []

    captures.add("se_graph", estimate, lambda: (noise.conj() * conjugate_gradient(
        lattice.apply, noise, args.max_iter_se)).real.sum(dim=(2, 3, 4, 5), dtype=torch.float64))
    print("residual of the observable %.1e, of the preconditioner %.1e; 1/A is about %.3f" % (
        rest, error, float(estimate.mean()) / noise[0, 0].numel()))
    return bad


def warm_up(args, device):
    """Loads kernels and libraries on a tiny lattice, checks every shift there, and gives its memory back."""
    tiny = argparse.Namespace(**vars(args))
    tiny.bs, tiny.cross = 1, 2
    lattice = Lattice(tiny, device)
    precon = inverse(line_matrices(lattice))
    source, shifts = lattice.random(12), shifts_of(args.shifts, device)
    force(lattice, source, shifts[:2], 2)
    conjugate_gradient(lattice.apply, source, 2, lambda f: along_lines(precon, f))
    answers = shifted_gradients(lattice.apply, source, shifts, 100)
    worst = max(residual(lattice, x, source, float(s)) for x, s in zip(answers, shifts))
    if device.type == "cuda":
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
    return ["a shifted residual is %.1e" % worst] if worst > 1e-4 else []


def main():
    args = options()
    if not args.cpu and not torch.cuda.is_available():
        sys.exit("lattice.py: there is no GPU here; --cpu runs the arithmetic without one")
    device = torch.device("cpu" if args.cpu else "cuda")
    with torch.no_grad():
        bad = warm_up(args, device) + run(args, device)
    sys.exit("lattice.py: " + "; ".join(bad) if bad else 0)


if __name__ == "__main__":
    main()
