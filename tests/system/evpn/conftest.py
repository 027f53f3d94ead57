# SPDX-License-Identifier: Apache-2.0
"""A pair made anew for each test: no session of one test is seen by the next."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import scene
from lab import Lab, Planed
from pair import TOPOLOGY, Pair
from twins import TOPOLOGY as TWINS
from twins import Twins


@pytest.fixture
def pair(frr: str) -> Iterator[Pair]:
    with _lab(TOPOLOGY, frr) as lab:
        yield Pair(lab)


@pytest.fixture
def twins(frr: str) -> Iterator[Twins]:
    with _lab(TWINS, frr) as lab:
        yield Twins(lab)


@contextmanager
def _lab(topology: Path, frr: str) -> Iterator[Lab]:
    """Up, and down again; no planed in it may have done wrong meanwhile."""
    lab = Lab(topology, frr=frr)
    lab.up(wait=False)  # There is no session before there is a planed.
    try:
        yield lab
        faults = []
        for planed in _planeds(lab):
            code = planed.stop() if planed.alive else 0
            faults += [f"planed ended with {code}"] if code != 0 else []
            faults += [line for line in planed.log().splitlines() if scene.is_own_fault(line)]
        assert not faults, faults
    finally:
        lab.down()


def _planeds(lab: Lab) -> list[Planed]:
    return [planed for node in lab.nodes.values() if (planed := scene.planed_of(node)) is not None]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome: Any = yield
    report = outcome.get_result()
    arguments = getattr(item, "funcargs", {})
    nodes = [arguments["pair"].leaf] if "pair" in arguments else []
    nodes += arguments["twins"].leaves if "twins" in arguments else ()
    for node in nodes if report.failed else ():
        planed = scene.planed_of(node)
        if planed is not None:
            report.sections.append((f"planed on {node.name}", planed.log()[-6000:]))
