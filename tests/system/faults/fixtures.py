# SPDX-License-Identifier: Apache-2.0
"""A leaf with many servers and a zebra that does as it is told; what planed does wrong by itself fails any test.

For the conftest.py of this folder and of others that are about the same leaf.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from farm import Farm
from neighbor_limits import neighbor_limits
from support.fake_zebra import FakeZebra

_OWN_FAULTS = re.compile(r"(\w+Sanitizer|runtime error:|[Aa]ssertion|PLANED_ASSERT|terminate called)[^\n]*")


@pytest.fixture
def make_farm(tmp_path: Path) -> Iterator[Callable[..., Farm]]:
    """`make_farm(ports=…, uplinks=…)`; planed is stopped afterwards, which must go well."""
    with ExitStack() as farms:
        made: list[Farm] = []

        def make(ports: int = 4, uplinks: int = 0) -> Farm:
            made.append(farms.enter_context(Farm(tmp_path / f"farm{len(made)}", ports, uplinks)))
            return made[-1]

        yield make
        faults = [fault for farm in made for fault in _end_planed(farm)]
    assert not faults, faults


@pytest.fixture
def farm(make_farm: Callable[..., Farm]) -> Farm:
    return make_farm()


@pytest.fixture
def zebra(farm: Farm) -> Iterator[FakeZebra]:
    """An FRR 8.4 in the farm's leaf."""
    with FakeZebra(farm.zserv, family="A") as running:
        yield running
        _end_planed_first(farm)


@pytest.fixture
def big_tables() -> Iterator[None]:
    """Room for 65,536 neighbours of each family. The limits count the whole machine and exist only outside namespaces."""
    with neighbor_limits(thresh1=16384, thresh2=32768, thresh3=65536):
        yield


def _end_planed_first(farm: Farm) -> None:
    """Before zebra goes, so that its going is not what is tested at last."""
    for planed in farm.planeds:
        if planed.alive:
            planed.stop()


def _end_planed(farm: Farm) -> list[str]:
    faults = []
    for planed in farm.planeds:
        code = planed.stop() if planed.alive else 0
        faults += [f"planed ended with {code} when it was told to stop"] if code else []
        faults += [match.group(0) for match in _OWN_FAULTS.finditer(planed.log())]
    return faults
