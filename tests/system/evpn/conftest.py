# SPDX-License-Identifier: Apache-2.0
"""A pair made anew for each test: no session of one test is seen by the next."""

from collections.abc import Iterator
from typing import Any

import pytest
import scene
from lab import Lab
from pair import TOPOLOGY, Pair


@pytest.fixture
def pair(frr: str) -> Iterator[Pair]:
    lab = Lab(TOPOLOGY, frr=frr)
    lab.up(wait=False)  # There is no session before there is a planed.
    try:
        yield Pair(lab)
        faults = []
        planed = scene.planed_of(lab["leaf"])
        if planed is not None and planed.alive:
            code = planed.stop()
            faults = [f"planed ended with {code}"] if code != 0 else []
        if planed is not None:
            faults += [line for line in planed.log().splitlines() if scene.is_own_fault(line)]
        assert not faults, faults
    finally:
        lab.down()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome: Any = yield
    report = outcome.get_result()
    running = getattr(item, "funcargs", {}).get("pair")
    if report.failed and running is not None:
        planed = scene.planed_of(running.leaf)
        if planed is not None:
            report.sections.append(("planed", planed.log()[-6000:]))
