#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `tare run --host` costs programs that ask for much memory, and what other tools do. Prints, and judges nothing.

    tests/bench/bench_host.py TARE [--turns N] [--only PROGRAM…] [--tools TOOL…]

Every turn runs a program natively and under each tool, one after the other; massif, which is slow, in the first turn only.
A line a run as they end, and last a table: of the program's own process the ratios to native (median, least and most of the
turns) of its wall time and of its user and system time, these times, and the most that was resident above native; of the whole
command, which ends when the tool has written everything, the wall time; and what the tool wrote. Where other programs run, too,
wall times say little, and the others still something.

    nop           the hooks of --host=full are there and forward at once
    full-python   --host=full --stacks python: without native stacks
"""
import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "host")
SYSTEM_PYTHON = "/usr/bin/python3"  # may have NumPy and PyTorch where another has none
JEMALLOC = "libjemalloc.so.2"
LIMIT = 600  # seconds
TARE = ("nop", "sample", "full-python", "full")
SQL = """create table t(id integer primary key, name text, number real);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 300000)
  insert into t select x, 'name ' || (x * 7919 % 300000), x * .5 from c;
create index by_name on t(name);
select count(*), sum(length(a.name || b.number)) from t a join t b on a.name = 'name ' || b.id;
select sum(length(x)) from (select group_concat(name) x from t group by id % 500);
update t set name = name || '!' where id % 3 = 0;
select count(distinct substr(name, 1, 8)) from t;
"""


def run(argv, **more):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT, check=False, **more)


def says(argv):
    """The first line of what a program says of itself; None: it is not there."""
    try:
        done = run(argv)
    except OSError:
        return None
    return (done.stdout + done.stderr).decode().strip().split("\n")[0] if done.returncode == 0 else None


def can_import(python, module):
    return says([python, "-c", "import %s; print(%s.__version__)" % (module, module)])


def big_c(path, functions):
    with open(path, "w", encoding="ascii") as file:
        for i in range(functions):
            file.write("struct s%d { int a, b[%d]; double c; };\n"
                       "int f%d(struct s%d *s, int n)\n{\n\tint sum = 0;\n"
                       "\tfor (int i = 0; i < n; i++) {\n\t\tif (s->b[i %% %d] > i * %d)\n\t\t\tsum += s->b[i %% %d] * n;\n"
                       "\t\telse\n\t\t\ts->c += sum / (n + 1.0);\n\t\tswitch ((sum + i) & 7) {\n"
                       "\t\tcase 1: s->a ^= n; break;\n\t\tcase 3: sum -= i; break;\n\t\tcase 5: s->a += %d; break;\n\t\t}\n"
                       "\t}\n\treturn sum + s->a;\n}\n" % (i, i % 30 + 2, i, i, i % 30 + 2, i % 9, i % 30 + 1, i))


class Programs:
    """name -> (argv, environment, standard input)"""

    def __init__(self, folder):
        self.all = {}
        cc1 = says(["cc", "-print-prog-name=cc1"])
        if cc1 and os.path.isabs(cc1):
            big_c(folder + "/big.c", 400)
            # What cc -O2 -c starts: tools which record one process only see it so.
            self.add("cc1", [cc1, "-quiet", "-O2", folder + "/big.c", "-o", folder + "/big.s"])
        else:
            print("no cc1: not a compiler run")
        if shutil.which("sqlite3"):
            self.add("sqlite3", ["sqlite3", ":memory:"], stdin=SQL)
        else:
            print("no sqlite3")
        self.built("cc", folder, "loop.c", "loop", ["-pthread"])
        self.add("loop", [folder + "/loop", "1", "1500000"])
        self.add("threads", [folder + "/loop", "8", "200000"])
        self.built("g++", folder, "churn.cc", "churn", [])
        self.add("churn", [folder + "/churn", "700000"])
        self.built("g++", folder, "pairs.cc", "pairs", ["-fno-builtin"])
        for how in ("malloc", "new"):
            self.add("pairs-" + how, [folder + "/pairs", "20000000", how])
        self.python("json", sys.executable, 15)
        self.python("objects", sys.executable, 20)
        self.python("objects", sys.executable, 10, name="objects-malloc", env={"PYTHONMALLOC": "malloc"})
        for module, times in (("numpy", 1500), ("torch", 500)):
            python = next((p for p in (SYSTEM_PYTHON, sys.executable) if can_import(p, module)), None)
            if python:
                self.python(module, python, times)
            else:
                print("no %s" % module)

    def add(self, name, argv, env=None, stdin=""):
        self.all[name] = ([shutil.which(argv[0])] + argv[1:], env or {}, stdin.encode())

    def python(self, what, python, times, name=None, env=None):
        self.add(name or what, [python, HERE + "/work.py", what, str(times)], env)

    @staticmethod
    def built(compiler, folder, source, to, flags):
        subprocess.run([compiler, "-O2", "-g"] + flags + [os.path.join(HERE, source), "-o", os.path.join(folder, to)],
                       check=True)


def tools(tare, folder):
    """name -> a function that makes (argv, environment) of a program's; what they write is to be in `out`."""
    out = folder + "/out"

    def tared(mode, *options, **env):
        return lambda argv: ([tare, "run", "--host=" + mode, "-f", "-o", out + "/rec.tare"] + list(options) + ["--"] + argv, env)

    def jemalloc(conf):
        return lambda argv: (argv, {"PRELOAD": JEMALLOC, "MALLOC_CONF": conf})

    found = {"native": lambda argv: (argv, {}),
             "nop": tared("full", TARE_TEST_NOP="1"), "sample": tared("sample"),
             "full-python": tared("full", "--stacks", "python"), "full": tared("full")}
    if says(["heaptrack", "--version"]):
        found["heaptrack"] = lambda argv: (["heaptrack", "-o", out + "/heaptrack"] + argv, {})
    else:
        print("no heaptrack")
    preloaded = run(["true"], env=dict(os.environ, LD_PRELOAD=JEMALLOC, MALLOC_CONF="prof:true")).stderr
    if preloaded:
        print("no jemalloc that can profile: %s" % preloaded.decode().strip())
    else:
        found["jemalloc"] = jemalloc("")
        # A sample of the same mean as ours: one in 2^16 bytes.
        found["jemalloc-prof"] = jemalloc("prof:true,lg_prof_sample:16,prof_final:true,prof_prefix:%s/je" % out)
    if can_import(sys.executable, "memray"):
        found["memray"] = lambda argv: ([argv[0], "-m", "memray", "run", "--native", "-o", out + "/memray.bin"] + argv[1:], {})
    else:
        print("no memray in %s" % sys.executable)
    if says(["valgrind", "--version"]):
        found["massif"] = lambda argv: (["valgrind", "-q", "--tool=massif", "--massif-out-file=%s/massif" % out] + argv, {})
    else:
        print("no valgrind")
    return found


class Bench:
    def __init__(self, tare, folder):
        self.tare, self.folder = tare, folder
        self.preload = folder + "/usage.so"
        for to, more in (("usage.so", []), ("count.so", ["-DCOUNT"])):
            subprocess.run(["cc", "-O2", "-shared", "-fPIC"] + more + [HERE + "/usage.c", "-o", folder + "/" + to], check=True)

    def once(self, program, tool, preload=None):
        """Wall, user + system, KiB, calls; of the command the wall; MiB written; what the program printed, and its code."""
        argv, env, stdin = program
        command, more = tool(argv)
        out, usage = self.folder + "/out", self.folder + "/usage"
        removed(out)
        os.mkdir(out)
        open(usage, "w").close()
        env = dict(os.environ, BENCH_USAGE=usage, **env)
        env.update(more)
        env["LD_PRELOAD"] = ":".join(filter(None, [env.pop("PRELOAD", ""), preload or self.preload]))
        begun = time.monotonic()
        done = run(command, input=stdin, env=env, cwd=self.folder)
        command_wall = time.monotonic() - begun
        path = os.path.realpath(argv[0])
        own = []
        with open(usage, encoding="utf-8") as file:
            for line in file:
                words = line.split()
                if os.path.realpath(words[0]) == path:
                    own.append([float(word) for word in words[1:]])
        if not own:
            sys.exit("%s left no line of its use: %s" % (argv[0], done.stderr.decode()[-2000:]))
        wall, user, system, resident, calls = max(own)
        return {"wall": wall, "cpu": user + system, "rss": resident / 1024, "calls": calls, "command": command_wall,
                "written": size_of(out), "said": done.stdout, "code": done.returncode, "errors": done.stderr}

    def losses(self):
        """What a recording says is missing of it."""
        rec = self.folder + "/out/rec.tare"
        if not os.path.isdir(rec):
            return ""
        done = run([self.tare, "report", rec, "--json"])
        if done.returncode:
            return "no report: %s" % done.stderr.decode().strip()[:200]
        report = json.loads(done.stdout)
        return ", ".join("%s: %s" % (key, json.dumps(report[key])[:200]) for key in ("losses", "degraded") if report[key])


def removed(folder):
    """A process of tare's may write into a recording when the command has ended."""
    until = time.monotonic() + LIMIT
    while os.path.exists(folder) and time.monotonic() < until:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.1)


def size_of(folder):
    return sum(os.lstat(os.path.join(at, name)).st_blocks * 512 for at, _, names in os.walk(folder) for name in names) / 2**20


def differs(got, native, tool):
    """The program printed something else? Some tools print, too."""
    if got["code"] != native["code"]:
        return "exit code %d, not %d" % (got["code"], native["code"])
    if native["said"] not in got["said"] or (tool in TARE and got["said"] != native["said"]):
        return "stdout differs"
    if any(line not in got["errors"] for line in native["errors"].split(b"\n")):
        return "stderr differs"
    return ""


def middle(values):
    return sorted(values)[len(values) // 2]


def ratio(got, native, key):
    """Each with the native run of its own turn: what else runs on the machine changes."""
    ratios = [g[key] / n[key] for g, n in zip(got, native)]
    return "%.2f (%.2f to %.2f)" % (middle(ratios), min(ratios), max(ratios))


def measure(bench, name, program, found, turns):
    native = bench.once(program, found["native"], bench.folder + "/count.so")  # not counted: everything is in the caches after it
    calls, runs = native["calls"], {tool: [] for tool in found}
    print("%s: %s, %d calls, prints %s" % (name, " ".join(program[0])[-70:], calls, hashlib.sha1(native["said"]).hexdigest()[:8]))
    for turn in range(turns):
        for tool in found:
            if (tool == "massif" and turn) or (tool == "memray" and program[0][0] != sys.executable):
                continue
            got = bench.once(program, found[tool])
            runs[tool].append(got)
            wrong = ", ".join(filter(None, [differs(got, native, tool), bench.losses()]))
            print("  %d %-13s %6.2f s, CPU %6.2f s, command %6.2f s, %7.1f MiB, wrote %7.1f MiB %s"
                  % (turn + 1, tool, got["wall"], got["cpu"], got["command"], got["rss"], got["written"], wrong), flush=True)
    return calls, runs


def table(results):
    print("\n| Program | Tool | Wall ratio | CPU ratio | Wall | CPU | Command | RSS above native | Written | Pairs a second |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, (calls, runs) in results.items():
        for tool, got in runs.items():
            if not got:
                continue
            of = {key: middle([g[key] for g in got]) for key in ("wall", "cpu", "rss", "written", "command")}
            above = of["rss"] - middle([n["rss"] for n in runs["native"]])
            print("| %s | %s | %s | %s | %.2f s | %.2f s | %.2f s | %+.1f MiB | %.2f MiB | %s |"
                  % (name, tool, ratio(got, runs["native"], "wall"), ratio(got, runs["native"], "cpu"), of["wall"], of["cpu"],
                     of["command"], above, of["written"], "{:,.0f}".format(calls / of["wall"])))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tare")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--only", nargs="+", help="of the programs")
    parser.add_argument("--tools", nargs="+", help="besides native")
    args = parser.parse_args()
    folder = tempfile.mkdtemp()
    for argv in (["uname", "-sr"], [args.tare, "--version"], ["cc", "--version"], ["heaptrack", "--version"],
                 ["valgrind", "--version"], [sys.executable, "--version"], [SYSTEM_PYTHON, "--version"]):
        print(says(argv))
    found = tools(os.path.abspath(args.tare), folder)
    found = {tool: found[tool] for tool in found if not args.tools or tool in args.tools + ["native"]}
    programs = Programs(folder).all
    bench, results = Bench(os.path.abspath(args.tare), folder), {}
    for name in args.only or programs:
        results[name] = measure(bench, name, programs[name], found, args.turns)
    table(results)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
