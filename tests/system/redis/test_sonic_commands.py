# SPDX-License-Identifier: Apache-2.0
"""From SONiC's command line to zebra: `config planed …` writes CONFIG_DB, planed follows, routes come and go."""

import copy
import sys
from types import ModuleType

import click
import pytest
from click.testing import CliRunner
from farm import BRIDGE, READY, Farm, prefixes_of, settle
from redis_server import Make, Redis
from sonic_host import ConfigDb, plugin
from support.fake_zebra import FakeZebra

_CONFIG_DB = 4
_SOCKET = "/run/redis/planed-test.sock"


class Switch:
    """SONiC's `config` over the rows of a real Redis."""

    def __init__(self, redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
        self._redis = redis
        self._database = ConfigDb()
        module = ModuleType("swsscommon.swsscommon")
        module.ConfigDBConnector = self._database.connector()  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "swsscommon", ModuleType("swsscommon"))
        monkeypatch.setitem(sys.modules, "swsscommon.swsscommon", module)
        self._command = click.Group("config")
        plugin("config").register(self._command)

    def config(self, *words: str) -> None:
        before = copy.deepcopy(self._database.rows)
        done = CliRunner(mix_stderr=False).invoke(self._command, ["planed", *words])
        assert done.exit_code == 0, done.stderr
        for key in before.keys() | self._database.rows.keys():
            row = self._database.rows.get(key)
            if row == before.get(key):
                continue
            # As swsscommon writes: what is there is never away in between.
            if row:
                self._redis.cli("hset", key, *[word for field in row.items() for word in field], database=_CONFIG_DB)
            gone = before.get(key, {}).keys() - (row or {}).keys()
            if gone:
                self._redis.cli("hdel", key, *gone, database=_CONFIG_DB)


def test_what_is_typed_becomes_routes(
    farm: Farm, zebra: FakeZebra, make_redis: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis = make_redis(_SOCKET, 0, "--notify-keyspace-events", "AKE")
    redis.cli("set", "CONFIG_DB_INITIALIZED", "1", database=_CONFIG_DB)
    switch = Switch(redis, monkeypatch)
    servers = farm.make_hosts(5)
    farm.learn(servers)
    routes = {"nexthop": "interface", "max_withdraw": {"share": "100%"}}
    planed = farm.start_planed(
        {"interfaces": [], "routes": routes, "redis": {"endpoint": f"unix:{_SOCKET}", "config_db": True}}
    )
    planed.wait_log(READY, 10)

    switch.config("interface", "add", BRIDGE)
    settle(zebra, prefixes_of(servers))

    switch.config("interface", "set", BRIDGE, "exclude", f"{servers[0].v4}/32")
    settle(zebra, prefixes_of(servers) - {f"{servers[0].v4}/32"})

    switch.config("interface", "remove", BRIDGE)
    settle(zebra, [])
    assert redis.keys("PLANED_CONFIG_TABLE*") == set(), "a row was refused"
