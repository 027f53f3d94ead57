# SPDX-License-Identifier: Apache-2.0
"""The farm of tests/system/faults with its zebra, and a socket for planed's notifications."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))

from fixtures import farm, make_farm, zebra  # noqa: E402, F401
from notify_socket import NotifySocket  # noqa: E402


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[NotifySocket]:
    with NotifySocket(tmp_path / "notify") as listening:
        yield listening
