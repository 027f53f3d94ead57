# SPDX-License-Identifier: Apache-2.0
"""The farm of tests/system/faults with its zebra, and a socket for planed's notifications."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

_FAULTS = Path(__file__).resolve().parents[1] / "faults"
sys.path.insert(0, str(_FAULTS))

from notify_socket import NotifySocket  # noqa: E402

_spec = importlib.util.spec_from_file_location("faults_fixtures", _FAULTS / "conftest.py")
assert _spec is not None and _spec.loader is not None
_fixtures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_fixtures)
make_farm, farm, zebra = _fixtures.make_farm, _fixtures.farm, _fixtures.zebra


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[NotifySocket]:
    with NotifySocket(tmp_path / "notify") as listening:
        yield listening
