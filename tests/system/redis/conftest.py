# SPDX-License-Identifier: Apache-2.0
"""The farm of tests/system/faults with its zebra, and Redis servers in its leaf."""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

_FAULTS = Path(__file__).resolve().parents[1] / "faults"
sys.path.insert(0, str(_FAULTS))

from farm import Farm  # noqa: E402
from redis_server import Make, Redis  # noqa: E402

_spec = importlib.util.spec_from_file_location("faults_fixtures", _FAULTS / "conftest.py")
assert _spec is not None and _spec.loader is not None
_fixtures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_fixtures)
make_farm, farm, zebra, big_tables = _fixtures.make_farm, _fixtures.farm, _fixtures.zebra, _fixtures.big_tables


@pytest.fixture
def make_redis(farm: Farm) -> Iterator[Make]:
    with ExitStack() as servers:

        def make(socket: str = "/run/redis/planed-test.sock", port: int = 0, *options: str) -> Redis:
            server = Redis(farm.leaf, socket, port)
            servers.callback(server.kill)
            return server.start(*options)

        yield make


@pytest.fixture
def redis(make_redis: Make) -> Redis:
    return make_redis()
