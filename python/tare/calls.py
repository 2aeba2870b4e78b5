# SPDX-License-Identifier: Apache-2.0
"""A function that something else calls (a cloud runner, a queue, a notebook), recorded: see docs/RECIPES.md.

    def handler(event):
        return tare.call(train, event)

A process that runs already cannot be recorded, because the driver's functions are bound by then. So the function runs
in a process of its own, recorded from its first line, and what it returns or raises comes back.
"""

import contextlib
import json
import multiprocessing
import os
import subprocess
import traceback

from tare import installed

# In the environment of a process that is recorded.
_RECORDED = "TARE_RECORDING"


class CallFailed(RuntimeError):
    """The process ended without an answer, or what it raised cannot be sent."""


def _variables(options):
    program = installed.program()
    if program is None:
        raise CallFailed("the program tare is not there; install Tare's wheel")
    done = subprocess.run([program, "env", "--json"] + list(options), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise CallFailed(done.stderr.decode("utf-8", "replace").strip())
    described = json.loads(done.stdout.decode())
    os.makedirs(described["recording"], mode=0o700, exist_ok=True)
    return described["recording"], described["variables"]


@contextlib.contextmanager
def _environment(variables):
    """The variables, for what is started meanwhile; lists are put in front of what there is."""
    before = dict(os.environ)
    for name, value in variables.items():
        is_list = name in ("LD_PRELOAD", "LD_LIBRARY_PATH") and before.get(name)
        os.environ[name] = value + ":" + before[name] if is_list else value
    try:
        yield
    finally:
        for name in variables:
            if name in before:
                os.environ[name] = before[name]
            else:
                del os.environ[name]


def _start_tracker():
    """multiprocessing's own helper, which stays: before the variables are there."""
    try:
        from multiprocessing import resource_tracker as tracker
    except ImportError: # before Python 3.8
        from multiprocessing import semaphore_tracker as tracker
    tracker.ensure_running()


def _answer(pipe, function, args, kwargs):
    try:
        answer = (function(*args, **kwargs), None, None)
    except BaseException as error: # sent to the caller, whatever it is
        answer = (None, error, traceback.format_exc())
    try:
        pipe.send(answer)
    except Exception as error: # it cannot be pickled
        pipe.send((None, CallFailed("the answer cannot be sent: %s" % error), answer[2]))
    pipe.close()


def call(function, *args, tare_options=(), **kwargs):
    """function(*args, **kwargs) in a recorded process. `tare_options`: of tare env, such as ("-o", "job.tare").

    The function must be one that the process can import, by its module and name. In a process that is recorded already
    it is just called.
    """
    if os.environ.get(_RECORDED):
        return function(*args, **kwargs)
    recording, variables = _variables(tare_options)
    method = multiprocessing.get_context("spawn")
    here, there = method.Pipe(duplex=False)
    process = method.Process(target=_answer, args=(there, function, args, kwargs))
    _start_tracker()
    with _environment(variables):
        process.start()
    there.close()
    try:
        result, error, text = here.recv()
    except EOFError:
        process.join()
        raise CallFailed("the process ended with %s before it answered; its recording is %s"
                         % (process.exitcode, recording)) from None
    finally:
        here.close()
    process.join()
    if error is not None:
        raise error from CallFailed("in the recorded process:\n" + (text or ""))
    return result
