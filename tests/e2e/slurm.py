# SPDX-License-Identifier: Apache-2.0
"""A Slurm cluster of one node with real daemons (munged, slurmctld, slurmd), in a folder of its own."""

import os
import shutil
import socket
import stat
import subprocess
import time

from harness import Skip, needs

SBIN = ("/usr/sbin", "/sbin", "/usr/local/sbin")


def find(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":" + ":".join(SBIN))
    needs(path, "%s (Debian: slurm-wlm, munge)" % name)
    return path


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


CONFIG = """ClusterName=tare
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%(dir)s/munge.socket
CredType=cred/munge
StateSaveLocation=%(dir)s/state
SlurmdSpoolDir=%(dir)s/spool
SlurmctldPidFile=%(dir)s/slurmctld.pid
SlurmdPidFile=%(dir)s/slurmd.pid
SlurmctldLogFile=%(dir)s/slurmctld.log
SlurmdLogFile=%(dir)s/slurmd.log
SlurmctldPort=%(ctld)d
SlurmdPort=%(slurmd)d
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=gpu
ReturnToService=2
NodeName=localhost NodeAddr=127.0.0.1 CPUs=%(cpus)d Gres=gpu:%(gpus)d State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


class Cluster:
    """`with Cluster(box, gpus=2) as slurm:` and then programs get slurm.env."""

    def __init__(self, box, gpus):
        if os.getuid() != 0:
            raise Skip("Slurm's daemons are started as root here")
        self.dir = box.path("slurm")
        self.box, self.gpus, self.daemons = box, gpus, []
        self.munged, self.slurmctld, self.slurmd = find("munged"), find("slurmctld"), find("slurmd")
        find("srun")
        find("scontrol")
        self.env = {"SLURM_CONF": os.path.join(self.dir, "slurm.conf")}

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text, mode=0o600):
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write(text)
        os.chmod(self.path(name), mode)

    def start(self, *argv):
        log = open(self.path(os.path.basename(argv[0]) + ".out"), "wb")
        self.daemons.append(subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                             env=dict(self.box.environment(), **self.env)))
        log.close()

    def wait(self, what, condition):
        for _ in range(3000):
            if condition():
                return
            if any(daemon.poll() is not None for daemon in self.daemons):
                break
            time.sleep(0.02)
        raise Skip("Slurm does not come up here: %s\n%s" % (what, self.logs()))

    def logs(self):
        out = []
        for name in sorted(os.listdir(self.dir)):
            if name.endswith((".log", ".out")):
                with open(self.path(name), encoding="utf-8", errors="replace") as text:
                    out += ["%s: %s" % (name, line.rstrip()) for line in text.readlines()[-6:]]
        return " | ".join(out)

    def state(self):
        done = self.box.run(["scontrol", "show", "node", "-o"], env=self.env)
        return done.out

    def make_gpus(self):
        """Slurm numbers GPUs by their device files; any character devices do."""
        for number in range(self.gpus):
            try:
                os.mknod(self.path("gpu%d" % number), 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            except OSError as why:
                raise Skip("no device files can be made here: %s" % why)

    def __enter__(self):
        os.mkdir(self.dir, 0o700)
        os.chmod(self.box.dir, 0o755)
        os.chmod(self.dir, 0o755)
        for name in ("state", "spool"):
            os.mkdir(self.path(name), 0o700)
        ctld, slurmd = free_ports(2)
        self.write("munge.key", "not a secret: %s" % (self.dir * 8))
        self.write("slurm.conf", CONFIG % {"dir": self.dir, "ctld": ctld, "slurmd": slurmd,
                                           "cpus": os.cpu_count() or 1, "gpus": self.gpus}, 0o644)
        self.make_gpus()
        self.write("gres.conf", "Name=gpu Flags=nvidia_gpu_env File=%s/gpu[0-%d]\n" % (self.dir, self.gpus - 1), 0o644)
        self.write("cgroup.conf", "CgroupPlugin=cgroup/v1\n", 0o644)
        try:
            self.start(self.munged, "--foreground", "--force", "--key-file=" + self.path("munge.key"),
                       "--socket=" + self.path("munge.socket"), "--pid-file=" + self.path("munged.pid"),
                       "--log-file=" + self.path("munged.log"), "--seed-file=" + self.path("munged.seed"))
            self.wait("munged", lambda: os.path.exists(self.path("munge.socket")))
            self.start(self.slurmctld, "-D", "-c", "-f", self.path("slurm.conf"))
            self.start(self.slurmd, "-D", "-N", "localhost", "-f", self.path("slurm.conf"))
            self.wait("the node", lambda: "State=IDLE" in self.state())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
