# SPDX-License-Identifier: Apache-2.0
"""The rows of STATE_DB are those of the contract, and they follow what happens."""

import re

from farm import BRIDGE, READY, Farm, prefixes_of, quick, settle
from lab import holds_for, wait_until
from redis_server import Redis, config
from support import rtnl
from support.fake_zebra import FakeZebra

_TIME = re.compile(r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")


def _start(farm: Farm, redis: Redis, count: int = 3) -> list:
    servers = farm.make_hosts(count)
    farm.learn(servers)
    farm.start_planed(config(f"unix:{redis.socket}")).wait_log(READY, 10)
    return servers


def _neighbor(address: str) -> str:
    return f"PLANED_NEIGHBOR_TABLE|default|{BRIDGE}|{address}"


def _route(prefix: str) -> str:
    return f"PLANED_ROUTE_TABLE|default|{prefix}"


def test_rows_are_those_of_the_contract(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    servers = _start(farm, redis)
    wanted = {"PLANED_TABLE|global", f"PLANED_INTERFACE_TABLE|{BRIDGE}"}
    wanted |= {_neighbor(address) for server in servers for address in (server.v4, server.v6)}
    wanted |= {_route(prefix) for prefix in prefixes_of(servers)}
    wait_until(lambda: wanted <= redis.keys(), quick(3), what=f"rows: {wanted - redis.keys()}")
    one = servers[0]
    wait_until(lambda: redis.row(_route(f"{one.v4}/32"))["state"] == "installed", quick(3))
    wait_until(lambda: redis.row("PLANED_TABLE|global")["ready"] == "true", quick(3))
    wait_until(lambda: redis.row("PLANED_TABLE|global")["routes"] == "6", quick(3))

    host = redis.row(_neighbor(one.v4))
    assert list(host) == ["mac", "port", "state", "origin", "eligible", "reason", "since"]
    assert (host["mac"], host["port"], host["origin"]) == (one.mac, one.port, "kernel")
    assert (host["eligible"], host["reason"]) == ("true", "eligible")
    assert host["state"] in {"REACHABLE", "STALE", "DELAY", "PROBE"}
    assert _TIME.match(host["since"]), host
    route = redis.row(_route(f"{one.v6}/128"))
    assert list(route) == ["interface", "origin", "state", "reason", "since"]
    assert (route["interface"], route["origin"], route["reason"]) == (BRIDGE, "kernel", "eligible")
    assert _TIME.match(route["since"]), route
    interface = redis.row(f"PLANED_INTERFACE_TABLE|{BRIDGE}")
    assert interface == {
        "name": BRIDGE,
        "ifindex": str(farm.leaf.ifindex(BRIDGE)),
        "vrf": "default",
        "carrier": "true",
        "proxy_arp": "routed",
        "proxy_nd": "true",
        "hosts": "6",
        "max_hosts": "16384",
        "prefixes": "10.0.0.0/16,fd00:0:0:1::/64",
    }
    node = redis.row("PLANED_TABLE|global")
    assert list(node) == ["name", "plane", "version", "ready", "routes", "hosts", "updated"]
    assert (node["name"], node["plane"], node["hosts"]) == ("leaf-a1", "A", "6")
    assert re.match(r"\d+\.\d+", node["version"]) and _TIME.match(node["updated"]), node


def test_rows_follow_a_cut_port_and_a_host_that_goes(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    servers = _start(farm, redis, 8)
    behind = [server for server in servers if server.port == "swp1"]
    settle(zebra, prefixes_of(servers))
    farm.cut("swp1")

    def cut() -> bool:
        rows = redis.rows()
        return all(rows[_neighbor(s.v4)]["reason"] == "port_down" for s in behind) and not any(
            _route(prefix) in rows for prefix in prefixes_of(behind)
        )

    wait_until(cut, quick(1), every=0.1)
    left = [server for server in servers if server.port != "swp1"]
    farm.unlearn(left[:1])
    gone = {_neighbor(left[0].v4), _neighbor(left[0].v6)} | {_route(p) for p in prefixes_of(left[:1])}
    wait_until(lambda: not gone & redis.keys(), quick(1), every=0.1)


def test_state_of_a_neighbour_is_shown_as_it_ages(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    servers = _start(farm, redis, 1)
    wait_until(lambda: _neighbor(servers[0].v4) in redis.keys(), quick(3))

    farm.learn(servers, rtnl.STALE)

    wait_until(lambda: redis.row(_neighbor(servers[0].v4))["state"] == "STALE", quick(1))


def test_nothing_is_written_while_nothing_changes(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    servers = farm.make_hosts(20)
    farm.learn(servers, rtnl.PERMANENT)
    farm.start_planed(config(f"unix:{redis.socket}")).wait_log(READY, 10)
    settle(zebra, prefixes_of(servers))
    wait_until(lambda: redis.row("PLANED_TABLE|global").get("routes") == "40", quick(3))

    def writes() -> int:
        stats = redis.cli("info", "commandstats")
        return sum(int(n) for n in re.findall(r"cmdstat_(?:hset|del|exec):calls=(\d+)", stats))

    holds_for(lambda: True, 1)  # The last counts are out.
    before = writes()
    holds_for(lambda: writes() == before, 3, every=0.5, what="silence")


def test_other_tables_and_databases_stay_as_they_are(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    redis.cli("hset", "NEIGH_TABLE|x", "a", "b")
    redis.cli("set", "PLANED|global", "x")
    redis.cli("hset", "PLANED_ROUTE_TABLE|default|1.2.3.4/32", "a", "b", database=0)

    servers = _start(farm, redis)
    wait_until(lambda: _neighbor(servers[0].v4) in redis.keys(), quick(3))

    assert redis.row("NEIGH_TABLE|x") == {"a": "b"}
    assert redis.cli("get", "PLANED|global") == "x"
    assert redis.row("PLANED_ROUTE_TABLE|default|1.2.3.4/32", database=0) == {"a": "b"}
    assert redis.keys("*", database=0) == {"PLANED_ROUTE_TABLE|default|1.2.3.4/32"}


def test_a_row_for_each_host_that_is_answered_for(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    zebra.learn("fd00:0:0:1::aa/128")
    _start(farm, redis)
    key = f"PLANED_PROXY_TABLE|{BRIDGE}|fd00:0:0:1::aa"

    wait_until(lambda: redis.row(key) == {"state": "installed"}, quick(5), what=f"{key} is missing")
    zebra.unlearn("fd00:0:0:1::aa/128")

    wait_until(lambda: key not in redis.keys(), quick(5), what=f"{key} is left over")
