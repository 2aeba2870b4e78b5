#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare calibrate on simulated GPUs: it must give back what they were made from."""

import json
import os
import re

from harness import BUILD, ROOT, case, check, check_equal, check_says, fixture, main, needs_exec

PROFILES = os.path.join(BUILD, "simgpu", "profiles")
# A cuDNN that has no plan for images of 4 and 5, and crashes at those of 9: the second number of a tensor is its batch.
CRASHING = """
#include <stdint.h>
#include <string.h>
struct descriptor { int kind; int64_t batch; };
static struct descriptor all[64];
static int64_t batch;
size_t cudnnGetVersion(void) { return 90102; }
int cudnnCreate(void **handle) { *handle = all; return 0; }
int cudnnBackendCreateDescriptor(int kind, void **out) { static int i; *out = &all[i++ % 64]; return 0; }
int cudnnBackendDestroyDescriptor(void *one) { return 0; }
int cudnnBackendFinalize(void *one) { return 0; }
int cudnnBackendSetAttribute(void *one, int name, int type, int64_t count, const void *values)
{
	if (name == 902)
		batch = *(const int64_t *)values;
	return 0;
}
int cudnnBackendGetAttribute(void *one, int name, int type, int64_t wanted, int64_t *count, void *values)
{
	*count = 1;
	if (name == 402)
		memcpy(values, &batch, sizeof(batch));
	if (batch == 9)
		*(volatile int *)0 = 0;
	return batch == 4 || batch == 5;
}
"""
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

# Another card: nothing of the H200 is built into the measurement.
OTHER = {
    "name": "Small GPU", "driver_version": "535.10", "cuda_version": "12020", "compute_major": "8",
    "compute_minor": "7", "pci_device_id": "0x12345678", "total": "4 GiB", "reserved": "100 MiB",
    "sm_count": "16", "threads_per_sm": "1536", "stack_default": "2 KiB", "local_extra": "1536 KiB",
    "printf_default": "1 MiB", "heap_default": "4 MiB", "l2_persisting_default": "0", "init": "1 MiB",
    "init_process": "128 KiB", "context": "151 MiB", "nvml_context_below": "1 MiB",
    "code_free": "1 MiB", "runtime": "30 MiB", "runtime_printf": "4 MiB", "runtime_malloc": "10 MiB",
    "heap_extra": "4 MiB", "suballoc_align": "256", "pitch_align": "32", "managed_step": "64 MiB",
    "streams_free": "3", "streams_per_step": "8", "streams_free_2": "20", "streams_per_step_2": "30",
    "graph_node": "1500", "graph_free": "3 MiB", "graph_param_small": "512",
    "graph_param_percent": "250", "graph_param_free": "2 MiB", "pool_step": "64 MiB",
    "event": "256", "first_launch": "6 MiB", "runtime_assert": "35 MiB", "graph_kept": "0",
    "graph_memset": "500", "graph_memcpy": "800", "graph_pool_step": "8 MiB",
}


def size(text):
    number, _, unit = text.partition(" ")
    return round(float(number) * UNITS[unit]) if unit else int(number, 0)


def read_profile(path):
    with open(path, encoding="utf-8") as lines:
        pairs = [line.split("=", 1) for line in lines if "=" in line and not line.startswith("#")]
    return {key.strip(): value.strip() for key, value in pairs}


def write_profile(box, name, values):
    path = box.path(name)
    with open(path, "w", encoding="utf-8") as out:
        out.writelines("%s = %s\n" % pair for pair in values.items())
    return path


def within():
    """By how much a fitted constant may be left open, by profile.def; the rest is exact."""
    with open(os.path.join(ROOT, "src/profile/profile.def"), encoding="utf-8") as text:
        rows = re.findall(r"^TARE_PROFILE\((\w+), \w+, (\w+), (\d+),", text.read(), re.M)
    check(len(rows) > 40, "profile.def is not understood")
    return {name: int(most) if how == "FITTED" else None if how == "GIVEN" else 0
            for name, how, most in rows}


def calibrate(box, *args, sim="h200", code=0, **more):
    needs_exec()
    done = box.tare("calibrate", "--json", *(["--sim", sim] if sim else []), *args, **more)
    check_equal(done.code, code, done)
    return {row["constant"]: row for row in json.loads(done.out)["constants"]}, json.loads(done.out)


def check_given_back(found, profile):
    for name, most in within().items():
        row = found[name]
        if most is None:
            check_equal(row["state"], "given", row)
            continue
        check_equal(row["state"], "measured", row)
        if row["text"] is not None:
            check_equal(row["text"], profile[name], row)
            continue
        wanted = size(profile[name])
        check(row["low"] <= wanted <= row["high"], "%s is %d" % (name, wanted), row)
        check(row["high"] - row["low"] <= most, "%s is too vague" % name, row)
        check(row["low"] <= row["value"] <= row["high"], row)


def check_rest(found, but, profile=None):
    """All but these are measured, and right."""
    profile = profile or read_profile(os.path.join(PROFILES, "h200.profile"))
    for name, row in found.items():
        if name in but or row["state"] == "given":
            continue
        check_equal(row["state"], "measured", row)
        if row["text"] is None:
            check(row["low"] <= size(profile[name]) <= row["high"], name, row)


def missing(found):
    return {name for name, row in found.items() if row["state"] not in ("measured", "given")}


@case
def gives_back_the_h200(box):
    found, all_of_it = calibrate(box, "--compare", "h200", "-o", "out.profile")
    check_given_back(found, read_profile(os.path.join(PROFILES, "h200.profile")))
    check_equal([row["readings"] for row in found.values() if row["readings"] not in (2, None)], [])
    check_equal(all_of_it["weighed_with"], "NVML")
    check(not any(row["differs"] for row in found.values()), found)
    check_equal({name for name, row in found.items() if row["differs"] is None},
                {"name", "uuid", "measured", "driver_version", "cuda_version", "nvml", "others", "pci_bus_first"})


@case
def gives_back_another_card(box):
    """And what it wrote is a profile, which once more gives itself back."""
    wanted = dict(read_profile(os.path.join(PROFILES, "h200.profile")), **OTHER)
    path = write_profile(box, "other.profile", wanted)
    found, _ = calibrate(box, "-o", "out.profile", sim=path)
    check_given_back(found, wanted)
    again, _ = calibrate(box, sim=box.path("out.profile"))
    check_given_back(again, read_profile(box.path("out.profile")))


@case
def modules_that_take_something(box):
    """What code takes is seen with the module around it, to a page or to its step."""
    wanted = dict(read_profile(os.path.join(PROFILES, "h200.profile")), module="64 KiB")
    found, _ = calibrate(box, "--quick", sim=write_profile(box, "other.profile", wanted))
    row = found["module"]
    check(row["low"] <= 65536 <= row["high"] and row["low"], row)
    check_rest(found, {"module", "code_step", "code_free"} | {n for n in found if "runtime" in n}, wanted)


@case
def quick_measures_once(box):
    found, _ = calibrate(box, "--quick", "--compare", "h200")
    check_equal({row["readings"] for row in found.values()}, {1, None})
    check_rest(found, ())


@case
def somebody_uses_the_gpu(box):
    """The counter moves between calls: nothing that was weighed is believed, what was asked is."""
    found, _ = calibrate(box, "-o", "out.profile", code=125,
                         env={"TARE_SIM_SCRIPT": "drift 2MiB"})
    for name, row in found.items():
        if name in ("context", "page", "graph_node", "init", "local_extra", "pool_step"):
            check_equal((name, row["state"], row["value"]), (name, "in use", None))
    check_rest(found, missing(found))
    check({"name", "total", "sm_count", "stack_default", "vmm_granularity"}.isdisjoint(missing(found)))
    with open(box.path("out.profile"), encoding="utf-8") as text:
        check_says(text.read(), "# not measured: GPU in use; a usual value:\ncontext = ")
    calibrate(box, sim=box.path("out.profile"))


@case
def a_neighbour_comes_and_goes(box):
    """However few constants can be measured then, none of them is wrong."""
    for script in ("noisy 100MiB 2000", "noisy-hidden 64MiB 100"):
        found, _ = calibrate(box, code=125, env={"TARE_SIM_SCRIPT": script})
        check({"name", "sm_count", "stack_default"}.isdisjoint(missing(found)))
        check_rest(found, missing(found))


@case
def another_process_has_the_driver(box):
    """What the driver takes once for all is taken already."""
    needs_exec()
    other = box.start(fixture("e2e_steps"), sim=True, stdin=-1)
    other.stdin.write(b"alloc 1000\n")
    other.stdin.flush()
    other.stdout.readline()
    found, _ = calibrate(box)
    other.communicate(b"quit\n")
    check_equal(missing(found), {"init"})
    check_says(found["init"]["why"], "another process")
    check_rest(found, {"init"})


@case
def without_nvml(box):
    found, all_of_it = calibrate(box, env={"TARE_SIM_SCRIPT": "no-nvml"})
    check_says(all_of_it["weighed_with"], "cuMemGetInfo")
    gone = {"init", "init_process", "driver_version", "pci_device_id", "reserved",
            "nvml_context_below"}
    check_equal(missing(found), gone)
    check_rest(found, gone | {"total"})


@case
def nvml_of_the_first_version(box):
    found, _ = calibrate(box, env={"TARE_SIM_SCRIPT": "nvml-v1-only"})
    check_equal(missing(found), {"reserved"})


@case
def old_driver(box):
    """It has no pools; older still, no graphs, no virtual memory."""
    found, _ = calibrate(box, env={"TARE_SIM_SCRIPT": "driver-version 11000"})
    check_equal(missing(found), {"pool_step", "graph_pool_step"})
    check_says(found["pool_step"]["why"], "no cuMemAllocAsync")
    graphs = {name for name in found if name.startswith("graph_")}
    found, _ = calibrate(box, env={"TARE_SIM_SCRIPT": "driver-version 9020"})
    check_equal(missing(found), graphs | {"pool_step", "vmm_granularity"})
    check_rest(found, missing(found) | {"cuda_version"})


@case
def calls_that_fail(box):
    """Each costs the constants that need it, and says which call it was."""
    for call, gone in (("cuMemAllocManaged", {"managed_step"}),
                       ("cuLinkCreate_v2", {"code_step", "code_free"}),
                       ("cuStreamCreate", {"stream_step", "streams_free", "streams_per_step",
                                           "streams_free_2", "streams_per_step_2",
                                           "graph_memcpy"})):
        found, _ = calibrate(box, env={"TARE_SIM_SCRIPT": "fail %s all CUDA_ERROR_NOT_SUPPORTED" % call})
        check_equal(missing(found), gone)
        for name in gone:
            check_says(found[name]["why"], call, "CUDA_ERROR_NOT_SUPPORTED")
        check_rest(found, gone)


@case
def driver_that_crashes(box):
    """It takes what was being measured with it, and nothing else."""
    found, _ = calibrate(box, code=125, env={"TARE_SIM_SCRIPT": "crash cuMemAllocAsync 1"})
    check_equal((missing(found), found["pool_step"]["state"]), ({"pool_step"}, "failed"))
    check_says(found["pool_step"]["why"], "the driver crashed", "allocating from a pool")
    check_rest(found, {"pool_step"})
    done = box.tare("calibrate", "--sim", "h200", env={"TARE_SIM_SCRIPT": "crash cuInit 1"})
    check_equal(done.code, 125, done)
    check_says(done.err, "the driver crashed", "tare doctor")


@case
def driver_that_hangs(box):
    found, _ = calibrate(box, code=125, env={"TARE_SIM_SCRIPT": "slow cuMemAllocManaged 3000000000",
                                             "TARE_TEST_CALIBRATE_MS": "5000"})
    check_equal((missing(found), found["managed_step"]["state"]), ({"managed_step"}, "failed"))
    check_says(found["managed_step"]["why"], "did not answer for 5 s", "touching managed memory")
    check_rest(found, {"managed_step"})


@case
def no_room(box):
    """A full card: what needs more room than there is is not measured, and nothing goes wrong."""
    found, _ = calibrate(box, env={"TARE_SIM_SCRIPT": "oom-above 900MiB"})
    check_says(found["page"]["why"], "CUDA_ERROR_OUT_OF_MEMORY")
    check_rest(found, missing(found))


@case
def the_second_gpu(box):
    found, _ = calibrate(box, "--device", "1", "--quick", env={"TARE_SIM_DEVICES": "2"})
    check_rest(found, {"pci_bus_first"})
    check_equal(found["pci_bus_first"]["value"], 1)


@case
def no_gpu(box):
    needs_exec()
    for env in ({"TARE_SIM_DEVICES": "0"}, {"CUDA_VISIBLE_DEVICES": ""}):
        done = box.tare("calibrate", sim=True, env=env)
        check_equal(done.code, 125, done)
        check_says(done.err, "no GPU", "tare doctor", "--sim h200")
        check_equal(done.out, "")
    done = box.tare("calibrate", "--sim", "h200", "--device", "3")
    check_equal(done.code, 125, done)
    check_says(done.err, "CUDA shows 1 GPU", "counted from 0")


@case
def usage(box):
    needs_exec()
    for args, words in ((["--sim", "gtx9000"], ["gtx9000", "no such profile", "--sim"]),
                        (["--compare", "gtx9000"], ["gtx9000", "no such profile", "--compare"]),
                        (["--device", "-1"], ["--device", "from 0"]),
                        (["extra"], ["extra"])):
        done = box.tare("calibrate", *args)
        check_equal(done.code, 2, done)
        check_says(done.err, *words)
        check_equal(done.out, "")


@case
def output_files(box):
    needs_exec()
    run = ("calibrate", "--sim", "h200", "--quick")
    with open(box.path("there"), "w", encoding="utf-8") as out:
        out.write("mine")
    done = box.tare(*run, "-o", "there")
    check_equal(done.code, 125, done)
    check_says(done.err, "there", "-f")
    done = box.tare(*run, "-f", "-o", "there")
    check_equal(done.code, 0, done)
    check_equal(read_profile(box.path("there"))["context"], "523.5625 MiB")
    done = box.tare(*run, "-o", "no/such/folder")
    check_equal(done.code, 125, done)
    check_says(done.err, "no/such/folder", "cannot be written")
    done = box.tare(*run, "-o", "-")
    check_equal(done.code, 0, done)
    check(done.out.startswith("# SPDX"), done)
    check_says(done.out, "# NVIDIA H200, driver 580.159.04, CUDA 13.0", "tare calibrate --sim h200",
               "context = 523.5625 MiB")
    check_says(done.err, "constants measured")


@case
def compare(box):
    other = dict(read_profile(os.path.join(PROFILES, "h200.profile")), context="500 MiB")
    path = write_profile(box, "other.profile", other)
    found, all_of_it = calibrate(box, "--compare", path, code=1)
    check_equal([name for name, row in found.items() if row["differs"]], ["context"])
    check_equal(found["context"]["profile_value"], 500 << 20)
    check_equal(all_of_it["compared_with"], path)


@case
def nothing_is_left(box):
    needs_exec()
    os.mkdir(box.path("tmp"))
    done = box.tare("calibrate", "--sim", "h200", "--quick",
                    env={"TARE_SIM_DIR": None, "TMPDIR": box.path("tmp")})
    check_equal(done.code, 0, done)
    check_equal(os.listdir(box.path("tmp")), [])
    check_equal(sorted(os.listdir(box.dir)), ["sim", "tmp"])


CONVOLUTION = "%s 0:64,32,1,1/32,1,1,1 0:%d,32,6,6/1152,36,6,1 0:%d,64,6,6/2304,36,6,1 0,0 1,1 1,1 0"


@case
def libraries(box):
    """What cuDNN takes for convolutions, asked of the simulated one, which knows what an H100 answered."""
    needs_exec()
    with open(os.path.join(ROOT, "tests/data/cudnn_workspaces.txt"), encoding="utf-8") as file:
        known = [line.split(" = ")[0] for line in file if line[0] != "#"]
    keys = known + known[:3] + [CONVOLUTION % (direction, n, n) for direction in ("fwd", "bwd_data", "bwd_filter") for n in (3, 77)]
    with open(box.path("keys"), "w", encoding="utf-8") as file:
        file.write("\n".join(["# convolutions", *keys, "fwd is no convolution", ""]))
    for sim in ("h100", "h200"):
        done = box.tare("calibrate", "--libraries", "keys", "--sim", sim, "--json")
        check_equal(done.code, 0, done)
        said = json.loads(done.out)
        check_equal((said["card"], said["simulated"], said["cudnn"]),
                    ({"h100": "NVIDIA H100 80GB HBM3", "h200": "NVIDIA H200"}[sim], True, "9.19.0"))
        check_equal([said[what] for what in ("asked", "answered", "refused", "lost", "not_understood")],
                    [len(known) + 6, len(known) + 6, 0, 0, 1])
        table = next(row for row in said["tables"] if "H100" in row["card"])
        check(len(known) <= table["known"] <= len(known) + 6, said)
        if sim == "h100":
            check_equal(table["equal"], table["known"])
    done = box.tare("calibrate", "--libraries", "-", "--sim", "h100", input=(keys[0] + "\n").encode())
    check_equal(done.code, 0, done)
    check_says(done.out, "NVIDIA H100 80GB HBM3 (simulated), cuDNN 9.19.0", "1 of 1 convolutions answered")


@case
def libraries_that_are_lost(box):
    """A cuDNN that crashes costs the convolution that it was asked for, and all others are answered."""
    needs_exec()
    keys = [CONVOLUTION % ("fwd", n, n) for n in range(1, 31)]
    with open(box.path("keys"), "w", encoding="utf-8") as file:
        file.write("\n".join(keys))
    with open(box.path("crashing.c"), "w", encoding="utf-8") as file:
        file.write(CRASHING)
    built = box.run(["cc", "-w", "-shared", "-fPIC", "-o", "crashing.so", "crashing.c"])
    check_equal(built.code, 0, built)
    done = box.tare("calibrate", "--libraries", "keys", "--sim", "h100", "--cudnn", box.path("crashing.so"), "--json")
    check_equal(done.code, 125, done)
    said = json.loads(done.out)
    check_equal([said[what] for what in ("asked", "answered", "refused", "lost")], [30, 27, 2, 1])
    check_equal(said["cudnn"], "9.1.2")
    done = box.tare("calibrate", "--libraries", "keys", "--sim", "h100", "--cudnn", box.path("crashing.so"))
    check_says(done.out, "1 were not answered", "crashed", "has no plan for 2")


@case
def libraries_usage(box):
    needs_exec()
    with open(box.path("keys"), "w", encoding="utf-8") as file:
        file.write(CONVOLUTION % ("fwd", 8, 8))
    with open(box.path("none"), "w", encoding="utf-8") as file:
        file.write("no convolution\n")
    sim = ["--sim", "h100"]
    for args, code, words in ((["keys", *sim, "-o", "table.conv"], 2, ["--libraries", "a simulated one"]),
                              (["keys", *sim, "--quick"], 2, ["--quick", "--libraries"]),
                              (["keys", *sim, "--compare", "h100"], 2, ["--compare", "--libraries"]),
                              (["none", *sim], 125, ["no line is a convolution", "fwd 0:64"]),
                              (["missing", *sim], 125, ["--libraries", "missing"]),
                              (["keys", *sim, "--cudnn", "missing.so"], 125, ["missing.so", "--cudnn"]),
                              (["keys", *sim, "--device", "7"], 125, ["GPU 7"])):
        done = box.tare("calibrate", "--libraries", *args)
        check_equal(done.code, code, done)
        check_says(done.err, *words)
        check_equal(done.out, "")
    check(not os.path.exists(box.path("table.conv")), "a simulated card made a table")


if __name__ == "__main__":
    main()
