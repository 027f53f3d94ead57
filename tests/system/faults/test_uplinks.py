# SPDX-License-Identifier: Apache-2.0
"""A leaf that leads nowhere says so: its routes go, and if asked its server ports too, and all of it comes back."""

import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from farm import BRIDGE, READY, Farm, Server, prefixes_of, settle
from lab import holds_for, wait_until
from lab.node import Node
from support.fake_zebra import FakeZebra

_WITHDRAW: dict[str, Any] = {"interfaces": [{"name": BRIDGE}], "uplinks": ["up1", "up2"]}
_SHUT: dict[str, Any] = {**_WITHDRAW, "uplinks_down": "shut"}
_UPLINKS = ("up1", "up2")


@pytest.fixture
def farm(make_farm: Callable[..., Farm]) -> Farm:
    """With two uplinks."""
    return make_farm(ports=4, uplinks=2)


def _start(farm: Farm, zebra: FakeZebra, config: dict[str, Any]) -> list[Server]:
    servers = farm.make_hosts(20)
    farm.learn(servers)
    farm.start_planed(config).wait_log(READY, 10)
    settle(zebra, prefixes_of(servers))
    return servers


def _up(farm: Farm) -> list[str]:
    return [port for port in farm.ports if farm.admin_up(port)]


def test_routes_go_with_the_last_uplink_and_return_with_the_first(farm: Farm, zebra: FakeZebra) -> None:
    servers = _start(farm, zebra, _WITHDRAW)
    mark = zebra.mark()

    farm.cut("up1")
    holds_for(lambda: zebra.holds_exactly(prefixes_of(servers)), 0.5)
    farm.cut("up2")
    settle(zebra, set(), deadline=0.5)
    farm.planed.wait_log("degraded.begin .*all uplinks are down", 1)
    assert _up(farm) == farm.ports
    farm.restore("up2")

    settle(zebra, prefixes_of(servers), deadline=1.5)
    farm.planed.wait_log('degraded.end .*what="uplinks"', 1)
    assert len(zebra.since(mark, "ROUTE_DELETE")) == len(prefixes_of(servers))


def test_leaf_that_starts_without_uplinks_announces_nothing(farm: Farm, zebra: FakeZebra) -> None:
    farm.cut(*_UPLINKS)
    servers = farm.make_hosts(20)
    farm.learn(servers)

    farm.start_planed(_WITHDRAW).wait_log("all uplinks are down", 10)

    holds_for(lambda: not zebra.since(0, "ROUTE_ADD"), 0.5)
    farm.restore("up1")
    settle(zebra, prefixes_of(servers), deadline=1.5)


def test_uplink_that_is_deleted_counts_as_down(farm: Farm, zebra: FakeZebra) -> None:
    _start(farm, zebra, _WITHDRAW)

    farm.cut("up1")
    farm.leaf.run(["ip", "link", "del", "up2"])

    settle(zebra, set(), deadline=0.5)


class LinkNews:
    """When each port of the leaf changed its administrative state, as the kernel told it."""

    def __init__(self, leaf: Node) -> None:
        self._socket = leaf.open_socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self._socket.bind((0, 1))  # RTMGRP_LINK
        self._socket.settimeout(0.05)
        self.changes: list[tuple[float, int, bool]] = []  # When, ifindex, up
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ends.is_set():
            try:
                data = self._socket.recv(1 << 16)
            except TimeoutError:
                continue
            kind = struct.unpack_from("=IH", data)[1]
            _, _, index, flags, _ = struct.unpack_from("=BxHiII", data, 16)
            if kind == 16:
                self.changes.append((time.monotonic(), index, bool(flags & 1)))

    def stop(self) -> None:
        self._ends.set()
        self._thread.join()
        self._socket.close()


@pytest.fixture
def link_news(farm: Farm) -> Iterator[LinkNews]:
    news = LinkNews(farm.leaf)
    yield news
    news.stop()


def test_shut_takes_the_routes_first_and_then_the_server_ports(
    farm: Farm, zebra: FakeZebra, link_news: LinkNews
) -> None:
    servers = _start(farm, zebra, _SHUT)
    ports = {farm.leaf.ifindex(port) for port in farm.ports}

    farm.cut(*_UPLINKS)
    settle(zebra, set(), deadline=0.5)
    wait_until(lambda: _up(farm) == [], 3)

    withdrawn = [m.at for m in zebra.record if m.kind == "ROUTE_DELETE"]
    downs = [at for at, index, up in link_news.changes if index in ports and not up]
    # One turn does both, the routes' bytes first; the two witnesses are read by two threads.
    assert min(withdrawn) < min(downs) + 0.25
    assert farm.admin_up(BRIDGE)
    farm.restore("up1")
    wait_until(lambda: _up(farm) == farm.ports, 3)
    farm.announce(servers)
    settle(zebra, prefixes_of(servers), deadline=3)


def test_ports_that_were_down_before_stay_down(farm: Farm, zebra: FakeZebra) -> None:
    farm.leaf.link("swp4", up=False)
    servers = farm.make_hosts(20, ports=["swp1", "swp2", "swp3"])
    farm.learn(servers)
    farm.start_planed(_SHUT).wait_log(READY, 10)
    settle(zebra, prefixes_of(servers))

    farm.cut(*_UPLINKS)
    wait_until(lambda: _up(farm) == [], 3)
    farm.restore(*_UPLINKS)
    wait_until(lambda: _up(farm) == ["swp1", "swp2", "swp3"], 3)

    holds_for(lambda: not farm.admin_up("swp4"), 0.5)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_planed_that_restarts_while_ports_are_shut_opens_them_when_the_uplink_returns(
    farm: Farm, zebra: FakeZebra, end: signal.Signals
) -> None:
    servers = _start(farm, zebra, _SHUT)
    farm.leaf.link("swp4", up=False)
    farm.cut(*_UPLINKS)
    wait_until(lambda: _up(farm) == [], 3)
    wait_until(lambda: "shut swp3" in farm.leaf.path("/var/lib/planed/state").read_text(encoding="utf-8"), 2)

    farm.planed.restart(end)
    farm.planed.wait_log("all uplinks are down", 10)
    holds_for(lambda: _up(farm) == [], 0.5)
    farm.restore("up1")

    wait_until(lambda: _up(farm) == ["swp1", "swp2", "swp3"], 2)
    living = [server for server in servers if server.port != "swp4"]
    farm.announce(living)
    settle(zebra, prefixes_of(living), deadline=3)


def test_uplink_that_returned_while_planed_was_down_opens_the_ports_at_the_start(farm: Farm, zebra: FakeZebra) -> None:
    _start(farm, zebra, _SHUT)
    farm.cut(*_UPLINKS)
    wait_until(lambda: _up(farm) == [], 3)
    wait_until(lambda: "shut swp4" in farm.leaf.path("/var/lib/planed/state").read_text(encoding="utf-8"), 2)

    farm.planed.kill()
    farm.restore("up1")
    farm.planed.start()

    wait_until(lambda: _up(farm) == farm.ports, 5)
    wait_until(lambda: "shut" not in farm.leaf.path("/var/lib/planed/state").read_text(encoding="utf-8"), 2)


def test_planed_that_leaves_nothing_behind_opens_the_ports_at_its_end(farm: Farm, zebra: FakeZebra) -> None:
    _start(farm, zebra, {**_SHUT, "on_exit": "withdraw"})
    farm.cut(*_UPLINKS)
    wait_until(lambda: _up(farm) == [], 3)

    assert farm.planed.stop() == 0

    assert _up(farm) == farm.ports
    assert zebra.routes == {}


def test_uplinks_that_flap_end_as_they_are(farm: Farm, zebra: FakeZebra) -> None:
    servers = _start(farm, zebra, _SHUT)

    for _ in range(20):
        farm.cut(*_UPLINKS)
        farm.restore("up2")

    wait_until(lambda: _up(farm) == farm.ports, 3)
    holds_for(lambda: _up(farm) == farm.ports, 1.5)
    farm.announce(servers)
    settle(zebra, prefixes_of(servers), deadline=3)
