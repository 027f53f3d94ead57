# SPDX-License-Identifier: Apache-2.0
"""CONFIG_DB as a source of configuration: rows are followed live, wrong ones are refused alone, and what becomes of
Redis becomes of no route."""

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from farm import BRIDGE, READY, Farm, Server, prefixes_of, quick, settle
from lab import Planed, holds_for, wait_until
from redis_server import Make, Redis
from support.fake_zebra import FakeZebra

CONFIG_DB = 4
_SOCKET = "/run/redis/planed-test.sock"
_INTERFACE = f"PLANED_INTERFACE|{BRIDGE}"
_EMPTY = {"NULL": "NULL"}  # As SONiC writes a row without fields.


@pytest.fixture
def config_db(make_redis: Make) -> Redis:
    """As SONiC's: it tells of changes, and says that it is loaded."""
    redis = make_redis(_SOCKET, 0, "--notify-keyspace-events", "AKE")
    redis.cli("set", "CONFIG_DB_INITIALIZED", "1", database=CONFIG_DB)
    return redis


def _put(redis: Redis, key: str, fields: dict[str, str]) -> None:
    redis.cli("hset", key, *[word for field in fields.items() for word in field], database=CONFIG_DB)


def _drop(redis: Redis, *keys: str) -> None:
    redis.cli("del", *keys, database=CONFIG_DB)


def _config(more: dict[str, Any] | None = None) -> dict[str, Any]:
    """A file that serves nothing."""
    return {
        "node": {"name": "leaf-a1", "plane": "A"},
        "interfaces": [],
        "routes": {"nexthop": "interface", "max_withdraw": {"share": "100%"}},
        "redis": {"endpoint": f"unix:{_SOCKET}", "config_db": True},
        **(more or {}),
    }


def _start(farm: Farm, more: dict[str, Any] | None = None) -> Planed:
    planed = farm.start_planed(_config(more))
    planed.wait_log(READY, 10)
    return planed


def _served(farm: Farm, redis: Redis, zebra: FakeZebra, count: int = 5) -> list[Server]:
    """A leaf whose only interface is in CONFIG_DB, and its hosts are routes."""
    _put(redis, _INTERFACE, _EMPTY)
    servers = farm.make_hosts(count)
    farm.learn(servers)
    _start(farm)
    settle(zebra, prefixes_of(servers))
    return servers


@contextmanager
def _routes_untouched(zebra: FakeZebra, servers: list[Server]) -> Iterator[None]:
    settle(zebra, prefixes_of(servers))
    mark = zebra.mark()
    yield
    assert zebra.since(mark, "ROUTE_DELETE") == []
    assert zebra.holds(*prefixes_of(servers))


def _wait_refused(redis: Redis, wanted: dict[str, str]) -> None:
    """Exactly these rows are shown as refused; each reason begins like this."""

    def is_so() -> bool:
        rows = {key: redis.row(key).get("reason", "") for key in redis.keys("PLANED_CONFIG_TABLE*")}
        return rows.keys() == wanted.keys() and all(rows[key].startswith(wanted[key]) for key in wanted)

    wait_until(is_so, quick(3), what=f"PLANED_CONFIG_TABLE with {wanted}")


def _wait(claim: Callable[[], bool], what: str, deadline: float = 3) -> None:
    wait_until(claim, quick(deadline), what=what)


def test_interface_that_only_config_db_has_is_served(farm: Farm, zebra: FakeZebra, config_db: Redis) -> None:
    servers = _served(farm, config_db, zebra)
    assert "not_acted_on" not in farm.planed.log()

    farm.planed.stop()
    farm.planed.start().wait_log(READY, 10)

    settle(zebra, prefixes_of(servers))


def test_rows_are_followed_live(farm: Farm, zebra: FakeZebra, config_db: Redis) -> None:
    servers = farm.make_hosts(5)
    farm.learn(servers)
    _start(farm)
    assert not zebra.routes

    _put(config_db, _INTERFACE, _EMPTY)
    settle(zebra, prefixes_of(servers), 2)
    _put(config_db, _INTERFACE, {"exclude@": f"{servers[0].v4},{servers[0].v6}"})
    settle(zebra, prefixes_of(servers[1:]), 2)
    config_db.cli("hdel", _INTERFACE, "exclude@", database=CONFIG_DB)
    settle(zebra, prefixes_of(servers), 2)
    _put(config_db, "PLANED|global", {"tag": "4711"})
    _wait(lambda: {route.tag for route in zebra.routes.values()} == {4711}, "the tag of PLANED|global")
    _drop(config_db, _INTERFACE)
    settle(zebra, set(), 2)


def test_wrong_rows_are_refused_alone(farm: Farm, zebra: FakeZebra, config_db: Redis) -> None:
    servers = _served(farm, config_db, zebra)
    planed, since = farm.planed, len(farm.planed.log())

    with _routes_untouched(zebra, servers):
        _put(config_db, "PLANED_INTERFACE|Vlan9", {"max_hosts": "0"})
        _put(config_db, "PLANED|global", {"distance": "300", "metric": "5"})
        _wait_refused(
            config_db,
            {
                "PLANED_CONFIG_TABLE|PLANED_INTERFACE|Vlan9": "max_hosts: must be a whole number from 1",
                "PLANED_CONFIG_TABLE|PLANED|global": "distance: must be a whole number from 1 to 255",
            },
        )
        planed.wait_log(r'config_db.refused .*table=PLANED_INTERFACE key=Vlan9 text="max_hosts: must be', 1, since)
        planed.wait_log(r'degraded.begin .*what="config_db PLANED_INTERFACE\|Vlan9" text="max_hosts', 1, since)
        assert {route.metric for route in zebra.routes.values()} == {0}

    _put(config_db, "PLANED|global", {"distance": "7"})
    _drop(config_db, "PLANED_INTERFACE|Vlan9")
    _wait_refused(config_db, {})
    planed.wait_log(r'degraded.end .*what="config_db PLANED_INTERFACE\|Vlan9"', 1, since)
    _wait(lambda: {(r.distance, r.metric) for r in zebra.routes.values()} == {(7, 5)}, "PLANED|global in the routes")


def test_row_that_becomes_wrong_keeps_what_it_said(farm: Farm, zebra: FakeZebra, config_db: Redis) -> None:
    servers = _served(farm, config_db, zebra)

    with _routes_untouched(zebra, servers):
        _put(config_db, _INTERFACE, {"exclude@": f"{servers[0].v4},", "max_hosts": "many"})
        _wait_refused(config_db, {f"PLANED_CONFIG_TABLE|{_INTERFACE}": "exclude@: must be a prefix or an address"})
        farm.planed.restart(signal.SIGKILL)
        _wait_refused(config_db, {f"PLANED_CONFIG_TABLE|{_INTERFACE}": "exclude@: must be a prefix or an address"})


def test_redis_that_goes_and_comes_back_empty_changes_nothing(farm: Farm, zebra: FakeZebra, config_db: Redis) -> None:
    servers = _served(farm, config_db, zebra)
    planed, since = farm.planed, len(farm.planed.log())

    with _routes_untouched(zebra, servers):
        config_db.kill()
        planed.wait_log(r'degraded.begin .*what="config_db" text="CONFIG_DB is not read', quick(2), since)
        holds_for(lambda: zebra.holds(*prefixes_of(servers)), 1)
        config_db.start("--notify-keyspace-events", "AKE")
        planed.wait_log(r'degraded.begin .*what="config_db" text="CONFIG_DB is (empty|not loaded yet)', quick(3), since)
        holds_for(lambda: zebra.holds(*prefixes_of(servers)), 1)

    _put(config_db, "PLANED|global", {"tag": "5"})
    _put(config_db, _INTERFACE, {"exclude@": servers[0].v4})
    config_db.cli("set", "CONFIG_DB_INITIALIZED", "1", database=CONFIG_DB)
    settle(zebra, prefixes_of(servers) - {f"{servers[0].v4}/32"}, 3)
    planed.wait_log(r'degraded.end .*what="config_db"', quick(2), since)


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGKILL])
def test_planed_that_starts_while_redis_is_away(
    farm: Farm, zebra: FakeZebra, config_db: Redis, sig: signal.Signals
) -> None:
    servers = _served(farm, config_db, zebra)

    with _routes_untouched(zebra, servers):
        config_db.kill()
        since = len(farm.planed.log())
        farm.planed.restart(sig)
        farm.planed.wait_log(READY, 10, since)
        settle(zebra, prefixes_of(servers))
        fresh = farm.make_hosts(2, first=50)
        farm.learn(fresh)
        settle(zebra, prefixes_of(servers + fresh))


def test_interface_that_moves_from_the_file_to_config_db(farm: Farm, zebra: FakeZebra, config_db: Redis) -> None:
    servers = farm.make_hosts(5)
    farm.learn(servers)
    farm.start_planed({"interfaces": [{"name": BRIDGE}], "routes": _config()["routes"]}).wait_log(READY, 10)
    settle(zebra, prefixes_of(servers))

    with _routes_untouched(zebra, servers):
        _put(config_db, _INTERFACE, _EMPTY)
        since = len(farm.planed.log())
        farm.planed.write_config(_config())
        farm.planed.restart()
        farm.planed.wait_log(READY, 10, since)
        settle(zebra, prefixes_of(servers))


def test_interfaces_of_the_file_do_not_wait_for_redis(farm: Farm, zebra: FakeZebra) -> None:
    servers = farm.make_hosts(5)
    farm.learn(servers)

    _start(farm, {"interfaces": [{"name": BRIDGE}]})

    settle(zebra, prefixes_of(servers), 3)


def test_segment_of_config_db(farm: Farm, zebra: FakeZebra, config_db: Redis) -> None:
    vrfs = [{"vrf": "default", "vni": 100, "route_targets": ["65000:100"]}]
    _start(farm, {"evpn": {"router_id": "10.66.0.1", "local_as": 65000, "vrfs": vrfs}})
    segment = {"esi": "00:01:02:03:04:05:06:07:08:09", "type": "TYPE_0_OPERATOR_CONFIGURED", "df_pref": "100"}

    def segments() -> set[str]:
        return config_db.keys("PLANED_SEGMENT_TABLE*")

    _put(config_db, "EVPN_ETHERNET_SEGMENT|swp1", segment)
    _wait(lambda: segments() == {f"PLANED_SEGMENT_TABLE|{segment['esi']}"}, "the segment")
    _put(config_db, "EVPN_ETHERNET_SEGMENT|swp2", {"esi": "AUTO", "type": "TYPE_3_MAC_BASED"})
    _wait_refused(
        config_db,
        {"PLANED_CONFIG_TABLE|EVPN_ETHERNET_SEGMENT|swp2": "type: TYPE_3_MAC_BASED needs a system_mac in PORTCHANNEL"},
    )
    _put(config_db, "PORTCHANNEL|swp2", {"system_mac": "44:38:39:ff:ff:01"})
    _wait(lambda: "PLANED_SEGMENT_TABLE|03:44:38:39:ff:ff:01:00:00:02" in segments(), "the segment of type 3")
    _wait_refused(config_db, {})


def test_rows_that_were_kept_and_are_damaged(farm: Farm, zebra: FakeZebra, config_db: Redis) -> None:
    servers = _served(farm, config_db, zebra)
    kept = farm.leaf.path("/var/lib/planed/config_db")
    assert json.loads(kept.read_text(encoding="utf-8"))["rows"] == {"PLANED_INTERFACE": {BRIDGE: {}}}
    farm.planed.stop()
    kept.write_text("{}", encoding="utf-8")

    farm.planed.start().wait_log(r"config_db.damaged .*config_db: planed_config_db is not 1; set aside as", 5)

    settle(zebra, prefixes_of(servers))
    assert kept.with_suffix(".damaged").exists()


def test_config_db_that_is_loaded_anew(farm: Farm, zebra: FakeZebra, config_db: Redis) -> None:
    """As `config reload` does it: emptied, filled row by row, and said to be loaded at last."""
    servers = _served(farm, config_db, zebra)
    since = len(farm.planed.log())

    with _routes_untouched(zebra, servers):
        config_db.cli("flushdb", database=CONFIG_DB)
        _put(config_db, "PLANED|global", {"tag": "5"})
        farm.planed.wait_log(r'what="config_db" text="CONFIG_DB is not loaded yet"', quick(3), since)
        holds_for(lambda: zebra.holds(*prefixes_of(servers)), 1)
        _put(config_db, _INTERFACE, _EMPTY)
        config_db.cli("set", "CONFIG_DB_INITIALIZED", "1", database=CONFIG_DB)
        _wait(lambda: {route.tag for route in zebra.routes.values()} == {5}, "what was loaded")


def test_neighbour_of_config_db_is_a_static_host(farm: Farm, zebra: FakeZebra, config_db: Redis) -> None:
    _put(config_db, _INTERFACE, _EMPTY)
    server = farm.make_hosts(1)[0]
    farm.revive([server])
    _start(farm, {"learning": {"refresh": "2s"}})

    _put(config_db, f"NEIGH|{BRIDGE}|{server.v4}", {"neigh": server.mac, "family": "IPv4"})
    _put(config_db, f"NEIGH|Vlan77|{server.v4}", {"neigh": server.mac, "family": "IPv4"})
    settle(zebra, {f"{server.v4}/32"}, 3)
    _put(config_db, f"NEIGH|{BRIDGE}|10.0.0.99", {"neigh": "nonsense"})
    _wait_refused(config_db, {f"PLANED_CONFIG_TABLE|NEIGH|{BRIDGE}|10.0.0.99": "neigh: must be a MAC address"})

    _drop(config_db, f"NEIGH|{BRIDGE}|{server.v4}")
    farm.kill([server])
    settle(zebra, set(), 10)


def test_redis_that_tells_nothing_is_read_again_and_again(farm: Farm, zebra: FakeZebra, make_redis: Make) -> None:
    redis = make_redis(_SOCKET)
    _put(redis, "PLANED|global", {"tag": "5"})
    servers = farm.make_hosts(3)
    farm.learn(servers)
    planed = _start(farm)
    planed.wait_log(r'degraded.begin .*what="config_db" text="Redis does not tell of changes', quick(2))

    _put(redis, _INTERFACE, _EMPTY)
    settle(zebra, prefixes_of(servers), 5)
    redis.cli("config", "set", "notify-keyspace-events", "AKE")
    planed.wait_log(r'degraded.end .*what="config_db"', quick(5))


def test_log_level_follows_logger(farm: Farm, zebra: FakeZebra, config_db: Redis) -> None:
    _served(farm, config_db, zebra, 1)
    assert "\ndebug " not in farm.planed.log()

    _put(config_db, "LOGGER|planed", {"LOGLEVEL": "DEBUG", "LOGOUTPUT": "SYSLOG"})
    farm.planed.wait_log("config_db.read", quick(2), len(farm.planed.log()) - 1)
    farm.learn(farm.make_hosts(1, first=30))
    farm.planed.wait_log("\ndebug ", quick(3))


def test_proxy_arp_that_sonic_sets_is_left_alone(farm: Farm, zebra: FakeZebra, config_db: Redis) -> None:
    _put(config_db, f"VLAN_INTERFACE|{BRIDGE}", {"proxy_arp": "disabled"})
    _put(config_db, f"VLAN_INTERFACE|{BRIDGE}|10.0.0.1/16", _EMPTY)

    def proxy_arp() -> str:
        return farm.leaf.run(["cat", f"/proc/sys/net/ipv4/conf/{BRIDGE}/proxy_arp"]).stdout.strip()

    _served(farm, config_db, zebra, 1)
    farm.planed.wait_log(f"config_db.proxy_arp .*interface={BRIDGE}", 1)
    assert proxy_arp() == "0"

    config_db.cli("hdel", f"VLAN_INTERFACE|{BRIDGE}", "proxy_arp", database=CONFIG_DB)
    _wait(lambda: proxy_arp() == "1", "proxy_arp, once it is planed's again")


def test_reload_of_the_file_goes_under_the_rows(farm: Farm, zebra: FakeZebra, config_db: Redis) -> None:
    servers = _served(farm, config_db, zebra)
    _put(config_db, "PLANED|global", {"metric": "9"})
    since = len(farm.planed.log())

    with _routes_untouched(zebra, servers):
        routes = {**_config()["routes"], "tag": 77, "metric": 8}
        farm.planed.write_config(_config({"interfaces": [{"name": "Vlan200"}], "routes": routes}))
        farm.planed.send_signal(signal.SIGHUP)
        farm.planed.wait_log(r"config.reloaded .*changed=3", 5, since)
        _wait(lambda: {(r.tag, r.metric) for r in zebra.routes.values()} == {(77, 9)}, "tag and metric")

    farm.planed.write_config({**_config(), "redis": {"endpoint": f"unix:{_SOCKET}"}})
    farm.planed.send_signal(signal.SIGHUP)
    settle(zebra, set(), 3)
    _wait(lambda: not farm.leaf.path("/var/lib/planed/config_db").exists(), "the end of what was kept")
