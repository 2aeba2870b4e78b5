#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a wheel of a dist folder: tools/make-wheel.py DIST_FOLDER OUT_FOLDER. The last line of output is the wheel.

The program goes among the scripts, the module tare where Python looks, libraries and headers inside the module, where
the program finds them (src/base/self_path.h). The same files give the same bytes."""

import base64
import hashlib
import os
import stat
import sys
import zipfile

# The oldest C library that tools/check-symbol-versions.sh allows, as PEP 600 says it.
PLATFORM = "manylinux_2_27"
FIRST_TIME_OF_ZIP = (1980, 1, 1, 0, 0, 0)
MODULE, LIBRARIES = "lib/tare/python/", "lib/tare/"
# Of these README and the licences are among the wheel's own files; manuals are `tare help`.
LEFT_OUT = ("README.md", "LICENSE", "LICENSE.zstd", "LICENSE.libbacktrace", "CHANGELOG.md", "share")

METADATA = """Metadata-Version: 2.1
Name: tare
Version: {version}
Summary: Where did my GPU memory go? A memory accountant for programs that you do not change
License: Apache-2.0
Platform: linux
Requires-Python: >=3.6
Description-Content-Type: text/markdown

{readme}"""

WHEEL = """Wheel-Version: 1.0
Generator: tare
Root-Is-Purelib: false
Tag: {tag}
"""


def files_below(folder):
    """(name, bytes, is executable) of the files that a wheel can hold: it has no links."""
    found = []
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            if not os.path.islink(path):
                with open(path, "rb") as file:
                    found.append((os.path.relpath(path, folder), file.read(), os.access(path, os.X_OK)))
    return found


def place(name, base):
    """Where a file of the dist folder lies in the wheel, whose name and version are `base`."""
    if name.startswith(MODULE):
        return name[len(MODULE):]
    if name.startswith("bin/"):
        return base + ".data/scripts/" + name[len("bin/"):]
    return "tare/" + base + "/" + (name[len(LIBRARIES):] if name.startswith(LIBRARIES) else name)


def record_row(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return "%s,sha256=%s,%d\n" % (name, digest, len(data))


def contents(dist, version, tag):
    """[(name, bytes, is executable)] of the wheel; its record comes last."""
    files = files_below(dist)
    top = {name: data for name, data, _ in files if name in LEFT_OUT}
    base = "tare-" + version
    info = base + ".dist-info/"
    inside = sorted((place(name, base), data, executable)
                    for name, data, executable in files if name.split("/")[0] not in LEFT_OUT)
    metadata = METADATA.format(version=version, readme=top["README.md"].decode())
    inside += [(info + "LICENSE", top["LICENSE"], False),
               (info + "LICENSE.zstd", top["LICENSE.zstd"], False),
               (info + "LICENSE.libbacktrace", top["LICENSE.libbacktrace"], False),
               (info + "METADATA", metadata.encode(), False),
               (info + "WHEEL", WHEEL.format(tag=tag).encode(), False)]
    record = "".join(record_row(name, data) for name, data, _ in inside) + info + "RECORD,,\n"
    return inside + [(info + "RECORD", record.encode(), False)]


def main():
    dist, out = sys.argv[1:]
    _, version, machine = os.path.basename(os.path.normpath(dist)).split("-", 2)
    tag = "py3-none-%s_%s" % (PLATFORM, machine)
    path = os.path.join(out, "tare-%s-%s.whl" % (version, tag))
    os.makedirs(out, exist_ok=True)
    with zipfile.ZipFile(path + ".part", "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data, executable in contents(dist, version, tag):
            entry = zipfile.ZipInfo(name, FIRST_TIME_OF_ZIP)
            entry.create_system = 3 # Unix, or the mode is not looked at
            entry.external_attr = (stat.S_IFREG | (0o755 if executable else 0o644)) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    os.replace(path + ".part", path)
    print(path)


if __name__ == "__main__":
    main()
