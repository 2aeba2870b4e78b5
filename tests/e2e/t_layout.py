#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages as a browser lays them out: nothing touches or covers what is beside it, figures end where their column ends."""

import html
import json
import re
import subprocess

from harness import PATIENCE, Skip, case, check, check_equal, fixture, main, needs_exec, needs_program
from sweeps import cell, sweep

# Adds to the page what is wrong with it. A head stands above figures that end where it ends.
SCRIPT = """<script>
const found = [], box = x => x.getBoundingClientRect();
function text(of) { const r = document.createRange(); r.selectNodeContents(of); return box(r); }
function say(what, of) { found.push(what + ': ' + of.textContent.slice(0, 60)); }
function ends(cells) {
	cells.forEach(c => { if (Math.abs(text(c).right - text(cells[0]).right) > .6) say('does not end with its column', c); });
}
const body = box(document.body);
if (document.documentElement.scrollWidth > innerWidth + 1) found.push('the page is wider than the window');
let before = null;
for (const block of document.querySelectorAll('body > :not(script)')) {
	if (before && box(block).top - box(before).bottom < 4) say('touches what is above it', block);
	before = block;
}
for (const table of document.querySelectorAll('table')) {
	const rows = [...table.rows].filter(r => r.cells.length == table.rows[0].cells.length);
	[...rows[0].cells].forEach((head, i) => {
		if (head.className == 'n') ends(rows.map(r => r.cells[i]).filter(c => c.textContent));
	});
}
for (const bars of document.querySelectorAll('.bars')) {
	const bar = bars.querySelector('.bar');
	ends([...bars.querySelectorAll('.n')]);
	if (box(bar).width < body.width / 5) say('no room for bars', bars);
	bars.querySelectorAll('.label').forEach(l => { if (box(l).right > box(bar).left) say('covers its bar', l); });
}
const pre = document.createElement('pre');
pre.id = 'found';
pre.textContent = JSON.stringify({ found: found, rows: document.querySelectorAll('tr, .bars .n').length });
document.body.append(pre);
</script></body>"""
WIDTHS = (500, 1000)  # no window of chromium is narrower than 500


def needs_chromium():
    needs_program("chromium")


def laid_out(box, page, width):
    """What the script says of a page in a window of this width."""
    with open(box.path("page.html"), "w", encoding="utf-8") as file:
        file.write(page.replace("</body>", SCRIPT))
    done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + box.path("browser"),
                           "--window-size=%d,1000" % width, "--dump-dom", "file://" + box.path("page.html")],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60 * PATIENCE, check=False)
    said = re.search(r'<pre id="found">(.*?)</pre>', done.stdout.decode(), re.S)
    if not said:
        raise Skip("chromium does not run here")
    return json.loads(html.unescape(said.group(1)))


def check_laid_out(box, *command):
    needs_chromium()
    done = box.tare(*command, "--format", "html")
    check_equal(done.code, 0, done)
    for width in WIDTHS:
        said = laid_out(box, done.out, width)
        check(said["rows"] > 1, command, said)
        check_equal(said["found"], [], command, width)


@case
def what_is_wrong_is_found(box):
    """The tests below can fail: a legend at the head of a table, a total beside its column, a page that is too wide."""
    needs_chromium()
    page = ('<!DOCTYPE html><body style="width:%s"><div class="keys">a</div><div><table><tr><th class="n">head</th></tr>'
            '<tr><td class="n" style="text-align:right;padding-right:%dpx">1</td></tr></table></div></body>')
    style = "<style>body,table{margin:0;border-spacing:0}.n{text-align:right;padding:0}</style>"
    said = laid_out(box, page % ("2000px", 7) + style, 1000)["found"]
    check_equal([words.split(":")[0] for words in said], ["the page is wider than the window", "touches what is above it",
                                                          "does not end with its column"], said)


@case
def a_sweep(box):
    needs_chromium()
    needs_exec()
    cells = '[{"name": "a configuration with a name that is long", "mib": 9}, {"name": "small", "mib": 200}, {"name": "big", "mib": 900}]'
    sweep(box, "--vram", "1GiB", "--grid-json", cells, "--total", "1000", "--work", "steps={mib}", command=cell("mib={mib}"))
    check_laid_out(box, "report", "t.db")


@case
def a_report_and_its_views(box):
    needs_chromium()
    box.record(fixture("e2e_training"))
    check_laid_out(box, "report", "rec.tare")
    check_laid_out(box, "report", "rec.tare", "--by", "phase")


@case
def what_runs(box):
    check_laid_out(box, "weigh")


main()
