# SPDX-License-Identifier: Apache-2.0
"""The farm of tests/system/faults with its zebra, and planectl in its leaf."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))

from farm import READY, Farm, quick  # noqa: E402
from fixtures import farm, make_farm, zebra  # noqa: E402, F401
from planectl import Ctl  # noqa: E402
from support.fake_zebra import FakeZebra  # noqa: E402


@pytest.fixture
def ctl(farm: Farm) -> Ctl:
    return Ctl(farm.leaf)


@pytest.fixture
def leaf(farm: Farm, zebra: FakeZebra, ctl: Ctl) -> Ctl:
    """planed is ready, with four hosts (two addresses each) behind four ports."""
    farm.learn(farm.make_hosts(4))
    farm.start_planed({"node": {"name": "leaf-a1", "plane": "A"}, "interfaces": [{"name": "Vlan100"}]})
    farm.planed.wait_log(READY, quick(5))
    return ctl
