#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages of Tare for people who see other colours, use no mouse, want no motion, or print.

    TARE_E2E_BUILD=build tests/e2e/t_page_look.py CASE
"""

import json
import os
import re

import browser
from harness import ROOT, case, check, check_equal, fixture, main
from vision import VISIONS, apart, contrast, lab

LEAST = 10  # that two parts of memory are apart in CIEDE2000, to anybody
PAGE = []


def show(box, name, at="", width=1000, **media):
    if not PAGE:
        PAGE.append(browser.page(width))
    PAGE[0].resize(width)
    PAGE[0].media(**media)
    PAGE[0].show(box.path(name), at)
    check_equal(PAGE[0].complaints(), [], at)
    return PAGE[0]


def make(box):
    box.record(fixture("e2e_phases"))
    check_equal(box.tare("report", "rec.tare", "--html", "page.html").code, 0)


@case
def the_measure_itself(box):
    """Of the pairs that Sharma, Wu and Dalal published to test it by."""
    for p, q, wanted in (((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425), ((50, 0, 0), (50, -1, 2), 2.3669), ((50, 2.49, -.001), (50, -2.49, .0011), 7.2195),
                         ((50, 2.5, 0), (73, 25, -18), 27.1492), ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644), ((2.0776, .0795, -1.135), (.9033, -.0636, -.5514), .9082)):
        check(abs(apart(p, q) - wanted) < 1e-4, p, q, apart(p, q))


@case
def colours_are_told_apart(box):
    """Any two parts of memory may lie beside one another."""
    with open(os.path.join(ROOT, "web", "page.css"), encoding="utf-8") as css:
        text = css.read()
    for theme, where in (("light", r":root \{(.*?)\}"), ("dark", r":root\[data-theme=dark\] \{(.*?)\}")):
        colours = dict(re.findall(r"--(\w+):\s*(#\w+)", re.search(where, text, re.S).group(1)))
        parts = sorted(k for k in colours if re.fullmatch(r"c\d", k))
        check_equal(len(parts), 9, theme)
        for vision in VISIONS:
            for a in parts:
                for b in parts:
                    far = apart(lab(colours[a], vision), lab(colours[b], vision))
                    check(a >= b or far >= LEAST, theme, vision, a, colours[a], b, colours[b], "%.1f" % far)
        for part in parts:
            check(contrast(colours[part], colours["paper"]) >= 1.6, theme, part)
        for ink in ("ink", "soft", "bad", "good", "focus"):
            for ground in ("paper", "band"):
                check(contrast(colours[ink], colours[ground]) >= 4.5, theme, ink, ground, contrast(colours[ink], colours[ground]))


@case
def nothing_for_axe_to_find(box):
    make(box)
    check_equal(box.tare("diff", "rec.tare@peak", "rec.tare@end", "--html", "two.html").code, 0)
    box.record(fixture("e2e_training"), rec="steps.tare")
    check_equal(box.tare("report", "steps.tare", "--html", "steps.html").code, 0)
    rules = 0
    for name, at, width, theme in (
            ("page.html", "", 1400, "light"), ("page.html", "", 800, "dark"), ("page.html", "#by=source", 360, "dark"), ("page.html", "#show=table&layers=line&q=a", 360, "light"),
            ("steps.html", "#block=1&step=2", 1400, "light"), ("two.html", "", 800, "light"), ("two.html", "", 1400, "dark")):
        page = show(box, name, at, width, prefers_color_scheme=theme)
        found = page.audit()
        rules = max(rules, found[0])
        check_equal(found[1], [], name, at, width, theme)
    check(rules >= 20, "axe looked at little", rules)


@case
def keys_reach_everything(box):
    """Tab comes to all that can be used, in the order of the page, and shows where it is."""
    make(box)
    page = show(box, "page.html")
    wanted = page.js("[...document.querySelectorAll('a[href], button:not([disabled]), select, input, summary, [tabindex=\"0\"]')].filter(e => e.getClientRects().length && e.checkVisibility()).length")
    page.js("window.seen = []; addEventListener('focusin', e => { const o = getComputedStyle(e.target); seen.push([e.target, o.outlineStyle, parseFloat(o.outlineWidth)]); })")
    for _ in range(wanted + 1):
        page.key("Tab")
    check_equal(page.js("new Set(seen.map(s => s[0])).size"), wanted, "some are not reached")
    check_equal(page.js("seen.filter(s => s[1] === 'none' || !(s[2] >= 1)).map(s => s[0].outerHTML)"), [], "nobody sees that it has the focus")
    check(page.js("seen.slice(1, %d).every((s, i) => seen[i][0].compareDocumentPosition(s[0]) & Node.DOCUMENT_POSITION_FOLLOWING)" % wanted), "another order than that of the page")
    page = show(box, "page.html")
    page.key("Tab")
    page.key("Enter")
    check_equal(page.js("document.querySelector(':target').id"), "answer", "the first key leads past what is above the answer")


@case
def without_motion_and_on_paper(box):
    make(box)
    page = show(box, "page.html", prefers_reduced_motion="reduce")
    page.click("#plot", at=(.5, .3))
    moving = "[...document.querySelectorAll('*')].filter(e => (s => s.animationName !== 'none' || s.transitionDuration !== '0s' || s.scrollBehavior === 'smooth')(getComputedStyle(e))).length"
    check_equal(page.js("document.getAnimations().length"), 0)
    check_equal(page.js(moving), 0)
    page = show(box, "page.html", media="print", prefers_color_scheme="dark")
    check_equal(page.js("[...document.querySelectorAll('.controls, nav, .pick')].filter(e => e.getClientRects().length).length"), 0, "paper has no use for it")
    check_equal(page.js("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)", "paper is white, whatever the screen is")
    check_equal(page.js("[...document.querySelectorAll('.scroll')].filter(e => getComputedStyle(e).overflowX !== 'visible').length"), 0, "what scrolls is cut on paper")
    check_equal(page.js("getComputedStyle(document.querySelector('#legend .key')).printColorAdjust"), "exact")
    PAGE[0].media()


if __name__ == "__main__":
    main()
