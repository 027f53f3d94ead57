# SPDX-License-Identifier: Apache-2.0
"""The farm of tests/system/faults with its zebra, and Redis servers in its leaf."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

for folder in ("faults", "service"):  # A farm, and what SONiC's commands meet on a switch.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / folder))

from farm import Farm  # noqa: E402
from fixtures import big_tables, farm, make_farm, zebra  # noqa: E402, F401
from redis_server import Make, Redis  # noqa: E402


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
