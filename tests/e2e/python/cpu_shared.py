# SPDX-License-Identifier: Apache-2.0
"""What t_cpu_tensors.py runs under Debian's PyTorch: shared memory that a child maps, too. Prints JSON."""

import json
import os

import torch
import torch.multiprocessing


def receive(queue, told):
    shared = queue.get()
    own = torch.ones(2 << 18)
    told.put(float(shared.mean() + own[0]))  # touches all of it
    told.join()


def shared_with_child(address):
    """This process's share of the mapping: other shared memory, as a recording in /dev/shm or on tmpfs has, is not asked for."""
    is_there = False
    with open("/proc/self/smaps", encoding="utf-8") as file:
        for line in file:
            word = line.split()[0]
            if "-" in word:
                begin, end = (int(part, 16) for part in word.split("-"))
                is_there = begin <= address < end
            elif is_there and word == "Pss:":
                return int(line.split()[1]) * 1024
    return None


def main():
    torch.set_num_threads(1)
    context = torch.multiprocessing.get_context("fork")
    queue, told = context.Queue(), context.JoinableQueue()
    child = context.Process(target=receive, args=(queue, told))
    child.start()
    shared = torch.ones(24 << 18).share_memory_()
    own = torch.ones(5 << 18)
    queue.put(shared)
    said = told.get(timeout=200)
    import tare
    tare.mark("both have it")
    pss = shared_with_child(shared.data_ptr())
    told.task_done()
    child.join()
    print(json.dumps({"pid": os.getpid(), "child": child.pid, "said": said + float(own[0]), "pss": pss}))


if __name__ == "__main__":
    main()
