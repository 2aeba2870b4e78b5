# SPDX-License-Identifier: Apache-2.0
"""Text that tries to break out of what it is printed in, recordings whose every text is such, and what must hold of
every output all the same."""

import csv
import html.parser
import io
import json
import os
import re
import subprocess
import xml.etree.ElementTree

from harness import PATIENCE, check

FORGED = "FORGED"
SNIPPETS = [
    b"\x1b[2J\x1b]0;title\x07", b"\nFORGED\r\n", b"=cmd|'/c calc'!A1", b"</text></script><script>x</script>", b"]]>-->",
    b"\xff\xfe\xc0\xaf\xed\xa0\x80", b"\xc2\x9b31m\xc2\x85", b"\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xe2\x80\x8b",
    b"\"'`,;|\t\\\x7f", b"{\"a\":1}", b"@SUM(1)", b"+1+2", b"-2-3", b"%s%n%1$n", b"\" onload=\"x", b"\xf3\xa0\x81\x81\xef\xbb\xbf",
    b"[x](javascript:1)**", b"\xef\xbc\x9d1+1",
]
ALL = b"".join(SNIPPETS).replace(b"/", b"|")  # in one name of a file

# What is not printed: control characters but line ends and tabs, and what reorders, hides or parts text.
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")
TONES = re.compile(r"\x1b\[(0|1|2|33)m")
FORMULA = re.compile(r" *[=+\-@\uff1d\uff0b\uff0d\uff20]")
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?$")


def replacement(number, size):
    """`size` bytes that begin at another snippet each time."""
    texts = SNIPPETS[number % len(SNIPPETS):] + SNIPPETS
    return (b"".join(texts) * (1 + size // 100))[:size]


def first_of_each(pairs):
    """A symbol has an offset of its own behind the one in the file."""
    return dict(reversed(pairs))


def poison(box, rec):
    """Every text of the logs, their headers and recording.json becomes hostile; sizes and all else stay."""
    count = 0
    for line in box.tare("dump", rec, "--json", "--offsets").out.splitlines():
        record = json.loads(line, object_pairs_hook=first_of_each)
        texts = [record.get("text")] + [record["header"][k] for k in ("program", "host") if "header" in record]
        if record.get("kind") == "launch":  # what tells one rank of a job from another stays
            texts = re.findall(r"^MASTER_ADDR=(.*)$", record["text"], re.M)
        offset, size = (record["offset"], record["size"]) if "offset" in record else (0, 4096)
        with open(box.path(rec, record["log"]), "r+b") as log:
            for text in texts:
                log.seek(offset)
                at = log.read(size).find(text.encode()) if text else -1
                if at < 0:
                    continue
                log.seek(offset + at)
                log.write(replacement(count, len(text.encode())))
                count += 1
    with open(box.path(rec, "recording.json"), encoding="utf-8") as file:
        described = poisoned(json.load(file))
    with open(box.path(rec, "recording.json"), "wb") as file:
        file.write(json.dumps(described).encode().replace(b"FORGED", b"\xffFORGED"))
    return count


def poisoned(value, key=""):
    if isinstance(value, dict):
        return {k: poisoned(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [poisoned(v) for v in value]
    return ALL.decode("utf-8", "replace") if isinstance(value, str) and key != "state" else value


class Page(html.parser.HTMLParser):
    """Nothing but Tare's own elements."""
    allowed = set("html head meta style title body h1 h2 p ul li div table thead tbody tr th td span i b".split())

    def handle_starttag(self, tag, attributes):
        check(tag in self.allowed, "element %s" % tag)
        for name, _ in attributes:
            check(name in ("lang", "charset", "name", "content", "class", "tabindex", "title", "style"), "attribute %s" % name)


def check_csv(text):
    rows = [row for row in csv.reader(io.StringIO(text), strict=True)]
    for cell in (cell for row in rows for cell in row):
        check("\n" not in cell and (NUMBER.match(cell) or not FORMULA.match(cell)), "a cell %r" % cell)


def check_svg(text):
    for element in xml.etree.ElementTree.fromstring(text).iter():
        check("script" not in element.tag, element.tag)
        check(not [name for name in element.attrib if name.startswith("on")], element.attrib)


def check_markdown(text):
    check("<" not in text, text)
    check("](" not in text.replace("\\]", ""), text)


FORMATS = {
    "json": json.loads,
    "lines": lambda text: [json.loads(line) for line in text.splitlines()],
    "csv": check_csv,
    "svg": check_svg,
    "html": lambda text: Page().feed(text),
    "md": check_markdown,
    "text": lambda text: None,
}


def check_bytes(what, data):
    """Valid UTF-8 that steers nothing, without a line that a name made."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as why:
        check(False, "%s: %s: %r" % (what, why, data[max(0, why.start - 60):why.start + 20]))
    found = STEERS.search(text)
    check(not found, "%s: %r" % (what, found and text[max(0, found.start() - 60):found.start() + 20]))
    check(not re.search("^" + FORGED, text, re.M), "%s: a name made a line of its own: %s" % (what, text))
    return text


def check_output(argv, out, err, form):
    """What a command printed."""
    what = " ".join(map(repr, argv))
    check_bytes(what + ": stderr", err)
    text = check_bytes(what, out)
    if text:
        try:
            FORMATS[form](text)
        except (ValueError, csv.Error, xml.etree.ElementTree.ParseError) as why:
            check(False, "%s is no %s: %s" % (what, form, why))


def run(box, argv, form="text", output=None, env=None, stdin=b""):
    """Runs a command, argv of str or bytes, and checks all that it writes; `output`: also this file of that form."""
    argv = [os.fsencode(word) for word in argv]
    done = subprocess.run(argv, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=box.dir,
                          env=box.environment(env), timeout=60 * PATIENCE)
    check(done.returncode in range(128), "%r was killed: %d, %r" % (argv, done.returncode, done.stderr[-2000:]))
    check_output(argv, done.stdout, done.stderr, form if output is None and not done.returncode else "text")
    if output and os.path.exists(output):
        with open(output, "rb") as file:
            check_output(argv, file.read(), b"", form)
    return done
