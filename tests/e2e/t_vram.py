#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare run --vram and --card: a large GPU answers as a small one would."""

import os
import re
import signal

from harness import (MIB, ROOT, WRAPPER, case, check, check_equal, check_says, fixture, main,
                     needs_exec, needs_own_command, record_args, tare_argv)

GIB = 1 << 30


def profile(box, file_name="small.profile", **changes):
    """The H200 with other figures; its path."""
    with open(os.path.join(ROOT, "simgpu", "profiles", "h200.profile"), encoding="utf-8") as file:
        text = file.read()
    for key, value in changes.items():
        text, found = re.subn(r"(?m)^%s = .*$" % key, "%s = %s" % (key, value), text)
        check_equal(found, 1, key)
    with open(box.path(file_name), "w", encoding="utf-8") as file:
        file.write(text)
    return box.path(file_name)


def refused(box, rec="rec.tare"):
    return [event for event in box.events(rec) if "refused" in event.get("flags", "")]


def on_small_card(box, *args, **figures):
    figures = figures or {"total": "8 GiB", "reserved": "0"}
    return box.run(fixture("e2e_vram", *args), sim=True,
                   env={"TARE_SIM_PROFILE": profile(box, **figures), "TARE_SIM_DIR": None})


@case
def answers_as_a_small_card_does(box):
    """Every kind of memory in random order: call by call the same results, and the same is free."""
    for seed in (1, 2, 3) if WRAPPER else range(1, 13):
        rec = "rec%d.tare" % seed
        done = box.record(fixture("e2e_vram", "sequence", str(seed), "1500"), rec=rec,
                          options=("--vram", "8GiB"))
        alone = on_small_card(box, "sequence", str(seed), "1500")
        for mine, theirs in zip(done.out.splitlines(), alone.out.splitlines()):
            check_equal(mine, theirs, "seed %d" % seed)
        check_equal(done.out, alone.out)
        check("refused 0" not in done.out, "the card was never full", seed)


@case
def everybody_sees_the_small_card(box):
    """CUDA, NVML in both versions, linked or looked up, by ctypes too; old and partitioned drivers."""
    small = profile(box, "seen.profile", total="8 GiB", reserved="0")
    python = box.path("sizes.py")
    with open(python, "w", encoding="utf-8") as file:
        file.write("import ctypes\n"
                   "nvml = ctypes.CDLL('libnvidia-ml.so.1')\n"
                   "nvml.nvmlInit_v2()\n"
                   "device, memory = ctypes.c_void_p(), (ctypes.c_ulonglong * 3)()\n"
                   "nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))\n"
                   "nvml.nvmlDeviceGetMemoryInfo(device, memory)\n"
                   "print(list(memory))\n")
    programs = [fixture("e2e_vram_nvml"), fixture("e2e_vram", "sizes")]
    if not WRAPPER:
        programs.append(["python3", python])
    for script in ("", "nvml-v1-only", "no-nvml", "nvml-not-supported memory", "pid-offset 1000"):
        for number, program in enumerate(programs):
            env = {"TARE_SIM_SCRIPT": script} if script else {}
            if "e2e_vram_nvml" in program[-1] and script in ("no-nvml", "nvml-not-supported memory"):
                continue
            if "python3" in program and script:
                continue
            done = box.record(program, rec="rec%s%d.tare" % (script.replace(" ", "-"), number),
                              options=("--vram", "8GiB"), env=env)
            alone = box.run(program, sim=True, env=dict(env, TARE_SIM_PROFILE=small, TARE_SIM_DIR=None))
            if script == "nvml-v1-only":
                continue  # its reserve is not told, and the small card has none
            check_equal(done.out, alone.out, script)


@case
def the_reserve_of_a_profile_is_kept(box):
    small = profile(box, "reserve.profile", total="8 GiB", reserved="100 MiB")
    done = box.record(fixture("e2e_vram_nvml"), options=("--card", small))
    alone = box.run(fixture("e2e_vram_nvml"), sim=True, env={"TARE_SIM_PROFILE": small, "TARE_SIM_DIR": None})
    check_equal(done.out, alone.out)


OTHER = {"name": "NVIDIA Example", "total": "8 GiB", "reserved": "200 MiB", "context": "310.5 MiB",
         "sm_count": "46", "threads_per_sm": "1536"}


@case
def answers_as_the_card_of_a_profile_does(box):
    """Context and local memory are those of the other card, and so is every answer."""
    card = profile(box, "card.profile", **OTHER)
    for seed in (1, 2) if WRAPPER else range(1, 7):
        rec = "rec%d.tare" % seed
        done = box.record(fixture("e2e_vram", "sequence", str(seed), "1500"), rec=rec,
                          options=("--card", card))
        alone = on_small_card(box, "sequence", str(seed), "1500", **OTHER)
        check_equal(done.out, alone.out, "seed %d" % seed)
    device = box.report(rec)["devices"][0]
    check_equal(device["unexplained_bytes"], 0)
    check_equal(device["card"]["profile"], "NVIDIA Example")
    check_equal(device["card"]["context_bytes"], 325582848)
    check_equal(device["card"]["total_bytes"] - device["card"]["reserved_bytes"], (8 << 30) - 200 * MIB)


@case
def the_report_tells_of_the_card(box):
    done = box.record(fixture("e2e_vram", "sequence", "3", "1500"), options=("--vram", "8GiB"))
    free = int(done.out.split("free ")[-1].split()[0])
    for at in ("peak", "end"):
        device = box.report(at=at)["devices"][0]
        check_equal(device["unexplained_bytes"], 0)
        check_equal(device["card"]["total_bytes"], 8 * GIB)
        check_equal(device["card"]["profile"], None)
        check_equal(device["card"]["used_bytes"] + device["card"]["free_bytes"], 8 * GIB)
        check_equal(sum(row["count"] for row in device["refused"]), len(refused(box)))
    check_equal(device["card"]["free_bytes"], free, "not what cuMemGetInfo said last")
    text = box.tare("report", "rec.tare").out
    check_says(text, "card of 8,192 MiB (--vram) on NVIDIA H200", "free on the card", "refused: ",
               "--card PROFILE")


@case
def a_recording_without_its_events_tells_the_same(box):
    args = fixture("e2e_vram", "sequence", "3", "6000")
    box.record(args, rec="whole.tare", options=("--vram", "8GiB"))
    whole = box.report("whole.tare")
    box.drop_events("whole.tare")
    check_equal(box.report("whole.tare"), whole)


@case
def what_the_driver_refuses_is_given_back(box):
    """Failures of the driver's own, in the middle: nothing stays reserved for them."""
    script = ";".join("fail %s %d CUDA_ERROR_OUT_OF_MEMORY" % (call, n) for call, n in (
        ("cuMemAlloc_v2", 3), ("cuMemCreate", 2), ("cuArrayCreate_v2", 2), ("cuMemAllocAsync", 2)))
    done = box.record(fixture("e2e_vram", "race", "5"), options=("--vram", "8GiB"),
                      env={"TARE_SIM_SCRIPT": script})
    used = int(done.out.split()[1])
    check(8 * GIB - 2 * MIB < used <= 8 * GIB, used - 8 * GIB, done)


@case
def forked_children_are_within_it(box):
    needs_exec()
    for how in ("before", "after", "idle"):
        box.record(fixture("e2e_fork", how), rec=how + ".tare", options=("--vram", "8GiB"))


@case
def refusals_are_recorded(box):
    done = box.record(fixture("e2e_vram", "sequence", "1", "1500"), options=("--vram", "8GiB"))
    events = refused(box)
    said = int(done.out.split("refused ")[-1])
    check_equal(len(events), said)
    for event in events:
        check_equal(event["result"], 2)
        check(0 < event["missing"] <= event["asked"], event)


@case
def threads_share_the_last_page(box):
    """Eight threads take what there is: all of it, and not a page more."""
    for seed in range(1, 3 if WRAPPER else 9):
        done = box.record(fixture("e2e_vram", "race", str(seed)), rec="rec%d.tare" % seed,
                          options=("--vram", "8GiB"))
        used = int(done.out.split()[1])
        check(8 * GIB - 2 * MIB < used <= 8 * GIB, used - 8 * GIB, done)


@case
def a_card_smaller_than_a_context(box):
    for rec, size in (("a.tare", "100MiB"), ("b.tare", "1MiB")):
        done = box.record(fixture("e2e_vram", "sequence", "1", "1"), rec=rec, options=("--vram", size))
        check_equal(done.out, "context 2\n")
    check_equal(done.out, on_small_card(box, "sequence", "1", "1", total="100 MiB", reserved="0").out)


def start_hold(box, rec, size, limit):
    """A process that has `size`; what it was answered is read."""
    child = box.start(tare_argv(*record_args(fixture("e2e_vram", "hold", str(size)), rec,
                                             options=("--vram", limit))))
    return child, child.stdout.readline()


@case
def processes_share_a_card(box):
    """Each recording has its own limit, and whoever uses the GPU counts; what one frees another gets."""
    needs_exec()
    first, said = start_hold(box, "a.tare", 5 * GIB, "8GiB")
    check_equal(said, b"0\n")
    second, said = start_hold(box, "b.tare", 2 * GIB, "8GiB")
    check_equal(said, b"2\n", "two contexts and 7 GiB fit on 8")
    third, said = start_hold(box, "c.tare", GIB, "8GiB")
    check_equal(said, b"0\n")
    for child in (first, second, third):
        child.send_signal(signal.SIGTERM)
        child.communicate()


@case
def a_killed_process_gives_back(box):
    needs_exec()
    path = box.path("children.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write("import signal, subprocess, sys\n"
                   "for turn in range(3):\n"
                   "    child = subprocess.Popen([sys.argv[1], 'hold', '%d'], stdout=subprocess.PIPE)\n"
                   "    print(child.stdout.readline().decode().strip(), flush=True)\n"
                   "    child.send_signal(signal.SIGKILL)\n"
                   "    child.wait()\n" % (6 * GIB))
    done = box.record(["python3", path] + fixture("e2e_vram"), options=("--vram", "8GiB"))
    check_equal(done.out.split(), ["0"] * 3, done)


@case
def mistakes_are_named(box):
    for option, value, parts in (
            ("--vram", "0", ("--vram 0", "without memory", "8GiB")),
            ("--vram", "8", ("--vram 8", "unit", "8GiB")),
            ("--vram", "eight", ("--vram eight", "not a size")),
            ("--vram", "", ("--vram", "not a size")),
            ("--vram", "0=8GiB,0=9GiB", ("--vram 0=8GiB,0=9GiB", "not a size")),
            ("--vram", "7=8GiB", ("no GPU 7", "nvidia-smi -L")),
            ("--vram", "200GiB", ("200.0 GiB", "143,155 MiB", "give less")),
            ("--card", "nosuch", ("--card nosuch", "no such profile")),
            ("--card", "", ("--card", "no profile")),
            ("--card", "x=h200", ("--card x=h200", "number of a GPU")),
            ("--card", "0=h200,0=h200", ("two cards",))):
        done = box.tare(*record_args(fixture("e2e_vram", "sequence", "1", "1"), options=(option, value)))
        check_equal(done.code, 2, done)
        check_says(done.err, *parts)
        check(not os.path.exists(box.path("rec.tare")), "it left a recording", value)


@case
def a_full_gpu_is_refused(box):
    needs_exec()
    first, said = start_hold(box, "a.tare", 3 * GIB, "8GiB")
    check_equal(said, b"0\n")
    done = box.tare(*record_args(fixture("e2e_vram", "sequence", "1", "1"), options=("--vram", "2GiB")))
    first.send_signal(signal.SIGTERM)
    first.communicate()
    check_equal(done.code, 125, done)
    check_says(done.err, "--vram 2.0 GiB", "other programs", "give more")


@case
def a_full_gpu_that_is_hidden_is_not_looked_at(box):
    needs_exec()
    two = {"TARE_SIM_DEVICES": "2"}
    first = box.start(tare_argv(*record_args(fixture("e2e_vram", "hold", str(3 * GIB)), "a.tare")), env=two)
    check_equal(first.stdout.readline(), b"0\n")
    uuids = [d["uuid"] for d in box.report("a.tare", "end")["devices"]]
    for number, (visible, code) in enumerate((("1", 0), (uuids[1] + ",", 0), ("-1,0", 0), ("1,0", 125), (None, 125),
                                              (uuids[0], 125), ("MIG-x", 125))):
        done = box.tare(*record_args(fixture("e2e_vram", "sequence", "1", "1"), "%d.tare" % number,
                                     options=("--vram", "2GiB")), env=dict(two, CUDA_VISIBLE_DEVICES=visible))
        check_equal(code == 125, done.code == 125, visible, done)
    done = box.tare(*record_args(fixture("e2e_vram", "sequence", "1", "1"), options=("--vram", "0=2GiB")),
                    env=dict(two, CUDA_VISIBLE_DEVICES="1"))
    check_equal(done.code, 125, done)
    first.send_signal(signal.SIGTERM)
    first.communicate()


@case
def no_gpu_no_limit(box):
    needs_own_command()
    done = box.record(fixture("e2e_idle"), options=("--vram", "8GiB"))
    check_says(done.err, "nothing was recorded")


main()
