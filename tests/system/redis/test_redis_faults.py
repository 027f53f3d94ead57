# SPDX-License-Identifier: Apache-2.0
"""Whatever becomes of Redis: routes stay, `degraded` says so and ends, and rows are right within a second of its return."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

from farm import BRIDGE, READY, Farm, Server, assert_idle, prefixes_of, quick, settle
from lab import Planed, holds_for, wait_until
from redis_server import Make, Redis, config
from support.fake_zebra import FakeZebra

_BEGIN = r'degraded.begin .*what="redis" text="[^"]*{}'
_END = r'degraded.end .*what="redis"'


def _start(farm: Farm, redis: Redis, count: int = 10) -> list[Server]:
    servers = farm.make_hosts(count)
    farm.learn(servers)
    farm.start_planed(config(f"unix:{redis.socket}")).wait_log(READY, 10)
    _wait_right(redis, servers)
    return servers


def _wanted(servers: list[Server]) -> set[str]:
    keys = {"PLANED_TABLE|global", f"PLANED_INTERFACE_TABLE|{BRIDGE}"}
    keys |= {f"PLANED_NEIGHBOR_TABLE|default|{BRIDGE}|{address}" for s in servers for address in (s.v4, s.v6)}
    return keys | {f"PLANED_ROUTE_TABLE|default|{prefix}" for prefix in prefixes_of(servers)}


def _is_right(redis: Redis, servers: list[Server]) -> bool:
    """Exactly the rows that there should be, and in them what cannot be by chance."""
    if redis.keys() != _wanted(servers):
        return False
    rows = redis.rows()
    routes = [row["state"] for key, row in rows.items() if "_ROUTE_" in key]
    hosts = [row["eligible"] for key, row in rows.items() if "_NEIGHBOR_" in key]
    return set(routes) <= {"installed"} and set(hosts) <= {"true"} and all("stale" not in row for row in rows.values())


def _wait_right(redis: Redis, servers: list[Server], deadline: float = 5.0) -> None:
    wait_until(lambda: _is_right(redis, servers), quick(deadline), every=0.05, what=f"rows of {len(servers)} servers")


@contextmanager
def _routes_untouched(zebra: FakeZebra, servers: list[Server]) -> Iterator[None]:
    settle(zebra, prefixes_of(servers))
    mark = zebra.mark()
    yield
    assert zebra.since(mark, "ROUTE_DELETE") == [] and zebra.sessions == 1
    assert zebra.holds(*prefixes_of(servers))


def _hosts_come_and_go(farm: Farm, zebra: FakeZebra, servers: list[Server], first: int) -> list[Server]:
    """Routes follow at once, Redis or not; who is there then."""
    fresh = farm.make_hosts(5, first=first)
    started = time.monotonic()
    farm.learn(fresh)
    settle(zebra, prefixes_of(servers + fresh), deadline=1)
    assert time.monotonic() - started < quick(1)
    return servers + fresh


def _since(planed: Planed) -> int:
    return len(planed.log())


def test_leaf_works_before_there_is_a_redis(farm: Farm, zebra: FakeZebra, make_redis: Make) -> None:
    servers = farm.make_hosts(10)
    farm.learn(servers)
    planed = farm.start_planed(config("unix:/run/redis/planed-test.sock"))
    planed.wait_log(READY, 10)
    planed.wait_log(_BEGIN.format("no Redis: unix:/run/redis/planed-test.sock: No such file"), 3)
    settle(zebra, prefixes_of(servers))
    assert_idle(planed)
    with _routes_untouched(zebra, servers):
        redis = make_redis()
        _wait_right(redis, servers, 1)
        planed.wait_log(_END, quick(1))


def test_rows_without_an_object_are_removed_at_start(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    redis.cli("hset", f"PLANED_NEIGHBOR_TABLE|default|{BRIDGE}|10.0.9.9", "mac", "x")
    redis.cli("hset", "PLANED_ROUTE_TABLE|Vrf-old|10.0.9.9/32", "state", "installed")
    redis.cli("set", "PLANED_INTERFACE_TABLE|Vlan7", "not even a row")
    servers = farm.make_hosts(3)
    redis.cli("hset", f"PLANED_ROUTE_TABLE|default|{servers[0].v4}/32", "stale", "field")
    redis.cli("lpush", f"PLANED_ROUTE_TABLE|default|{servers[1].v4}/32", "a list")

    farm.learn(servers)
    farm.start_planed(config(f"unix:{redis.socket}")).wait_log(READY, 10)

    _wait_right(redis, servers)


def test_redis_that_is_killed_and_comes_back_empty(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    servers = _start(farm, redis)
    since = _since(farm.planed)
    with _routes_untouched(zebra, servers):
        redis.kill()
        farm.planed.wait_log(_BEGIN.format(""), quick(1), since)
        servers = _hosts_come_and_go(farm, zebra, servers, first=100)
        redis.start()
        _wait_right(redis, servers, 1)
        farm.planed.wait_log(_END, quick(1), since)


def test_redis_that_restarts_again_and_again(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    servers = _start(farm, redis)
    with _routes_untouched(zebra, servers):
        for _ in range(5):
            redis.kill()
            redis.start()
            _wait_right(redis, servers, 1)


def test_redis_that_is_flushed(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    servers = _start(farm, redis)
    with _routes_untouched(zebra, servers):
        for command in ("flushdb", "flushall"):
            redis.cli(command)
            _wait_right(redis, servers, 1)


def test_redis_that_is_restored_from_an_old_snapshot(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    servers = _start(farm, redis)
    redis.cli("hset", f"PLANED_ROUTE_TABLE|default|{servers[0].v4}/32", "stale", "field")
    redis.cli("save")
    gone, servers = servers[:3], servers[3:]
    farm.unlearn(gone)
    settle(zebra, prefixes_of(servers))
    wait_until(lambda: redis.keys() == _wanted(servers), quick(2), every=0.1)
    with _routes_untouched(zebra, servers):
        redis.kill()
        redis.start()
        _wait_right(redis, servers, 1)


def test_redis_that_is_stopped_and_goes_on(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    servers = _start(farm, redis)
    planed, since = farm.planed, _since(farm.planed)
    before = planed.resident_bytes()
    with _routes_untouched(zebra, servers):
        redis.send_signal(signal.SIGSTOP)
        planed.wait_log(_BEGIN.format("has not answered"), quick(3), since)
        for first in range(100, 1100, 100):
            servers = _hosts_come_and_go(farm, zebra, servers, first)
        assert_idle(planed)
        redis.send_signal(signal.SIGCONT)
        _wait_right(redis, servers, 1)
        planed.wait_log(_END, quick(1), since)
    assert planed.resident_bytes() - before < 64 << 20


def test_redis_that_is_stopped_for_long(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    """Until planed has given the connection up and made others."""
    servers = _start(farm, redis)
    with _routes_untouched(zebra, servers):
        redis.send_signal(signal.SIGSTOP)
        servers = _hosts_come_and_go(farm, zebra, servers, first=100)
        holds_for(lambda: True, 12)
    farm.unlearn(servers[-2:])
    servers = servers[:-2]
    with _routes_untouched(zebra, servers):
        redis.send_signal(signal.SIGCONT)
        _wait_right(redis, servers, 1)
        # What an earlier connection had sent comes late, and does not stay.
        holds_for(lambda: True, 3)
        assert _is_right(redis, servers)


def test_redis_that_is_full(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    servers = _start(farm, redis)
    planed, since = farm.planed, _since(farm.planed)
    with _routes_untouched(zebra, servers):
        redis.cli("config", "set", "maxmemory", "1")
        servers = _hosts_come_and_go(farm, zebra, servers, first=100)
        planed.wait_log(_BEGIN.format("Redis refuses what is written: OOM"), quick(2), since)
        assert_idle(planed)
        redis.cli("config", "set", "maxmemory", "0")
        _wait_right(redis, servers, 1)
        planed.wait_log(_END, quick(1), since)


def test_redis_that_is_read_only(farm: Farm, zebra: FakeZebra, make_redis: Make, redis: Redis) -> None:
    servers = _start(farm, redis)
    make_redis("/run/redis/master.sock", 7000)
    planed, since = farm.planed, _since(farm.planed)
    with _routes_untouched(zebra, servers):
        redis.cli("replicaof", "127.0.0.1", "7000")
        servers = _hosts_come_and_go(farm, zebra, servers, first=100)
        planed.wait_log(_BEGIN.format("Redis refuses what is written: READONLY"), quick(3), since)
        redis.cli("replicaof", "no", "one")
        _wait_right(redis, servers, 1.5)
        planed.wait_log(_END, quick(1), since)


def test_redis_that_is_slow(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    """Half a second for everything, again and again: the routes do not notice."""
    servers = _start(farm, redis)
    with _routes_untouched(zebra, servers):
        for first in range(100, 600, 100):
            redis.cli("client", "pause", "500", "all")
            servers = _hosts_come_and_go(farm, zebra, servers, first)
        _wait_right(redis, servers, 3)


def test_redis_that_asks_for_a_password(farm: Farm, zebra: FakeZebra, make_redis: Make) -> None:
    redis = make_redis("/run/redis/planed-test.sock", 0, "--requirepass", "secret")
    servers = farm.make_hosts(3)
    farm.learn(servers)
    planed = farm.start_planed(config(f"unix:{redis.socket}"))
    planed.wait_log(READY, 10)

    planed.wait_log(_BEGIN.format("NOAUTH"), quick(3))
    settle(zebra, prefixes_of(servers))
    redis.cli("--no-auth-warning", "-a", "secret", "config", "set", "requirepass", "")

    _wait_right(redis, servers, 1)
    planed.wait_log(_END, quick(1))


def test_something_else_that_listens_there(farm: Farm, zebra: FakeZebra) -> None:
    servers = farm.make_hosts(3)
    farm.learn(servers)
    planed = farm.start_planed(config(f"unix:{farm.zserv}"))  # zebra is no Redis.
    planed.wait_log(READY, 10)

    planed.wait_log(_BEGIN.format(""), 15)
    settle(zebra, prefixes_of(servers))


def test_planed_ends_in_time_while_redis_is_stopped(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    servers = _start(farm, redis)
    redis.send_signal(signal.SIGSTOP)
    farm.learn(farm.make_hosts(50, first=100))
    started = time.monotonic()

    assert farm.planed.stop() == 0

    assert time.monotonic() - started < quick(1.5)
    assert zebra.holds(*prefixes_of(servers))


def test_planed_that_restarts_writes_its_rows_again(farm: Farm, zebra: FakeZebra, redis: Redis) -> None:
    servers = _start(farm, redis)
    farm.planed.stop()
    gone, servers = servers[:2], servers[2:]
    farm.unlearn(gone)

    farm.planed.start().wait_log(READY, 10)

    _wait_right(redis, servers)
