# SPDX-License-Identifier: Apache-2.0
"""planed did not read for a while and the kernel has thrown notifications away: nothing living may go for that."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from farm import BRIDGE, READY, Farm, Server, prefixes_of, quick, settle
from lab import Planed, wait_until
from lab.planed import binary
from support import rtnl
from support.fake_zebra import FakeZebra

pytestmark = [pytest.mark.alone, pytest.mark.usefixtures("big_tables")]

_HOSTS = 1000  # 500 servers, two addresses each
_CHANGES = 200_000


@contextmanager
def stopped(planed: Planed) -> Iterator[None]:
    """planed does not get the processor, so it reads nothing; the kernel goes on."""
    os.kill(planed.pid, signal.SIGSTOP)
    wait_until(lambda: _state(planed) == "T", 2)
    try:
        yield
    finally:
        os.kill(planed.pid, signal.SIGCONT)


def _state(planed: Planed) -> str:
    with open(f"/proc/{planed.pid}/stat", encoding="utf-8") as stat:
        return stat.read().rpartition(")")[2].split()[0]


def _storm(farm: Farm, servers: list[Server]) -> rtnl.Batch:
    """200,000 changes that mean nothing: all entries to STALE, then to REACHABLE, again and again."""
    bridge, batch = farm.leaf.ifindex(BRIDGE), rtnl.Batch()
    for state in (rtnl.STALE, rtnl.REACHABLE):
        for server in servers:
            batch.neighbor(bridge, server.v4, server.mac, state)
            batch.neighbor(bridge, server.v6, server.mac, state)
    batch.repeat(_CHANGES // batch.count)
    assert batch.count == _CHANGES
    return batch


def test_overrun_takes_nothing_living_and_is_right_again_within_a_second(farm: Farm, zebra: FakeZebra) -> None:
    servers = farm.make_hosts(_HOSTS // 2)
    living, dying = servers[:-25], servers[-25:]
    coming = farm.make_hosts(25, first=10_001)
    farm.learn(servers)
    planed = farm.start_planed()
    settle(zebra, prefixes_of(servers))
    planed.wait_log(READY, 5)
    storm, mark = _storm(farm, servers), zebra.mark()

    with stopped(planed):
        farm.unlearn(dying[:5])  # Its event still fits into the buffer …
        farm.send(storm)
        farm.unlearn(dying)  # … these do not. (The storm has brought the five back.)
        farm.learn(coming)

    settle(zebra, prefixes_of(living + coming), deadline=1.0)
    planed.wait_log("netlink.overrun", 1)
    planed.wait_log("netlink.resynced", 5)
    assert zebra.withdrawn(mark) == prefixes_of(dying)
    wait_until(lambda: _untold(farm) >= 2 * len(dying), quick(5), what="what the kernel did not tell is counted")


def _untold(farm: Farm) -> int:
    """Neighbours that only a read of the table has shown to be otherwise."""
    counters = farm.leaf.run([str(binary().parent / "planectl"), "counters", "-o", "json"]).stdout
    value: int = next(row["value"] for row in json.loads(counters) if row["name"] == "audit_differences_neighbors")
    return value


def test_port_that_dies_while_notifications_are_lost_takes_its_hosts_and_no_others(
    farm: Farm, zebra: FakeZebra
) -> None:
    servers = farm.make_hosts(_HOSTS // 2)
    farm.learn(servers)
    planed = farm.start_planed()
    settle(zebra, prefixes_of(servers))
    storm, mark = _storm(farm, servers), zebra.mark()
    behind_dead = [server for server in servers if server.port == "swp2"]

    with stopped(planed):
        farm.send(storm)
        farm.cut("swp2")

    settle(zebra, prefixes_of(servers) - prefixes_of(behind_dead), deadline=1.0)
    planed.wait_log("netlink.resynced", 5)
    assert zebra.withdrawn(mark) == prefixes_of(behind_dead)


def test_entry_that_failed_and_was_made_anew_is_not_deleted_by_who_reads_late(farm: Farm, zebra: FakeZebra) -> None:
    """A FAILED IPv6 entry is deleted 20 ms after planed read of it; here the news that it lives is far behind."""
    servers = farm.make_hosts(_HOSTS // 2)
    host, bridge = servers[0], farm.leaf.ifindex(BRIDGE)
    farm.learn(servers)
    planed = farm.start_planed()
    settle(zebra, prefixes_of(servers))
    news = rtnl.Batch()
    news.neighbor(bridge, host.v6, host.mac, rtnl.FAILED)
    for state in (rtnl.STALE, rtnl.REACHABLE) * 20:
        for server in servers[1:]:
            news.neighbor(bridge, server.v4, server.mac, state)
    news.neighbor(bridge, host.v6, host.mac, rtnl.PERMANENT)

    last = farm.make_hosts(1, first=20_001)

    with stopped(planed):
        farm.send(news)
        farm.learn(last)
    settle(zebra, prefixes_of(servers + last))

    assert farm.leaf.neighbors(BRIDGE)[host.v6]["state"] == ["PERMANENT"]


def test_lost_link_changes_are_read_again(farm: Farm, zebra: FakeZebra) -> None:
    servers = farm.make_hosts(40)
    farm.learn(servers)
    planed = farm.start_planed()
    settle(zebra, prefixes_of(servers))
    mark = zebra.mark()
    behind_dead = [server for server in servers if server.port == "swp3"]
    noise = rtnl.Batch()
    for number in range(40):
        noise.alias(farm.leaf.ifindex("swp1"), f"number {number}")
    noise.repeat(500)

    with stopped(planed):
        farm.send(noise)
        farm.cut("swp3")

    settle(zebra, prefixes_of(servers) - prefixes_of(behind_dead), deadline=1.0)
    planed.wait_log('netlink.overrun .*table="links"', 1)
    assert zebra.withdrawn(mark) == prefixes_of(behind_dead)


def test_overrun_again_and_again_never_starves_what_really_changes(farm: Farm, zebra: FakeZebra) -> None:
    servers = farm.make_hosts(_HOSTS // 2)
    farm.learn(servers)
    planed = farm.start_planed()
    settle(zebra, prefixes_of(servers))
    storm, mark = _storm(farm, servers), zebra.mark()

    for number in range(3):
        with stopped(planed):
            farm.send(storm)
        new = farm.make_hosts(1, first=20_001 + number)
        farm.learn(new)
        wait_until(lambda: zebra.holds(*new[0].prefixes), quick(1.0), what="a host that came during recovery")

    assert zebra.withdrawn(mark) == set()
