#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/RECIPES.md: programs that nobody puts behind `tare run`. What is not in Debian is imitated, and that is said."""

import glob
import json
import os
import shlex
import shutil
import subprocess

from harness import (BUILD, ROOT, Skip, case, check, check_equal, check_says, in_world, main, needs, needs_exec,
                     needs_program, needs_root, tare_argv)

PYTHON = "/usr/bin/python3"

TRAIN = """
import ctypes, os
kept = []

def take(mibs):
    cuda = ctypes.CDLL("libcuda.so.1")
    context, memory = ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0 and cuda.cuMemAlloc_v2(ctypes.byref(memory), mibs << 20) == 0
    kept.append(memory)
    return os.getpid()

def fail(what):
    raise KeyError(what)

def die():
    os._exit(5)

if __name__ == "__main__":
    take(7)
"""


def write(box):
    needs_exec()
    with open(box.path("train.py"), "w", encoding="utf-8") as file:
        file.write(TRAIN)


def recipe(kind, language):
    """The block of that language below the heading `## kind`."""
    with open(os.path.join(ROOT, "docs", "RECIPES.md"), encoding="utf-8") as file:
        section = file.read().split("## " + kind)[1].split("\n## ")[0]
    return section.split("```" + language + "\n")[1].split("```")[0]


def has_line(box, rec, line):
    done = box.tare("report", rec, "--by", "line", "--at", "end")
    check_equal(done.code, 0, done)
    check_says(done.out, line)


def install(box):
    """The module beside this build's program, as a wheel has both: the variables with which Python finds it."""
    os.makedirs(box.path("installed", "bin"))
    os.symlink(os.path.join(BUILD, "tare"), box.path("installed", "bin", "tare"))
    shutil.copytree(os.path.join(ROOT, "python", "tare"), box.path("installed", "python", "tare"))
    return {"PYTHONPATH": box.path("installed", "python")}


@case
def the_shell(box):
    write(box)
    done = box.run(["/bin/sh", "-c", 'eval "$(%s)" && exec %s train.py' % (
        shlex.join(tare_argv("env", "--sim", "h200", "-o", "job.tare")), PYTHON)])
    check_equal(done.code, 0, done)
    has_line(box, "job.tare", "train.py:9")


# A kernel that Jupyter starts, is interrupted, and ends.
CLIENT = """
import sys, threading, time
from jupyter_client.manager import KernelManager

manager = KernelManager(kernel_name="tare")
manager.start_kernel()
client = manager.client()
client.start_channels()
client.wait_for_ready(timeout=120)

def execute(code, during=None):
    said = []
    if during:
        threading.Timer(2, during).start()
    # Else what comes right after an error may be aborted.
    reply = client.execute_interactive(code, timeout=120, stop_on_error=False, output_hook=lambda m: said.append(str(m["content"])))
    return reply["content"]["status"], " ".join(said)

try:
    print(execute("import train; train.take(7)"))
    print(execute("import time; time.sleep(60)", manager.interrupt_kernel))
    print(execute("print(6 * 7)"))
finally:
    client.stop_channels()
    manager.shutdown_kernel()
"""


@case
def jupyter(box):
    """A kernel of ipykernel, through Jupyter's own client: it starts, computes, is interrupted, goes on, ends."""
    write(box)
    needs(subprocess.run([PYTHON, "-c", "import ipykernel, jupyter_client"], stderr=subprocess.DEVNULL).returncode == 0,
          "python3-ipykernel")
    spec = json.loads(recipe("Jupyter", "json"))
    check_equal(spec["argv"][:2], ["tare", "run"])
    spec["argv"][0:2] = tare_argv("run", "--sim", "h200", "-o", box.path("notebook.tare"))
    spec["argv"][spec["argv"].index("python3")] = PYTHON
    os.makedirs(box.path("jupyter", "kernels", "tare"))
    with open(box.path("jupyter", "kernels", "tare", "kernel.json"), "w", encoding="utf-8") as file:
        json.dump(spec, file)
    env = {"JUPYTER_PATH": box.path("jupyter"), "JUPYTER_RUNTIME_DIR": box.path("runtime"), "HOME": box.dir,
           "IPYTHONDIR": box.path("ipython"), "PYTHONPATH": box.dir}
    done = box.run([PYTHON, "-c", CLIENT], env=env, timeout=280)
    check_equal(done.code, 0, done)
    statuses = [line.split("'")[1] for line in done.out.splitlines() if line.startswith("('")]
    check_equal(statuses, ["ok", "error", "ok"], done)
    check_says(done.out, "KeyboardInterrupt", "42")
    has_line(box, "notebook.tare", "train.py:9")


def in_a_container(box, variables, mounts, argv):
    """What docker and a pod do with them: an environment of its own, and folders that lie elsewhere."""
    needs_root()
    lines = ["set -e"]
    for source, target, is_readonly in mounts:
        lines.append("mkdir -p %s" % shlex.quote(box.path("root") + target))
        lines.append("mount --bind %s %s" % (shlex.quote(source), shlex.quote(box.path("root") + target)))
        if is_readonly:
            lines.append("mount -o remount,bind,ro %s" % shlex.quote(box.path("root") + target))
    assignments = ["%s=%s" % item for item in variables.items()]
    lines.append("cd / && exec chroot %s /usr/bin/env -i PATH=/usr/bin:/bin %s" % (
        shlex.quote(box.path("root")), shlex.join(assignments + argv)))
    for folder in ("usr", "lib", "lib64", "bin", "proc", "dev", "tmp", "etc", "job"):
        os.makedirs(box.path("root", folder))
    system = ["mount --rbind /%s %s" % (folder, shlex.quote(box.path("root", folder)))
              for folder in ("usr", "lib", "lib64", "bin", "dev", "etc")]
    system += ["mount -t proc proc %s" % shlex.quote(box.path("root", "proc")),
               "mount --bind %s %s" % (shlex.quote(box.dir), shlex.quote(box.path("root", "job")))]
    done = in_world(box, "\n".join(system + lines), "--pid", "--fork")
    check_equal(done.code, 0, done)


@case
def docker(box):
    """Imitated, in namespaces: what `docker run $(tare env --docker …)` mounts and sets."""
    write(box)
    done = box.tare("env", "--docker", "--sim", "h200", "-o", box.path("job.tare"), env={"TARE_SIM_DIR": None})
    check_equal(done.code, 0, done)
    words, mounts, variables = done.out.split(), [], {}
    for option, value in zip(words[::2], words[1::2]):
        if option == "--env":
            name, text = value.split("=", 1)
            variables[name] = text
        else:
            check_equal(option, "--mount")
            fields = dict(field.split("=", 1) if "=" in field else (field, True) for field in value.split(","))
            mounts.append((fields["source"], fields["target"], "readonly" in fields))
    in_a_container(box, variables, mounts, [PYTHON, "/job/train.py"])
    has_line(box, "job.tare", "train.py:9")


def podman_of(box):
    """How podman runs here, with this machine's files as the image; a Skip with its own words where it does not."""
    needs_root()
    needs_program("podman")
    said = ""
    limits = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024"]
    for runtime in ([], ["--runtime=" + (shutil.which("runc") or "runc"), "--cgroup-manager=cgroupfs"]):
        argv = ["podman", "--root", box.path("containers"), "--runroot", box.path("run")] + runtime + ["run", "--rm", "--network=none"] + limits
        done = box.run(argv + ["--rootfs", "/:O", "/bin/true"])
        if done.code == 0:
            return argv
        said += done.err
    raise Skip("podman does not run here: " + " ".join(said.split())[-200:])


@case
def podman(box):
    """What docker is told, told to podman; its container has pid 1, and overlays of this machine's files."""
    argv = podman_of(box)
    write(box)
    done = box.tare("env", "--docker", "--sim", "h200", "-o", box.path("job.tare"), env={"TARE_SIM_DIR": None})
    check_equal(done.code, 0, done)
    done = box.run(argv + done.out.split() + ["--rootfs", "/:O", PYTHON, box.path("train.py")])
    check_equal(done.code, 0, done)
    has_line(box, "job.tare", "train.py:9")


def image_of_this_machine(box):
    """A name for docker: the folders that a merged /usr leaves, and the mounts that fill them; a Skip where it does not run."""
    if not shutil.which("docker") or box.run(["docker", "info"]).code != 0:
        raise Skip("no docker runs here")
    if not os.path.islink("/bin"):
        raise Skip("this machine's /bin is not a link into /usr")
    root, name = box.path("image"), "tare-test-%d" % os.getpid()
    for folder in ("usr", "etc", "tmp"):
        os.makedirs(os.path.join(root, folder))
    for link in ("bin", "lib", "lib64"):
        os.symlink("usr/" + link, os.path.join(root, link))
    done = box.run(["sh", "-c", "tar -C image -c . | docker import - " + name])
    check_equal(done.code, 0, done)
    return name, ["--volume=/usr:/usr:ro", "--volume=/etc:/etc:ro", "--volume=%s:/job" % box.dir]


@case
def docker_itself(box):
    """As the page says it, told to docker, whose image has nothing of Tare."""
    image, mounts = image_of_this_machine(box)
    try:
        write(box)
        done = box.tare("env", "--docker", "--sim", "h200", "-o", box.path("job.tare"), env={"TARE_SIM_DIR": None})
        check_equal(done.code, 0, done)
        done = box.run(["docker", "run", "--rm", "--network=none"] + mounts + done.out.split() + [image, PYTHON, "/job/train.py"])
        check_equal(done.code, 0, done)
        has_line(box, "job.tare", "train.py:9")
    finally:
        box.run(["docker", "rmi", image])


@case
def a_pod(box):
    """Imitated, in the same way: the parts of a pod's specification that `tare env --json` prints."""
    write(box)
    done = box.tare("env", "--json", "--sim", "h200", "-o", box.path("job.tare"), env={"TARE_SIM_DIR": None})
    check_equal(done.code, 0, done)
    pod = json.loads(done.out)["pod"]
    os.mkdir(box.path("job.tare"), 0o700) # as hostPath with DirectoryOrCreate does
    paths = {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"]}
    mounts = [(paths[mount["name"]], mount["mountPath"], mount["readOnly"]) for mount in pod["volumeMounts"]]
    in_a_container(box, {row["name"]: row["value"] for row in pod["env"]}, mounts, [PYTHON, "/job/train.py"])
    has_line(box, "job.tare", "train.py:9")


@case
def workers_that_something_else_starts(box):
    """As Ray does with env_vars of a runtime_env: it puts them into the environment of the workers that it starts."""
    write(box)
    done = box.tare("env", "--json", "--sim", "h200", "-o", box.path("job.tare"))
    variables = json.loads(done.out)["variables"]
    os.mkdir(box.path("job.tare"), 0o700)
    code = "import train, time; train.take(%d); time.sleep(1)"
    workers = [box.start([PYTHON, "-c", code % (mibs)], env=variables) for mibs in (3, 5)]
    for worker in workers:
        worker.communicate(timeout=60)
        check_equal(worker.returncode, 0)
    logs = [path for path in glob.glob(box.path("job.tare", "*.events")) if os.path.basename(path) != "tare.events"]
    check_equal(len(logs), 2, logs)
    has_line(box, "job.tare", "train.py:9")


CALLER = """
import os, train, tare
recorded = tare.call(train.take, 7, tare_options=("--sim", "h200", "-o", "call.tare"))
assert recorded != os.getpid()
assert "LD_PRELOAD" not in os.environ and "TARE_RECORDING" not in os.environ
try:
    tare.call(train.fail, "this key", tare_options=("--sim", "h200", "-o", "fail.tare"))
except KeyError as error:
    print("KeyError", error, error.__cause__)
try:
    tare.call(train.die, tare_options=("--sim", "h200", "-o", "die.tare"))
except RuntimeError as error:
    print(error)
"""


@case
def a_function_that_is_called_for_you(box):
    write(box)
    with open(box.path("caller.py"), "w", encoding="utf-8") as file:
        # The condition that multiprocessing asks of every program whose processes it spawns.
        file.write("if __name__ == '__main__':\n" + "".join("    %s\n" % line for line in CALLER.splitlines()))
    done = box.run([PYTHON, "caller.py"], env=install(box))
    check_equal(done.code, 0, done)
    check_says(done.out, "KeyError 'this key'", "in the recorded process", "train.py", "ended with 5",
               "its recording is", "die.tare")
    has_line(box, "call.tare", "train.py:9")


@case
def a_function_in_a_recorded_process_is_just_called(box):
    write(box)
    code = "import os, train, tare; assert tare.call(train.take, 7) == os.getpid()"
    done = box.tare("record", "--sim", "h200", "-o", "rec.tare", "--", PYTHON, "-c", code, env=install(box))
    check_equal(done.code, 0, done)
    has_line(box, "rec.tare", "train.py:9")


if __name__ == "__main__":
    main()
