# SPDX-License-Identifier: Apache-2.0
"""compare.py REAL SIMULATED: what run.sh said of both drivers. Memory may differ by one page of 2 MiB,
everything else must be equal; what is known to differ is listed here with its reason."""
import sys

KNOWN = {
    "pools.step_bytes": "pool allocations do not lie next to each other",
    "errors.module_garbage_result": "the simulated driver takes any image",
    "errors.resolve_old_status": "functions that CUDA 3.2 replaced are not there",
    "errors.resolve_old_same": "functions that CUDA 3.2 replaced are not there",
    "pending.after_copy_on_device_result": "a piece of work is done when another one is given",
    "pending.after_fill_result": "a piece of work is done when another one is given",
    "pending.destroyed_event_result": "documented as CUDA_ERROR_INVALID_HANDLE",
    "pending.destroyed_event_sync_result": "documented as CUDA_ERROR_INVALID_HANDLE",
    "pending.destroyed_event_record_result": "documented as CUDA_ERROR_INVALID_HANDLE",
    "pending.destroyed_event_destroy_result": "documented as CUDA_ERROR_INVALID_HANDLE",
    "modules_big_eager.load_100": "parts of a page that eager loading cannot use",
}
PAGE_KIB = 2048


def read(path):
    facts = {}
    with open(path) as lines:
        for line in lines:
            key, _, value = line.strip().partition(" ")
            unique, n = key, 2
            while unique in facts:
                unique, n = "%s#%d" % (key, n), n + 1
            facts[unique] = value
    return facts


def is_memory(key):
    return not any(word in key for word in ("_result", "_bytes", "_status", "_same"))


def verdict(key, real, sim):
    if real == sim:
        return "same"
    if real is None or sim is None:
        return "MISSING"
    if key in KNOWN:
        return KNOWN[key]
    if is_memory(key) and abs(int(real) - int(sim)) <= PAGE_KIB:
        return "within a page"
    return "DIFFERS"


def main():
    real, sim = read(sys.argv[1]), read(sys.argv[2])
    bad = same = 0
    print("%-45s %12s %12s" % ("KiB or as named", "real", "simulated"))
    for key in sorted(set(real) | set(sim)):
        what = verdict(key, real.get(key), sim.get(key))
        same += what == "same"
        bad += what in ("DIFFERS", "MISSING")
        if what != "same":
            print("%-45s %12s %12s  %s" % (key, real.get(key), sim.get(key), what))
    print("%d facts are the same, %d differ" % (same, bad))
    return bad > 0


sys.exit(main())
