# SPDX-License-Identifier: Apache-2.0
"""PyTorch's caching allocator once more, small and slow, for tests: it writes down what it does as a memory snapshot has it.

Plain segments only, by the rules of 2.11. src/allocator is another program of the same rules; where the two differ, one is wrong.
"""

import random

MIB = 1 << 20

# What torch said at the end of snapshots recorded on an H200: allocated, reserved, and the most of both.
TORCH = {
    "snap_exp": (86033408, 117440512, 88130560, 117440512),
    "snap_graph": (86033408, 109051904, 88130560, 109051904),
    "snap_oom": (1871416832, 2141192192, 2036240896, 2141192192),
    "snap_frag": (889246208, 1482686464, 1201600000, 1482686464),
}
UNLIMITED = (1 << 64) - 1


class Block:
    def __init__(self, address, size, segment):
        self.address, self.size, self.segment = address, size, segment
        self.asked, self.state, self.uses, self.since = 0, "inactive", False, 0
        self.previous = self.next = None

    def is_free(self):
        return self.state == "inactive"


class Allocator:
    def __init__(self, capacity=UNLIMITED, limit=None, max_split=UNLIMITED, gc=0.0, divisions=0, seed=0):
        self.capacity, self.limit, self.max_split, self.gc, self.divisions = capacity, limit, max_split, gc, divisions
        self.segments, self.free_blocks, self.trace = [], {}, []
        self.searches, self.reserved, self.allocated = {}, 0, 0
        self.peak_reserved = self.peak_allocated = 0
        self.dice = random.Random(seed)
        self.next_address, self.holes = 0x7F0000000000, []
        self.released_pools, self.pending = [], []

    def say(self, action, address, size, stream, **more):
        self.trace.append(dict({"action": action, "addr": address, "size": size, "stream": stream}, **more))

    def round(self, size):
        if size < 512:
            return 512
        if self.divisions > 1 and size > 512 * self.divisions:
            floor = 1 << (size.bit_length() - 1)
            step = floor // self.divisions
            return -(-size // step) * step
        return -(-size // 512) * 512

    def pool_of(self, size, pool):
        return pool, size <= MIB

    def find(self, where, stream, size):
        """The best fit; the lowest address of equal ones."""
        self.searches[where] = self.searches.get(where, 0) + 1
        fits = [b for b in self.free_blocks.get(where, ()) if b.segment["stream"] == stream and b.size >= size]
        if not fits:
            return None
        b = min(fits, key=lambda b: (b.size, b.address))
        if size < self.max_split <= b.size or (size >= self.max_split and b.size >= size + 20 * MIB):
            return None
        self.free_blocks[where].remove(b)
        return b

    def driver(self, size):
        if self.limit is not None and self.reserved + size > self.limit:
            return None
        if self.reserved + -(-size // (2 * MIB)) * 2 * MIB > self.capacity:
            return None
        at = self.dice.randrange(len(self.holes) + 1)  # as cudaMalloc does, sometimes where something was
        if at < len(self.holes) and self.holes[at][1] >= size:
            address, left = self.holes.pop(at)
            if left > size:
                self.holes.append((address + size, left - size))
            return address
        self.next_address -= size + self.dice.randrange(3) * 2 * MIB
        return self.next_address

    def grow(self, where, stream, size):
        whole = 2 * MIB if size <= MIB else 20 * MIB if size < 10 * MIB else -(-size // (2 * MIB)) * 2 * MIB
        address = self.driver(whole)
        if address is None:
            return None
        segment = {"address": address, "size": whole, "stream": stream, "where": where}
        b = segment["first"] = Block(address, whole, segment)
        self.segments.append(segment)
        self.reserved += whole
        self.peak_reserved = max(self.peak_reserved, self.reserved)
        self.say("segment_alloc", address, whole, stream)
        return b

    def release(self, b):
        self.free_blocks[b.segment["where"]].remove(b)
        self.segments.remove(b.segment)
        self.reserved -= b.size
        self.holes.append((b.address, b.size))
        self.say("segment_free", b.address, b.size, b.segment["stream"])

    def ordered(self, where):
        return sorted(self.free_blocks.get(where, ()), key=lambda b: (b.segment["stream"], b.size, b.address))

    def collect(self):
        threshold = int(self.gc * self.limit)
        if self.reserved <= threshold:
            return
        target, done = self.reserved - threshold, 0
        where = (0, False)
        age = lambda b: self.searches[where] - b.since
        old = [b for b in self.ordered(where) if not b.previous and not b.next]
        total, left = sum(map(age, old)), len(old)
        while left and done < target:
            cut, any_freed = total / left, False
            for b in self.ordered(where):
                if not b.previous and not b.next and age(b) >= cut:
                    done, total, left, any_freed = done + b.size, total - age(b), left - 1, True
                    self.release(b)
            if not any_freed:
                break

    def release_enough(self, where, stream, size):
        if self.max_split == UNLIMITED:
            return False
        key = max(size, self.max_split)
        mine = [b for b in self.ordered(where) if b.segment["stream"] == stream]
        fits = [b for b in mine if b.size >= key]
        if fits:
            self.release(fits[0])
            return True
        done = 0
        for b in reversed(mine):
            if done >= key or b.size < self.max_split:
                break
            done += b.size
            self.release(b)
        return done >= key

    def empty_cache(self):
        for b in list(self.pending):
            self.complete(b)
        for where in [(0, False), (0, True)] + [(p, s) for p in self.released_pools for s in (True, False)]:
            for b in self.ordered(where):
                if not b.previous and not b.next:
                    self.release(b)

    def malloc(self, asked, stream=0, pool=0):
        size = self.round(asked)
        where = self.pool_of(size, pool)
        b = self.find(where, stream, size)
        if not b:
            if self.gc and self.limit is not None:
                self.collect()
            b = self.grow(where, stream, size)
            if not b and self.release_enough(where, stream, size):
                b = self.grow(where, stream, size)
            if not b:
                self.empty_cache()
                b = self.grow(where, stream, size)
        if not b:
            self.trace.append({"action": "oom", "device_free": 1 << 37, "size": size, "stream": stream})
            return None
        rest = b.size - size
        if rest >= 512 if where[1] else size < self.max_split and rest > MIB:
            r = Block(b.address + size, rest, b.segment)
            r.previous, r.next, b.next, b.size = b, b.next, r, size
            if r.next:
                r.next.previous = r
            self.add_free(r)
        b.state, b.asked, b.uses = "active_allocated", asked, False
        self.allocated += b.size
        self.peak_allocated = max(self.peak_allocated, self.allocated)
        self.say("alloc", b.address, asked, stream)
        return b

    def add_free(self, b):
        where = b.segment["where"]
        b.since = self.searches.get(where, 0)
        self.free_blocks.setdefault(where, []).append(b)

    def free(self, b):
        self.allocated -= b.size
        self.say("free_requested", b.address, b.asked, b.segment["stream"])
        if b.uses:
            b.state = "active_pending_free"
            self.pending.append(b)
        else:
            self.complete(b)

    def complete(self, b):
        if b in self.pending:
            self.pending.remove(b)
        self.say("free_completed", b.address, b.asked, b.segment["stream"])
        b.state = "inactive"
        for n in (b.previous, b.next):
            if n and n.is_free():
                self.free_blocks[b.segment["where"]].remove(n)
                first, second = (n, b) if n is b.previous else (b, n)
                b.address, b.size = first.address, first.size + second.size
                b.previous, b.next = first.previous, second.next
                if b.previous:
                    b.previous.next = b
                else:
                    b.segment["first"] = b
                if b.next:
                    b.next.previous = b
        self.add_free(b)

    def snapshot(self, kept=None):
        """As torch.cuda.memory._snapshot() has it; of the events only the last `kept`."""
        empty = []
        segments = []
        for s in sorted(self.segments, key=lambda s: s["address"]):
            blocks, b = [], s["first"]
            while b:
                blocks.append({"address": b.address, "size": b.size, "requested_size": b.asked, "state": b.state,
                               "frames": empty})
                b = b.next
            pool = s["where"][0]
            segments.append({"device": 0, "address": s["address"], "total_size": s["size"], "stream": s["stream"],
                             "segment_type": "small" if s["where"][1] else "large", "is_expandable": False,
                             "segment_pool_id": (pool, 0), "frames": empty, "blocks": blocks})
        return {"segments": segments, "device_traces": [self.trace[-kept:] if kept else self.trace],
                "allocator_settings": {
                    "PYTORCH_CUDA_ALLOC_CONF": "", "expandable_segments": False,
                    "max_split_size": -1 if self.max_split == UNLIMITED else self.max_split,
                    "garbage_collection_threshold": float(self.gc),
                    "roundup_power2_divisions": {str(1 << i): self.divisions for i in range(16)}},
                "external_annotations": []}


def course(a, steps, seed, streams=(0,), pools=(0,), empty=0.0, shared=0.0, most=60 * MIB):
    """Random requests and frees; what is in use at the end stays."""
    dice, live = random.Random(seed), []
    for _ in range(steps):
        if live and (len(live) > 60 or dice.random() < 0.48):
            b = live.pop(dice.randrange(len(live)))
            b.uses = dice.random() < shared
            a.free(b)
        else:
            size = dice.randrange(1, dice.choice((3000, 900000, 4 * MIB, most)))
            b = a.malloc(size, dice.choice(streams), dice.choice(pools))
            if b:
                live.append(b)
        while a.pending and dice.random() < 0.3:
            a.complete(a.pending[0])
        if dice.random() < empty:
            a.empty_cache()
    return live
