# SPDX-License-Identifier: Apache-2.0
"""One Chromium for all cases of a file, driven by the protocol of its developer tools over two pipes: real clicks, real keys, other
media. Nothing but Python is needed.

    page = browser.page(800)
    page.open("file:///tmp/page.html#t=end")
    page.click("#plot")
    page.key("ArrowRight")
    page.js("location.hash")
"""

import atexit
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from harness import PATIENCE, ROOT, Failure, Skip, needs_exec, needs_program

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions", "--disable-background-networking",
         "--remote-debugging-pipe", "--force-color-profile=srgb", "--hide-scrollbars"]
KEYS = {"Enter": (13, "\r"), " ": (32, " "), "Tab": (9, "")}


class Browser:
    def __init__(self):
        needs_exec()
        needs_program("chromium")
        self.home = tempfile.mkdtemp(prefix="tare-chromium-")
        to_read, self.to = os.pipe()
        self.of, of_write = os.pipe()
        self.process = subprocess.Popen(["sh", "-c", 'exec "$@" 3<&%d 4>&%d' % (to_read, of_write), "sh", "chromium", *FLAGS, "--user-data-dir=" + self.home],
                                        pass_fds=(to_read, of_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(of_write)
        self.number, self.rest, self.events = 0, b"", []
        atexit.register(self.close)
        try:
            self.call("Browser.getVersion")
        except (Failure, OSError) as why:
            raise Skip("chromium does not run here") from why

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def message(self, until):
        while b"\0" not in self.rest:
            if not select.select([self.of], [], [], max(0, until - time.monotonic()))[0]:
                raise Failure("chromium says nothing")
            said = os.read(self.of, 1 << 20)
            if not said:
                raise Failure("chromium has ended")
            self.rest += said
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self.to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + 20 * PATIENCE
        while True:
            said = self.message(until)
            if said.get("id") == self.number:
                if "error" in said:
                    raise Failure(method, said["error"])
                return said["result"]
            self.events.append(said)

    def wait(self, event, session):
        until = time.monotonic() + 20 * PATIENCE
        while True:
            for i, said in enumerate(self.events):
                if said.get("method") == event and said.get("sessionId") == session:
                    return self.events.pop(i)["params"]
            self.events.append(self.message(until))


class Page:
    def __init__(self, browser, width, height):
        self.browser, self.shown = browser, None
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.resize(width, height)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def resize(self, width, height=1000):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, **features):
        """prefers_color_scheme="dark", prefers_reduced_motion="reduce"; or media="print"."""
        kind = features.pop("media", "")
        self.call("Emulation.setEmulatedMedia", media=kind, features=[{"name": k.replace("_", "-"), "value": v} for k, v in features.items()])

    def open(self, address):
        """The page is loaded anew, also where only what follows the # is another."""
        self.browser.events, self.shown = [], None
        self.call("Page.navigate", url="about:blank")
        self.browser.wait("Page.loadEventFired", self.session)
        self.call("Page.navigate", url=address)
        self.browser.wait("Page.loadEventFired", self.session)
        return self

    def show(self, path, at=""):
        """A file as it is now, at a place of it. Where the browser has it already it goes to that place, which is much cheaper."""
        file = (path, os.stat(path).st_ino, os.stat(path).st_mtime_ns)
        if self.shown != file:
            self.shown = None
            self.open("file://" + path + at)
            self.shown = file
            return self
        self.browser.events = []
        self.js("location.hash = %s; new Promise(done => setTimeout(done, 0))" % json.dumps(at or "#"))
        return self

    def js(self, expression):
        said = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in said:
            raise Failure(expression, said["exceptionDetails"])
        return said["result"].get("value")

    def click(self, selector, at=(.5, .5), to=None):
        """In the middle of an element, or at parts of its width and height; a drag where `to` is given."""
        box = self.js("(e => { e.scrollIntoView({ block: 'center' }); const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })"
                      "(document.querySelector(%s))" % json.dumps(selector))
        point = lambda part: {"x": box[0] + box[2] * part[0], "y": box[1] + box[3] * part[1]}
        mouse = lambda kind, part, **more: self.call("Input.dispatchMouseEvent", type=kind, **point(part), **more)
        mouse("mouseMoved", at)
        mouse("mousePressed", at, button="left", clickCount=1, buttons=1)
        if to:
            mouse("mouseMoved", to, button="left", buttons=1)
        mouse("mouseReleased", to or at, button="left", clickCount=1)

    def key(self, key, shift=False):
        code, text = KEYS.get(key, (0, key if len(key) == 1 else ""))
        more = {"key": key, "code": key, "modifiers": 8 if shift else 0, **({"windowsVirtualKeyCode": code} if code else {}), **({"text": text} if text else {})}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", **{k: v for k, v in more.items() if k != "text"})

    def type(self, text):
        self.call("Input.insertText", text=text)

    def complaints(self):
        """What the page fetched, and what its script said."""
        bad = []
        self.js("0")
        for said in self.browser.events:
            if said.get("sessionId") != self.session:
                continue
            if said["method"] == "Runtime.exceptionThrown":
                bad.append(said["params"]["exceptionDetails"].get("exception", said["params"]["exceptionDetails"]))
            if said["method"] == "Log.entryAdded":
                bad.append(said["params"]["entry"]["text"])
            if said["method"] == "Network.requestWillBeSent" and not said["params"]["request"]["url"].startswith(("file:", "about:", "data:")):
                bad.append(said["params"]["request"]["url"])
        return bad

    def audit(self, part=""):
        """[how many of axe-core's rules the page, or a part of it, keeps, what it breaks]. A machine without axe-core skips what is not tested without it."""
        file = subprocess.run([os.path.join(ROOT, "tools", "axe.sh"), "--path"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        if not os.path.exists(file):
            raise Skip("axe-core is not there: tools/axe.sh gets %s" % file)
        if not self.js("typeof axe === 'object'"):
            with open(file, encoding="utf-8") as script:
                self.js(script.read() + ";0")
        return self.js("axe.run(" + (json.dumps(part) if part else "document") + ", { resultTypes: ['violations'] }).then(r => [r.passes.length, r.violations.map(v => [v.id, v.impact, v.nodes.length, v.nodes[0].html])])")

    def html(self):
        return self.js("document.documentElement.outerHTML")

    def picture(self, path):
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)


ONE = []


def page(width=1000, height=1000):
    if not ONE:
        ONE.append(Browser())
    return Page(ONE[0], width, height)
