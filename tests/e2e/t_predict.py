#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tare predict: what a program needs on cards that are not there, and tare run --sim CARD:N."""

import json
import os
import shlex
import shutil

from harness import MIB, PYTHON, case, check, check_equal, check_says, fixture, main, needs_exec


# A program of the CUDA runtime that takes as many MiB on each GPU as it is told.
TAKER = fixture("e2e_predict")
# One that reads back what a kernel would have computed: t_read_back.py.
READER = fixture("e2e_read_back")


def predict(box, *args, code=0):
    needs_exec()
    done = box.tare("predict", *args)
    check_equal(done.code, code, done)
    return done


def of_card(box, *args, code=0):
    return json.loads(predict(box, "--json", *args, code=code).out)["cards"][0]


@case
def says_what_a_report_of_the_same_run_says(box):
    card = of_card(box, "--card", "h200", "--keep", box.path("kept"), "--", *TAKER, "1000")
    check_equal(card["recording"], box.path("kept/h200.tare"))
    report = json.loads(box.tare("report", card["recording"], "--json").out)["devices"][0]
    check_equal((card["need_bytes"], card["total_bytes"]), (report["need_bytes"], report["total_bytes"]))
    check(report["simulated"] and card["simulated"], card)
    check(card["fits"] and card["out_of_memory"] is None, card)
    check(card["low_bytes"] < card["need_bytes"] < card["high_bytes"], card)
    check_equal(card["room_bytes"], report["total_bytes"] - report["reserved_bytes"])


# What scripts may rely on: each member, and what it is.
CONTRACT = {"card": str, "total_bytes": int, "need_bytes": int, "low_bytes": int, "high_bytes": int, "fits": bool,
            "out_of_memory": (dict, type(None)), "assumed": list, "read_back": list, "versions": dict}
CONTRACT_ROWS = {"assumed": {"what": str, "bytes": int, "rule": str}, "read_back": {"line": str, "count": int, "decides": (bool, type(None))}}


def check_members(members, wants):
    for name, kind in wants.items():
        check(name in members and isinstance(members[name], kind) and (kind is not int or not isinstance(members[name], bool)), name, members)


@case
def keeps_its_contract(box):
    """Where it fits, where memory runs out, and where values were read back."""
    for args, code in ((("--card", "rtx-3060-ti,h200", "--", *TAKER, "1"), 0), (("--", *TAKER, "200000"), 3), (("--", *READER, "5", "2"), 0)):
        got = json.loads(predict(box, "--json", *args, code=code).out)
        for card in got["cards"]:
            check_members(card, CONTRACT)
            for name, wants in CONTRACT_ROWS.items():
                for row in card[name]:
                    check_members(row, wants)
            check(card["low_bytes"] <= card["need_bytes"] <= card["high_bytes"], card)
            check(all(isinstance(v, str) for v in card["versions"].values()), card["versions"])
            check_equal(card["fits"], card["out_of_memory"] is None)
            if code:
                check_members(card["out_of_memory"], {"line": str, "bytes": int})
    check(card["read_back"] and card["assumed"], card)


@case
def rises_by_what_the_program_takes(box):
    small, large = (of_card(box, "--", *TAKER, n)["need_bytes"] for n in ("100", "1100"))
    check_equal(large - small, 1000 * MIB)


@case
def says_where_memory_runs_out(box):
    done = predict(box, "--card", "h200", "--", *TAKER, "200000", code=3)
    check_says(done.out, "NVIDIA H200 (simulated)", "does not fit", "memory runs out", "200,000.0 MiB")
    card = of_card(box, "--card", "h200", "--", *TAKER, "200000", code=3)
    check(not card["fits"] and card["out_of_memory"]["bytes"] == 200000 * MIB, card)
    check(0 < card["out_of_memory"]["missing_bytes"] < 200000 * MIB, card)
    check_equal((card["out_of_memory"]["settings"], card["out_of_memory"]["step"]), ([], None))
    check_says(done.out, "ended with exit code 1")


@case
def says_that_a_program_goes_on_when_memory_ran_out(box):
    """One that looks for its batch itself, say."""
    done = predict(box, "--card", "h200", "--", "sh", "-c", '"$0" 200000 || "$0" 1', *TAKER, code=3)
    check_says(done.out, "does not fit, memory runs out", "the program went on without it, and ended well")


@case
def says_where_it_may_be_the_other_way_round(box):
    """What is to spare, or missing, is less than what is assumed may be off."""
    card = of_card(box, "--card", "h200", "--", *TAKER, "1")
    room, own = card["room_bytes"] // MIB, card["need_bytes"] // MIB
    for spare, fits, close in (1000, True, False), (100, True, True), (-100, False, True), (-1000, False, False):
        amount = str(room - own - spare)
        card = of_card(box, "--card", "h200", "--", *TAKER, amount, code=0 if fits else 3)
        check_equal((card["fits"], card["close"]), (fits, close), amount)
        out = predict(box, "--card", "h200", "--", *TAKER, amount, code=0 if fits else 3).out
        check_equal(("may not fit, needs" in out, "it may fit: what is missing is less" in out), (fits and close, close and not fits), out)


CONVOLVES = 'for c in %s; do echo "$c" | tr _ " " >>"$TARE_SIM_CONVOLUTIONS"; done; exec %s 1'


@case
def allows_for_convolutions_that_no_card_was_asked_for(box):
    """As many as there are, however often a plan was made, and by the largest of them; those that a card answered are not allowed for."""
    def assumed(*lines, env=None):
        needs_exec()
        program = ("--", "sh", "-c", CONVOLVES % (shlex.join(lines), shlex.join(TAKER)))
        done = box.tare("predict", "--json", *program, env=env)
        check_equal(done.code, 0, done)
        card = json.loads(done.out)["cards"][0]
        check_equal((card["need_bytes"] - card["low_bytes"], card["high_bytes"] - card["need_bytes"]),
                    (sum(row["bytes"] for row in card["assumed"]),) * 2)
        return card["need_bytes"], {row["what"]: row["bytes"] for row in card["assumed"] if "convolutions" in row["what"]}

    need, known = assumed("fwd_=_%d_#_as_of_card,_cuDNN_91900" % (500 * MIB))
    check_equal(known, {})
    _, unknown = assumed("fwd_=_%d_#_rule_waves" % (7 * MIB), "fwd_=_%d_#_rule_waves" % (7 * MIB), "data_=_5_#_assumed_as_of_card,_cuDNN_9",
                         "filter_=_%d_#_as_of_card,_cuDNN_91900" % (500 * MIB))
    check_equal(unknown, {"workspaces of 2 of 3 convolutions": 7 * MIB + need // 100})
    own = box.path("own")
    with open(own, "w", encoding="utf-8") as file:
        file.write("before = 99999999999 # rule shape\n")
    check_equal(assumed("fwd_=_1_#_rule_shape", env={"TARE_SIM_CONVOLUTIONS": own})[1], {"workspaces of 1 of 1 convolutions": 1 + need // 100})
    with open(own, encoding="utf-8") as file:
        check_equal(len(file.readlines()), 2)


@case
def has_the_versions_of_packages(box):
    """Of the folder in which a library lies that the program called from."""
    folder = box.path("lib", "site-packages")
    for name in ("torch-2.11.0", "nvidia_cudnn_cu13-9.19.0.56", "Flash_Attn-2.8.1+cu13", "click-8.5.1", "torch-"):
        os.makedirs(os.path.join(folder, name + ".dist-info"))
    os.mkdir(os.path.join(folder, "jax-0.10.2.egg-info"))
    program = shutil.copy(TAKER[-1], os.path.join(folder, "taker"))
    needs_exec()
    card = of_card(box, "--card", "l4", "--", program, "1")
    check_equal({k: v for k, v in card["versions"].items() if k != "tare"},
                {"profile": "l4", "torch": "2.11.0", "nvidia-cudnn-cu13": "9.19.0.56", "flash-attn": "2.8.1+cu13"})
    check_says(predict(box, "--", program, "1").out, "with flash-attn 2.8.1+cu13, nvidia-cudnn-cu13 9.19.0.56, torch 2.11.0")
    check_equal(set(of_card(box, "--", *TAKER, "1")["versions"]), {"tare", "profile"})
    done = box.tare("record", "--sim", "h200", "--no-paths", "-o", box.path("secret.tare"), "--", program, "1")
    check_equal(done.code, 0, done)
    with open(box.path("secret.tare", "recording.json"), encoding="utf-8") as file:
        check_equal(json.load(file)["versions"]["torch"], "2.11.0")


ALLOCATES = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
context, at = ctypes.c_void_p(), ctypes.c_uint64()
def take():
    assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0 and cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(1 << 20)) == 0
take()
"""


@case
def has_the_version_of_the_package_that_ran(box):
    """Of two folders of packages the one whose source it was."""
    needs_exec()
    for folder, version in ("first", "5.24.0"), ("second", "5.17.0"):
        packages = box.path(folder, "site-packages")
        os.makedirs(os.path.join(packages, "transformers-%s.dist-info" % version))
        os.makedirs(os.path.join(packages, "transformers"))
        with open(os.path.join(packages, "transformers", "__init__.py"), "w", encoding="utf-8") as file:
            file.write(ALLOCATES)
    path = os.pathsep.join(box.path(folder, "site-packages") for folder in ("first", "second"))
    box.record([PYTHON, "-c", "import transformers"], env={"PYTHONPATH": path})
    with open(box.path("rec.tare", "recording.json"), encoding="utf-8") as file:
        check_equal(json.load(file)["versions"].get("transformers"), "5.24.0")


@case
def finds_the_largest_that_fits(box):
    got = json.loads(predict(box, "--json", "--largest", "n=1..1000", "--", *TAKER, "{n}000").out)
    check_equal(got["largest"]["fits"] + 1, got["largest"]["fails"])
    check(140 <= got["largest"]["fits"] <= 143 and got["largest"]["runs"] <= 11, got["largest"])
    check(got["cards"][0]["fits"], got)
    none = json.loads(predict(box, "--json", "--largest", "n=500..600", "--", *TAKER, "{n}000", code=3).out)
    check_equal((none["largest"]["fits"], none["largest"]["fails"]), (None, 500))
    every = json.loads(predict(box, "--json", "--largest", "n=1..2", "--", *TAKER, "{n}").out)
    check_equal((every["largest"]["fits"], every["largest"]["fails"], every["largest"]["runs"]), (2, None, 1))


CACHES = 'test -z "$(ls -A "$TRITON_CACHE_DIR")" && echo "$TORCHINDUCTOR_CACHE_DIR $TRITON_CACHE_DIR" >>%s && ' \
         'mkdir -p "$TORCHINDUCTOR_CACHE_DIR/of/an" && echo kernel >"$TRITON_CACHE_DIR/kernel"; exec %s 1'


@case
def compilers_find_nothing_that_was_made_before(box):
    """Each run has empty caches of its own, which are gone afterwards; --caches own leaves the program's."""
    own, used = box.path("mine"), box.path("used")
    os.mkdir(own)
    program = ("--", "sh", "-c", CACHES % (shlex.quote(used), shlex.join(TAKER)))
    env = {"TORCHINDUCTOR_CACHE_DIR": own, "TRITON_CACHE_DIR": own}
    needs_exec()
    for caches in ("fresh",), ("fresh",), ("own",):
        done = box.tare("predict", "--caches", *caches, *program, env=env)
        check_equal(done.code, 0, done)
    with open(used, encoding="utf-8") as file:
        fresh, again, mine = (line.split() for line in file)
    check_equal(mine, [own, own])
    check(len({own, *fresh, *again}) == 5 and not any(os.path.exists(path) for path in fresh + again), fresh + again)
    check_equal(sorted(os.listdir(own)), ["kernel", "of"])


@case
def keeps_the_programs_output_out_of_its_own(box):
    done = predict(box, "--json", "--", "sh", "-c", "echo told; exec %s 1" % shlex.join(TAKER))
    json.loads(done.out)
    check_says(done.err, "told")


@case
def hands_on_how_the_program_ended(box):
    command = "%s 1; exit 7" % shlex.join(TAKER)
    card = of_card(box, "--", "sh", "-c", command, code=1)
    check_equal((card["exit_code"], card["fits"]), (7, None))
    check_says(predict(box, "--", "sh", "-c", command, code=1).out, "not known, the program failed with exit code 7")
    check_equal([card[key] for key in ("name", "out_of_memory", "read_back")], ["NVIDIA H200", None, []])
    command = "%s {n}; exit 7" % shlex.join(TAKER)
    done = predict(box, "--largest", "n=1..4", "--", "sh", "-c", command, code=125)
    check_says(done.err, "with n=4 the program failed with exit code 7, not for memory")


@case
def a_program_that_fails_before_it_uses_a_gpu_is_a_row_too(box):
    """A mistake in one cell of a grid does not take the others away, and who reads JSON gets some."""
    card = of_card(box, "--card", "l4", "--", "sh", "-c", "exit 3", code=1)
    check_equal([card[key] for key in ("card", "name", "fits", "exit_code", "need_bytes", "low_bytes", "high_bytes", "out_of_memory",
                                       "assumed", "read_back", "recording")],
                ["l4", "NVIDIA L4", None, 3, None, None, None, None, [], [], None])
    check(0 < card["room_bytes"] < card["total_bytes"], card)
    check_says(predict(box, "--", "sh", "-c", "kill -9 $$", code=1).out,
               "not known, the program failed with exit code 137 before it used a GPU (what it printed stands above)")
    args = ("--grid", "n=1,x", "--card", "h200,l4", "--", "sh", "-c", "test {n} = x && exit 3; exec %s {n}" % shlex.join(TAKER))
    check_equal([(cell["fits"], cell["exit_code"]) for cell in json.loads(predict(box, "--json", *args, code=1).out)["cells"]],
                [(True, 0), (True, 0), (None, 3), (None, 3)])
    check_says(predict(box, *args, code=1).out, "in 2 of the cells the program failed for another reason than memory")


@case
def two_cards_of_a_machine(box):
    needs_exec()
    done = box.tare("record", "--sim", "h200:2", "-o", box.path("two.tare"), "--", *TAKER, "1", "1")
    check_equal(done.code, 0, done)
    devices = json.loads(box.tare("report", box.path("two.tare"), "--json").out)["devices"]
    check_equal([d["index"] for d in devices], [0, 1])


@case
def says_whether_what_is_read_back_decides(box):
    card = of_card(box, "--", *READER, "5", "2")
    lines = {row["line"].split(" in ")[1]: (row["count"], row["decides"]) for row in card["read_back"]}
    check_equal(lines, {"is_over": (5, True), "loss": (2, True)})  # one of them does
    done = predict(box, "--", *READER, "5", "2")
    check_says(done.out, "in is_over (5×), ", "in loss (2×); they decide: with ones it needs")
    check_equal(done.err.count("copied 3 4"), 3)  # and once more, whether it is the same twice
    card = of_card(box, "--", *READER, "0", "2")
    check_equal([row["decides"] for row in card["read_back"]], [False])
    check_says(predict(box, "--", *READER, "0", "2").out, "they decide nothing: with ones the same is allocated")
    check_equal(of_card(box, "--", *READER, "0")["read_back"], [])


@case
def tells_a_loss_scales_overflow_from_other_values(box):
    """It decides, and a loss that is read as well does not; or both do, or it is all there is."""
    def decided(*args):
        card = of_card(box, *args)
        return card, {(row["line"].split(" in ")[1], row["overflow"]): row["decides"] for row in card["read_back"]}

    card, lines = decided("--", *READER, "0", "2", "scale")
    check_equal(lines, {("has_overflow", True): True, ("loss", False): False})
    check_equal([(run["answers"], run["ends"], run["need_bytes"] - card["need_bytes"], run["out_of_memory"])
                 for run in card["other_answers"]], [(answers, True, -96 * MIB, False) for answers in ("ones", "overflow")])
    check_equal(decided("--", *READER, "5", "2", "scale")[1],
                {("has_overflow", True): True, ("loss", False): True, ("is_over", False): True})
    done = predict(box, "--card", "h200,l4", "--", *READER, "0", "0", "scale")
    check_says(done.out, "whether the loss scale finds an overflow at", "in has_overflow decides when the optimizer's state is allocated",
               "if it does in the first nine steps, it needs", " % less", "they decide, as on the first card")
    check_equal(done.err.count("copied 3 4"), 4)  # it is all that was read, so ones were enough; and the other card
    first, second = json.loads(predict(box, "--card", "h200,l4", "--json", "--", *READER, "0", "0", "scale").out)["cards"]
    alone = of_card(box, "--card", "l4", "--check-answers", "never", "--", *READER, "0", "0", "scale")
    check_equal(second["other_answers"], [])
    check_equal(second["need_bytes"], alone["need_bytes"])
    check(second["low_bytes"] < alone["low_bytes"] - 90 * MIB and second["high_bytes"] == alone["high_bytes"], (second, alone))


@case
def the_range_is_of_both_answers_where_they_decide(box):
    both = of_card(box, "--", *READER, "5", "2")
    alone = [of_card(box, "--answers", answers, "--check-answers", "never", "--", *READER, "5", "2") for answers in ("zeros", "ones")]
    check(alone[0]["need_bytes"] != alone[1]["need_bytes"], alone)
    check_equal((both["low_bytes"], both["high_bytes"]),
                (min(card["low_bytes"] for card in alone), max(card["high_bytes"] for card in alone)))


@case
def other_answers_first(box):
    done = predict(box, "--answers", "ones", "--", *READER, "5")
    check_says(done.out, "in is_over (1×); they decide: with zeros it needs")
    check_says(done.err, "copied 3 4, 0 steps")


@case
def does_not_ask_unless_told_to(box):
    done = predict(box, "--check-answers", "never", "--", *READER, "5")
    check_equal(done.err.count("copied 3 4"), 1)
    check_says(done.out, "whether they decide anything is not known (--check-answers)")
    card = of_card(box, "--check-answers", "never", "--", *READER, "5")
    check_equal([row["decides"] for row in card["read_back"]], [None])


@case
def with_other_answers_it_does_not_end(box):
    """Those of the second run keep the program in a loop: it is ended, and said."""
    done = predict(box, "--check-answers", "always", "--", *READER, "0", "0", "loop")
    check_says(done.out, "they decide: with ones it does not end")


@case
def all_combinations_of_a_grid(box):
    args = ("--card", "l4,h200", "--grid", "n=10,30000", "--grid", "m=1", "--", *TAKER, "{n}")
    check_says(predict(box, *args, code=2).err, "{m} is not in the command")
    args = ("--card", "l4,h200", "--grid", "n=10,30000", "--", *TAKER, "{n}")
    cells = json.loads(predict(box, "--json", *args, code=3).out)["cells"]
    check_equal([(c["params"], c["card"], c["fits"]) for c in cells],
                [({"n": "10"}, "l4", True), ({"n": "10"}, "h200", True), ({"n": "30000"}, "l4", False),
                 ({"n": "30000"}, "h200", True)])
    check_equal(cells[3]["need_bytes"] - cells[1]["need_bytes"], (30000 - 10) * MIB)
    lines = predict(box, *args, code=3).out.splitlines()
    check(lines[0].split()[:3] == ["VALUES", "CARD", "FITS"] and len(lines) == 5, lines)
    check(" no " in lines[3] and "predict.c" in lines[3], lines[3])
    text = predict(box, "--grid", "a=x,{b}", "--grid", "b=y", "--csv", "--", *TAKER, "1", "{a}{b}0", code=1).out
    check_says(text, "a=x b=y,", "a={b} b=y,", "not known")  # what a value brings is not filled in


@case
def names_a_card_that_fits(box):
    cards = ("--card", "h200,l4,a10")
    check_says(predict(box, *cards, "--", *TAKER, "10").out, "the smallest that fits: NVIDIA A10")
    with open(box.path("prices"), "w", encoding="utf-8") as file:
        file.write("# a comment\nl4 0.5\n\nh200\t0.4\n")
    for prices, name in (("l4=2,h200=1", "H200"), (box.path("prices"), "H200"), ("l4=1,h200=2,a10=1.5", "L4")):
        check_says(predict(box, *cards, "--prices", prices, "--", *TAKER, "10").out,
                   "the cheapest that fits, by your prices: NVIDIA " + name)
    got = json.loads(predict(box, *cards, "--json", "--prices", "l4=1,h200=2", "--", *TAKER, "30000", code=3).out)
    check_equal(got["choice"], {"card": "h200", "by": "price", "price": 2})
    check_equal(json.loads(predict(box, "--json", "--", *TAKER, "1").out)["choice"], None)


@case
def mistakes(box):
    for args, words in ((("--card", "h300", "--", "true"), ("h300", "no such profile")),
                        (("--card", "", "--", "true"), ("--card", "a name is empty")),
                        (("--card", "l4,,h200", "--", "true"), ("--card \"l4,,h200\"", "a name is empty")),
                        (("--card", ",".join(["l4"] * 33), "--", "true"), ("32 cards at most",)),
                        (("--largest", "n=1..", "--", "true"), ("--largest n=1..", "batch=1..512")),
                        (("--largest", "n=9..1", "--", "true"), ("--largest n=9..1",)),
                        (("--largest", "n=1..2", "--", "true"), ("{n} is not in the command",)),
                        (("--grid", "n", "--", "true"), ("--grid n", "batch=1,8,64")),
                        (("--grid", "n=1,,2", "--", "true", "{n}"), ("--grid n=1,,2", "batch=1,8,64")),
                        (("--grid", "n=1", "--grid", "n=2", "--", "true", "{n}"), ("--grid n is given twice",)),
                        (("--grid", "n=1", "--largest", "n=1..2", "--", "true", "{n}"), ("--largest", "one of them")),
                        (("--grid", "n=1", "--keep", "k", "--", "true", "{n}"), ("--keep", "a grid has many")),
                        (("--prices", "l4=cheap", "--", "true"), ("--prices l4=cheap", "l4=0.8,h200=3.5")),
                        (("--prices", "l4=-1", "--", "true"), ("--prices l4=-1",)),
                        (("--prices", "l4=nan", "--", "true"), ("--prices l4=nan",)),
                        (("--answers", "two", "--", "true"), ("--answers",)),
                        (("--ranks", "65", "--", "true"), ("--ranks takes 1 to 64",)),
                        (("--ranks", "0", "--", "true"), ("--ranks takes 1 to 64",)),
                        (("--gpus", "0", "--", "true"), ("--gpus takes 1 to 64",)),
                        (("--ranks", "3", "--gpus", "2", "--", "true"), ("--ranks 3", "--gpus gives 2")),
                        (("--gpus", "65", "--", "true"), ("--gpus",))):
        check_says(predict(box, *args, code=2).err, *words)
    check_says(predict(box, "--", "true", code=125).err, "used no GPU")
    check_says(predict(box, "--", box.path("nothing"), code=125).err, "could not be run")
    for sim, words in (("h200:0", "1 to 64"), ("h200:65", "1 to 64"), ("/etc/passwd", "not a key of a device profile")):
        done = box.tare("record", "--sim", sim, "--", "true")
        check_equal(done.code, 2, done)
        check_says(done.err, sim, words)


RANK = "echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $MASTER_ADDR $MASTER_PORT $TARE_SIM_DEVICES >&2; "
RANK += "case $RANK in 0) exec $0 100;; 1) exec $0 0 300;; esac"


@case
def starts_ranks_each_on_a_card(box):
    done = predict(box, "--ranks", "2", "--keep", box.path("kept"), "--json", "--", "sh", "-c", RANK, *TAKER)
    ports = {line.split()[5] for line in done.err.splitlines() if line.count(" ") == 6}
    check_equal(len(ports), 1, done.err)
    lines = sorted(line for line in done.err.splitlines() if line.count(" ") == 6)
    check_equal(lines, ["%d %d 2 2 127.0.0.1 %s 2" % (rank, rank, *ports) for rank in (0, 1)], done.err)
    devices = json.loads(box.tare("report", box.path("kept/h200.tare"), "--json", "--at", "peak").out)["devices"]
    check_equal(len(devices), 2)
    for rank, device in enumerate(devices):
        check(any(" rank %d " % rank in row["label"] for row in device["accounts"]), rank, device["accounts"])


@case
def a_launcher_starts_its_ranks_itself(box):
    for name in ("torchrun", "accelerate", "mpirun"):
        path = box.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho started $RANK $TARE_SIM_DEVICES >&2\nexec \"$@\"\n")
        os.chmod(path, 0o755)
        done = predict(box, "--ranks", "2", "--", path, *TAKER, "1", "1")
        check_equal([line for line in done.err.splitlines() if line.startswith("started")], ["started 2"], done.err)


@case
def ends_all_ranks_when_one_fails(box):
    done = predict(box, "--ranks", "3", "--", "sh", "-c", "[ $RANK = 1 ] && exit 7; sleep 300", code=1)
    check_says(done.out, "failed with exit code 7")
    done = predict(box, "--ranks", "2", "--", box.path("nothing"), code=1)
    check_says(done.out, "exit code 127")


if __name__ == "__main__":
    main()
