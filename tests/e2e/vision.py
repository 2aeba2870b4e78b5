# SPDX-License-Identifier: Apache-2.0
"""How far apart two colours are, for who sees as most do and for who lacks one kind of cone: CIEDE2000 (Sharma 2005) of what
Machado, Oliveira and Fernandes (2009) say that a colour of a screen looks like to them."""

import math

VISIONS = {
    "as most": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def light(colour):
    """"#4269d0" as linear red, green, blue."""
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)] if len(colour) == 7 else [int(c * 2, 16) / 255 for c in colour[1:]]
    return [p / 12.92 if p <= .04045 else ((p + .055) / 1.055)**2.4 for p in parts]


def contrast(a, b):
    """That of WCAG 2."""
    low, high = sorted(.2126 * r + .7152 * g + .0722 * b for r, g, b in (light(a), light(b)))
    return (high + .05) / (low + .05)


def lab(colour, vision):
    seen = light(colour)
    r, g, b = [min(1, max(0, sum(row[k] * seen[k] for k in range(3)))) for row in VISIONS[vision]]
    root = lambda t: t**(1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116
    x, y, z = root((.4124564 * r + .3575761 * g + .1804375 * b) / .95047), root(.2126729 * r + .7151522 * g + .0721750 * b), root((.0193339 * r + .1191920 * g + .9503041 * b) / 1.08883)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def apart(p, q):
    """CIEDE2000 of two colours in CIE Lab; 1 is what a trained eye just sees."""
    (l1, a1, b1), (l2, a2, b2) = p, q
    c = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    grow = 1 + .5 * (1 - math.sqrt(c**7 / (c**7 + 25**7)))
    a1, a2 = a1 * grow, a2 * grow
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0
    dl, dc, dh = l2 - l1, c2 - c1, 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    l, c, h = (l1 + l2) / 2, (c1 + c2) / 2, (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    cos = lambda degrees: math.cos(math.radians(degrees))
    t = 1 - .17 * cos(h - 30) + .24 * cos(2 * h) + .32 * cos(3 * h + 6) - .2 * cos(4 * h - 63)
    sl, sc, sh = 1 + .015 * (l - 50)**2 / math.sqrt(20 + (l - 50)**2), 1 + .045 * c, 1 + .015 * c * t
    rt = -math.sin(math.radians(60 * math.exp(-((h - 275) / 25)**2))) * 2 * math.sqrt(c**7 / (c**7 + 25**7))
    return math.sqrt((dl / sl)**2 + (dc / sc)**2 + (dh / sh)**2 + rt * dc / sc * dh / sh)
