# SPDX-License-Identifier: Apache-2.0
"""Reads OpenMetrics 1.0 text as strictly as a scraper may: what it does not take, nobody can rely on."""

import re
from dataclasses import dataclass, field

_SAMPLE = re.compile(r'([a-z_][a-z0-9_]*)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)')
_LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"')
_SUFFIXES = {
    "gauge": {""},
    "unknown": {""},
    "counter": {"_total"},
    "info": {"_info"},
    "histogram": {"_bucket", "_count", "_sum"},
}

Labels = tuple[tuple[str, str], ...]


@dataclass
class Family:
    name: str
    type: str = ""
    unit: str = ""
    help: str = ""
    samples: dict[tuple[str, Labels], float] = field(default_factory=dict)


@dataclass
class Metrics:
    families: dict[str, Family]

    def __getitem__(self, name: str) -> float:
        """The value of a sample without labels."""
        return self.value(name)

    def value(self, name: str, **labels: str) -> float:
        return self.samples()[name, tuple(sorted(labels.items()))]

    def samples(self) -> dict[tuple[str, Labels], float]:
        return {key: value for family in self.families.values() for key, value in family.samples.items()}

    def names(self) -> set[str]:
        """Of all samples: what a query may name."""
        return {name for name, _ in self.samples()}


def parse(text: str) -> Metrics:
    """AssertionError says what is wrong with it."""
    assert text.endswith("\n# EOF\n"), text[-200:]
    families: dict[str, Family] = {}
    current = Family("")
    for line in text.removesuffix("# EOF\n").splitlines():
        if line.startswith("# "):
            kind, name, rest = line[2:].split(" ", 2)
            if kind == "TYPE":
                assert name not in families and rest in _SUFFIXES, line
                current = families[name] = Family(name, rest)
            else:
                assert kind in ("UNIT", "HELP") and name == current.name and not current.samples, line
                setattr(current, kind.lower(), rest)
        else:
            _add(current, line)
    for family in families.values():
        assert not family.unit or family.name.endswith("_" + family.unit), family.name
        _check_histogram(family)
    return Metrics(families)


def _add(family: Family, line: str) -> None:
    found = _SAMPLE.fullmatch(line)
    assert found, line
    name, labels, value = found.groups()
    assert family.name and name.removeprefix(family.name) in _SUFFIXES[family.type], line
    key = (name, tuple(sorted(_LABEL.findall(labels or ""))))
    assert key not in family.samples, f"twice: {line}"
    family.samples[key] = float(value)
    assert family.type != "counter" or float(value) >= 0, line


def _check_histogram(family: Family) -> None:
    if family.type != "histogram":
        return
    buckets = [(float(labels[0][1]), value) for (name, labels), value in family.samples.items() if labels]
    assert buckets == sorted(buckets) and buckets[-1][0] == float("inf"), family
    counts = [count for _, count in buckets]
    assert counts == sorted(counts) and counts[-1] == family.samples[family.name + "_count", ()], family
