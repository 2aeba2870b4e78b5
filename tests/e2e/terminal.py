# SPDX-License-Identifier: Apache-2.0
"""A command on a terminal of its own. What its screen shows is the business of who reads it."""

import fcntl
import os
import pty
import select
import struct
import termios
import time


class OnTerminal:
    def start(self, box, argv, env=None, delay=0):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            time.sleep(delay)
            os.chdir(box.dir)
            os.execve(argv[0], argv, box.environment({"TERM": "xterm", "LANG": "C.UTF-8", **(env or {})}))

    def set_size(self, columns, rows):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def size(self):
        return struct.unpack("HHHH", fcntl.ioctl(self.fd, termios.TIOCGWINSZ, bytes(8)))[:2]

    def parts(self, seconds):
        """What comes within that time; None last, where the terminal was left."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if not select.select([self.fd], [], [], 0.02)[0]:
                continue
            try:
                part = os.read(self.fd, 65536)
            except OSError:
                part = b""
            if not part:
                yield None
                return
            yield part
