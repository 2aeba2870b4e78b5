# SPDX-License-Identifier: Apache-2.0
"""A parser of OpenMetrics that takes nothing that the standard forbids, as far as tare uses it: gauges and counters."""

import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"'
SAMPLE = re.compile(r"(%s)(?:\{((?:%s)(?:,(?:%s))*)\})? (-?[0-9]+(?:\.[0-9]+)?)" % (NAME, LABEL.replace("(", "(?:").replace("(?:?:", "(?:"),
                                                                                LABEL.replace("(", "(?:").replace("(?:?:", "(?:")))
ESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


class Wrong(Exception):
    pass


def demand(condition, *what):
    if not condition:
        raise Wrong(" ".join(repr(w) for w in what))


class Family:
    def __init__(self, name, kind):
        self.name, self.kind = name, kind
        self.unit = self.help = None
        self.samples = []  # (labels as a dictionary, value)

    def sum(self, **labels):
        return sum(value for have, value in self.samples if all(have.get(k) == v for k, v in labels.items()))


def labels_of(text):
    out = {}
    for name, value in re.findall(LABEL, text or ""):
        demand(name not in out, "a label twice", text)
        out[name] = re.sub(r'\\[\\"n]', lambda found: ESCAPES[found.group()], value)
    return out


def sample(line, family, seen):
    found = SAMPLE.fullmatch(line)
    demand(found, "no sample", line)
    name, labels, value = found.group(1), labels_of(found.group(2)), found.group(3)
    demand(family and name == family.name + ("_total" if family.kind == "counter" else ""), "a sample of no family above it", line)
    series = name, tuple(sorted(labels.items()))
    demand(series not in seen, "a series twice", line)
    seen.add(series)
    demand(family.kind != "counter" or float(value) >= 0, "a counter below 0", line)
    demand(not family.samples or set(family.samples[0][0]) == set(labels), "labels of another sample", line)
    family.samples.append((labels, float(value) if "." in value else int(value)))


def parse(text):
    """Families by name."""
    families, family, seen = {}, None, set()
    demand(text.endswith("# EOF\n"), "no end", text[-100:])
    for line in text[:-len("# EOF\n")].split("\n")[:-1]:
        comment = re.fullmatch(r"# (TYPE|UNIT|HELP) (%s) (.+)" % NAME, line)
        if not comment:
            sample(line, family, seen)
            continue
        what, name, rest = comment.groups()
        if what == "TYPE":
            demand(name not in families, "a family twice", name)
            demand(rest in ("gauge", "counter"), "a type that is not used", line)
            demand(not name.endswith(("_total", "_bucket", "_count", "_created")), "a name that is an end of others", name)
            family = families[name] = Family(name, rest)
            continue
        demand(family and name == family.name and not family.samples, "not of the family that began", line)
        if what == "UNIT":
            demand(name.endswith("_" + rest), "the unit is not in the name", line)
            family.unit = rest
        else:
            family.help = rest
    return families
