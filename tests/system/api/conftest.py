# SPDX-License-Identifier: Apache-2.0
"""The farm of tests/system/faults with its zebra, and planectl in its leaf."""

import importlib.util
import sys
from pathlib import Path

import pytest

_FAULTS = Path(__file__).resolve().parents[1] / "faults"
sys.path.insert(0, str(_FAULTS))

from farm import READY, Farm, quick  # noqa: E402
from planectl import Ctl  # noqa: E402
from support.fake_zebra import FakeZebra  # noqa: E402

_spec = importlib.util.spec_from_file_location("faults_fixtures", _FAULTS / "conftest.py")
assert _spec is not None and _spec.loader is not None
_fixtures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_fixtures)
make_farm, farm, zebra = _fixtures.make_farm, _fixtures.farm, _fixtures.zebra


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
