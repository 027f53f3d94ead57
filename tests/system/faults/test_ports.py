# SPDX-License-Identifier: Apache-2.0
"""Many ports at once: each takes its hosts with it, also those whose loss the kernel tells late."""

import fcntl
import ipaddress
import os
import socket
import struct
import time
from collections.abc import Callable, Iterable, Iterator

import pytest
from farm import BRIDGE, READY, Farm, Server, prefixes_of, quick, settle
from lab import frames
from support.fake_zebra import FakeZebra

_TUNSETIFF, _TUNSETCARRIER = 0x400454CA, 0x400454E2
_RTMGRP_LINK = 1
_IFF_TAP, _IFF_NO_PI = 0x0002, 0x1000


def test_100_ports_down_at_once_take_all_their_hosts(make_farm: Callable[..., Farm]) -> None:
    farm = make_farm(ports=102)
    servers = farm.make_hosts(204)
    farm.learn(servers)
    with FakeZebra(farm.zserv) as zebra:
        planed = farm.start_planed()
        settle(zebra, prefixes_of(servers))
        planed.wait_log(READY, 5)
        mark = zebra.mark()
        dead = farm.ports[:100]

        farm.cut(*dead)

        left = {server for server in servers if server.port not in dead}
        settle(zebra, prefixes_of(left), deadline=1.5)
        assert zebra.withdrawn(mark) == prefixes_of(servers) - prefixes_of(left)
        planed.stop()


class Taps:
    """Ports whose carrier the test holds in its hand, and whose loss linkwatch tells up to a second late."""

    def __init__(self, farm: Farm, count: int) -> None:
        self.names = [f"tap{number}" for number in range(count)]
        self._files = {name: farm.leaf.call(lambda name=name: self._open(name)) for name in self.names}  # type: ignore[misc]
        farm.leaf.ip_batch([f"link set {name} master {BRIDGE} up" for name in self.names])

    @staticmethod
    def _open(name: str) -> int:
        file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(file, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TAP | _IFF_NO_PI))
        return file

    def carrier(self, name: str, on: bool) -> None:
        fcntl.ioctl(self._files[name], _TUNSETCARRIER, struct.pack("i", int(on)))

    def announce(self, servers: Iterable[Server]) -> None:
        """Gratuitous ARP and unsolicited NA: a tap's server speaks by what is written into its file."""
        for server in servers:
            for address in (server.v4, server.v6):
                os.write(self._files[server.port], frames.announcement(ipaddress.ip_address(address), server.mac))

    def close(self) -> None:
        for file in self._files.values():
            os.close(file)


@pytest.fixture
def taps(farm: Farm) -> Iterator[Taps]:
    made = Taps(farm, 40)
    yield made
    made.close()


@pytest.mark.alone
def test_losses_that_the_kernel_tells_late_are_seen_by_reading(farm: Farm, taps: Taps, zebra: FakeZebra) -> None:
    """net/core/link_watch.c puts off what comes within a second of the last news; the state itself is there at once."""
    servers = farm.make_hosts(80, ports=taps.names)
    farm.learn(servers)
    planed = farm.start_planed()
    settle(zebra, prefixes_of(servers))
    planed.wait_log(READY, 5)
    time.sleep(2)  # linkwatch is at rest, and so is the burst of reads that the ports' coming has begun.

    taps.carrier(taps.names[0], False)
    settle(zebra, prefixes_of(s for s in servers if s.port != taps.names[0]), deadline=1.0)
    with farm.leaf.open_socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as news:
        news.bind((0, _RTMGRP_LINK))
        begun = time.monotonic()
        for name in taps.names[1:]:
            taps.carrier(name, False)
        cut = time.monotonic()
        settle(zebra, set(), deadline=1.5)
        told = _count(news)

    last = max(message.at for message in zebra.record if message.kind == "ROUTE_DELETE")
    assert cut - begun < 0.2 and told < len(taps.names) - 1, "the kernel was not late: this run says nothing"
    assert last - cut < quick(0.3), f"withdrawn {last - cut:.3f} s after the last loss"


def _count(news: socket.socket) -> int:
    """Datagrams that have come: the kernel sends one for each link that it has news of."""
    for count in range(1 << 20):
        try:
            news.recv(1 << 16, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return count
    raise AssertionError("no end of news")


def test_port_that_flaps_faster_than_anybody_looks_ends_as_it_is(farm: Farm, taps: Taps, zebra: FakeZebra) -> None:
    servers = farm.make_hosts(40, ports=taps.names[:2])
    farm.learn(servers)
    planed = farm.start_planed()
    settle(zebra, prefixes_of(servers))
    planed.wait_log(READY, 5)

    for _ in range(200):
        taps.carrier(taps.names[0], False)
        taps.carrier(taps.names[0], True)
    taps.carrier(taps.names[1], False)
    taps.carrier(taps.names[1], True)
    taps.carrier(taps.names[1], False)
    alive = [server for server in servers if server.port == taps.names[0]]
    taps.announce(alive)  # Whoever saw the port down waits for this.

    settle(zebra, prefixes_of(alive), deadline=3.0)
