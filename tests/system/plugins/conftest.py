# SPDX-License-Identifier: Apache-2.0
"""The farm of tests/system/faults with its zebra, and planectl in its leaf."""

import sys
from pathlib import Path

import pytest

_SYSTEM = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(_SYSTEM / "faults"), str(_SYSTEM / "api")]

from farm import Farm  # noqa: E402
from fixtures import farm, make_farm, zebra  # noqa: E402, F401
from planectl import Ctl  # noqa: E402


@pytest.fixture
def ctl(farm: Farm) -> Ctl:
    return Ctl(farm.leaf)
