#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What becomes of a page that is used: by keys, by clicks, step after step.

    TARE_E2E_BUILD=build tests/e2e/t_page_use.py CASE
"""

import json
import re

from harness import MIB, case, check, check_equal, fixture, main
from hostile import STEERS
from pages import data_of, make, show


@case
def by_keyboard(box):
    """The cursor of the plot, its range, a frame of the icicle: what follows is what the address says."""
    box.record(fixture("e2e_phases"))
    points = data_of(make(box))["time"]["account"]["panels"][0]["t_ns"]
    page = show(box)
    page.js("document.getElementById('plot').focus()")
    page.key("Home")
    page.key("ArrowRight")
    check_equal(page.js("document.activeElement.id"), "plot", "the plot has no focus once it is drawn again")
    check_equal(page.js("location.hash"), "#t=%d" % points[1])
    page.key("+")
    check(re.search("from=[0-9]+|to=[0-9]+", page.js("location.hash")), page.js("location.hash"))
    show(box, fresh=True)
    page.js("document.querySelector('#ice button').focus()")
    page.key("ArrowDown")
    page.key("Enter")
    check("path=" in page.js("location.hash"), page.js("location.hash"))
    check(page.js("document.activeElement.closest('#ice') != null"), "the icicle has no focus once it is drawn again")


@case
def a_page_that_was_used_is_the_page_of_its_address(box):
    """What a click leaves as it is, is what would be drawn now: of each state the page that came there by use has what one that is loaded there has."""
    box.record(fixture("e2e_training"))
    make(box)
    path, page, seen = "file://" + box.path("page.html"), show(box), []
    drawn = "[...document.getElementById('main').children].map(s => s.outerHTML)"
    for x in (.1, .8):
        page.click("#plot", at=(x, .3))
        seen.append((page.js("location.hash"), page.js(drawn)))
    for key in ("End", "+", "PageDown"):
        page.js("document.getElementById('plot').focus()")
        page.key(key)
        seen.append((page.js("location.hash"), page.js(drawn)))
    for button in ("#books tbody tr:nth-of-type(4) button", "#t-blocks tbody button", "#t-step tbody tr:nth-of-type(2) button", "#time [data-value=end]", "#time [data-value=line]",
                   "#where [data-value=table]", "#where [data-value=left]", "#steps [data-value=tensors]", "#blocks [data-value='1']", "#time .tabs:last-of-type button:last-of-type"):
        page.js("document.querySelector(%s).click()" % json.dumps(button))
        seen.append((page.js("location.hash"), page.js(drawn)))
    check_equal(len({at for at, _ in seen}), len(seen), "something did nothing", [at for at, _ in seen])
    for at, by_use in seen:
        loaded = page.open(path + at).js(drawn)
        check_equal(len(by_use), len(loaded), at)
        for a, b in zip(by_use, loaded):
            check_equal(a, b, at)


@case
def what_a_cursor_reads_steers_nothing(box):
    """Lines that follow the pointer or the keys, and what they tell those who hear them: names in them turn no text around."""
    box.record(fixture("e2e_training"))
    text = make(box)
    data, odd = data_of(text), "\u202eevil\x1b[2J\n\u034f"
    for report in (data["report"], *data["report"]["also"]):
        for device in report["devices"]:
            device["name"] = odd + device["name"]
    for key in ("lines", "frames"):
        data[key] = [odd + name for name in data[key]]
    data["pool"]["categories"] = [odd + name for name in data["pool"]["categories"]]
    with open(box.path("page.html"), "w", encoding="utf-8") as page:
        page.write(re.sub('(id="data">).*?(</script>)', lambda m: m.group(1) + json.dumps(data).replace("<", "\\u003c") + m.group(2), text, flags=re.S))
    page, read = show(box), 0
    for plot, said in (("#plot", "#time"), ("#block-plot", "#block-now"), ("#pool-map", "#segment"), ("#ice button", "#frame")):
        page.js("document.querySelector(%s).focus()" % json.dumps(plot))
        page.key("ArrowRight" if plot != "#ice button" else "ArrowDown")
        for words in page.js("[...document.querySelector(%s).querySelectorAll('*'), ...document.querySelectorAll('[aria-valuetext]')].flatMap(e => [e.getAttribute('aria-valuetext'), ...[...e.childNodes].filter(n => n.nodeType === 3).map(n => n.data)]).concat(document.querySelector(%s).textContent).filter(Boolean)" % (json.dumps(said), json.dumps(said))):
            read += "evil" in words
            check(not STEERS.search(words) and "\u034f" not in words and "\n" not in words, plot, words)
    check(read >= 4, "the names were not read", read)


@case
def a_click_draws_again_what_changes(box):
    """The cursor moves: what does not follow it stays, element by element."""
    box.record(fixture("e2e_training"))
    make(box)
    page = show(box)
    page.js("window.before = [...document.querySelectorAll('#main > section')].map(s => [s.id, s, s.querySelector('svg')])")
    page.click("#plot", at=(.4, .3))
    stay = dict(page.js("before.map(([id, s, svg]) => [id, [document.getElementById(id) === s, svg === (document.getElementById(id).querySelector('svg'))]])"))
    check_equal({id for id, (same, _) in stay.items() if not same}, {"where"}, stay)
    check_equal([id for id, (_, same) in stay.items() if not same], [], "a picture was drawn again")
    page.click("#plot", at=(.4, .3), to=(.6, .3))
    check(not page.js("before.find(b => b[0] === 'time')[2].isConnected"), "another range is another picture")


@case
def a_frame_in_words_and_rows_in_the_order_of_a_column(box):
    """Pointed at, a frame says what it holds; Escape goes one frame out; a head of a table orders it, and its sum stays."""
    box.record(fixture("e2e_phases"))
    make(box)
    page = show(box)
    page.js("document.querySelectorAll('#ice button')[1].focus()")
    name, size = page.js("(b => [b.dataset.frame, Number(b.dataset.bytes)])(document.querySelectorAll('#ice button')[1])")
    said = page.js("document.getElementById('frame').textContent")
    check(said.startswith(name) and "%.1f MiB" % (size / MIB) in said.replace(",", "") and " objects" in said, said)
    page.key("Enter")
    check("path=" in page.js("location.hash"), page.js("location.hash"))
    page.key("Escape")
    check_equal(page.js("location.hash"), "")
    page = show(box, "#by=account")
    rows = "[...document.querySelectorAll('#rows tbody tr[data-label]')].map(r => [r.dataset.label, Number(r.querySelector('[data-bytes]').dataset.bytes)])"
    total = "document.querySelector('#rows .total [data-bytes]').dataset.bytes"
    by_size, sum_of = page.js(rows), page.js(total)
    check(len(by_size) > 3 and [s for _, s in by_size] == sorted((s for _, s in by_size), reverse=True), by_size)
    page.click("#by-label")
    check_equal([n for n, _ in page.js(rows)], sorted(n for n, _ in by_size))
    check_equal(page.js("[document.activeElement.id, document.querySelector('[aria-sort]').getAttribute('aria-sort'), location.hash]"), ["by-label", "ascending", "#by=account&sort=label"])
    page.click("#by-label")
    check_equal([n for n, _ in page.js(rows)], sorted((n for n, _ in by_size), reverse=True))
    check_equal(page.js(total), sum_of)


if __name__ == "__main__":
    main()
