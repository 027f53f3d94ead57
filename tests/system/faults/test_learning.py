# SPDX-License-Identifier: Apache-2.0
"""Hosts that the kernel would not learn, hosts that nobody asks for, and hosts that do not answer here."""

import ipaddress
import socket
import time
from collections.abc import Iterable

from farm import BRIDGE, READY, Farm, Server, prefixes_of, quick, settle
from lab import frames, wait_until
from support.fake_zebra import FakeZebra

_OTHERS = ("10.0.250.250", "fd00:0:0:1::fa:fa")  # Nobody's.


def _ask_for_others(farm: Farm, servers: Iterable[Server]) -> None:
    """Requests for hosts that are not there: the kernel takes nothing from what is not for itself."""
    with farm.servers.open_socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
        for server in servers:
            for own, other in zip((server.v4, server.v6), _OTHERS, strict=True):
                frame = frames.solicitation(ipaddress.ip_address(other), ipaddress.ip_address(own), server.mac)
                raw.sendto(frame, (farm.port_ends[server.port], 0))


def _send_data(farm: Farm, servers: Iterable[Server]) -> None:
    """Frames that are neither ARP nor ND, to the gateway."""
    with farm.servers.open_socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
        for server in servers:
            addresses = bytes.fromhex("02005e000001" + server.mac.replace(":", ""))
            raw.sendto(addresses + b"\x88\xb5" + bytes(46), (farm.port_ends[server.port], 0))  # IEEE 802, experimental.


def _refreshing(every: str, **interface: object) -> dict[str, object]:
    return {"interfaces": [{"name": BRIDGE, **interface}], "learning": {"refresh": every}}


def test_host_that_only_asks_for_others_becomes_a_route(farm: Farm, zebra: FakeZebra) -> None:
    planed = farm.start_planed()
    planed.wait_log(READY, 5)
    servers = farm.make_hosts(20)
    farm.revive(servers)

    _ask_for_others(farm, servers)

    settle(zebra, prefixes_of(servers), deadline=1)
    entry = farm.leaf.neighbors(BRIDGE)[servers[0].v4]
    assert entry["lladdr"] == servers[0].mac


def test_host_is_not_learnt_from_frames_where_snoop_is_off(farm: Farm, zebra: FakeZebra) -> None:
    planed = farm.start_planed(_refreshing("30s", snoop=False))
    planed.wait_log(READY, 5)
    servers = farm.make_hosts(4)
    farm.revive(servers)

    _ask_for_others(farm, servers[:2])
    farm.announce(servers[2:])  # The kernel learns these by itself.

    settle(zebra, prefixes_of(servers[2:]), deadline=1)


def test_dead_host_that_nobody_asks_for_is_gone_in_time(farm: Farm, zebra: FakeZebra) -> None:
    """Within refresh and six seconds of the kernel's own requests."""
    servers = farm.make_hosts(40)
    farm.learn(servers)
    planed = farm.start_planed(_refreshing("4s"))
    settle(zebra, prefixes_of(servers))
    planed.wait_log(READY, 5)

    farm.kill(servers[:20])

    settle(zebra, prefixes_of(servers[20:]), deadline=4 + 6 + 1)


def test_living_hosts_that_say_nothing_by_themselves_stay(farm: Farm, zebra: FakeZebra) -> None:
    servers = farm.make_hosts(200)
    farm.learn(servers)
    planed = farm.start_planed(_refreshing("2s"))
    settle(zebra, prefixes_of(servers))
    mark = zebra.mark()

    time.sleep(8)  # Each is asked four times.

    assert not zebra.withdrawn(mark)
    assert zebra.holds_exactly(prefixes_of(servers)) is True
    assert planed.alive


def test_host_that_answers_elsewhere_stays_as_long_as_it_is_heard(farm: Farm, zebra: FakeZebra) -> None:
    """A bond that hashes its answers to the other leaf, but sends what it asks to both."""
    servers = farm.make_hosts(4)
    farm.learn(servers)
    planed = farm.start_planed(_refreshing("2s"))
    settle(zebra, prefixes_of(servers))
    planed.wait_log(READY, 5)
    mark = zebra.mark()
    farm.kill(servers)  # That is: nobody answers here.

    for _ in range(24):
        _ask_for_others(farm, servers)
        time.sleep(0.5)

    assert not zebra.withdrawn(mark)
    settle(zebra, set(), deadline=2 + 6 + 6 + 1)


def test_host_that_only_sends_here_stays_and_is_named(farm: Farm, zebra: FakeZebra) -> None:
    """A bond that answers everything by the other leaf: its frames on this one are all that shows it."""
    servers = farm.make_hosts(4)
    farm.learn(servers)
    planed = farm.start_planed(_refreshing("8s"))
    settle(zebra, prefixes_of(servers))
    planed.wait_log(READY, 5)
    mark = zebra.mark()
    farm.kill(servers)  # That is: nobody answers here.

    states = set()
    for _ in range(60):
        _send_data(farm, servers)
        time.sleep(0.5)
        states |= {entry["state"][0] for entry in farm.leaf.neighbors(BRIDGE).values()}

    assert not zebra.withdrawn(mark)
    assert "FAILED" not in states, "nothing sent to them may wait for an answer"
    for server in servers:
        planed.wait_log(f"host.mute .*address={server.v4} ", 0)
    settle(zebra, set(), deadline=8 + 4 + 1)


def test_kernel_asks_as_often_as_configured(farm: Farm) -> None:
    config = _refreshing("5s") | {"learning": {"refresh": "5s", "probe_interval": "200ms", "probe_attempts": 2}}
    names = [f"net.ipv{v}.neigh.{BRIDGE}.{name}" for v in (4, 6) for name in ("ucast_solicit", "mcast_resolicit")]
    times = [f"net.ipv{v}.neigh.{BRIDGE}.retrans_time_ms" for v in (4, 6)]
    before = {name: _sysctl(farm, name) for name in names + times}

    planed = farm.start_planed(config | {"on_exit": "withdraw"})

    wait_until(lambda: {_sysctl(farm, name) for name in names} == {"2"}, 5)
    wait_until(lambda: {_sysctl(farm, name) for name in times} == {"200"}, 5)
    planed.stop()
    assert {name: _sysctl(farm, name) for name in names + times} == before


def _sysctl(farm: Farm, name: str) -> str:
    return farm.leaf.run(["sysctl", "-n", name]).stdout.strip()


def test_host_heard_on_a_port_that_came_back_is_a_route_at_once(farm: Farm, zebra: FakeZebra) -> None:
    servers = farm.make_hosts(10, ports=["swp2"])
    farm.learn(servers)
    planed = farm.start_planed()
    settle(zebra, prefixes_of(servers))
    planed.wait_log(READY, 5)
    farm.kill(servers)  # Their answers are not what brings them back.
    farm.cut("swp2")
    settle(zebra, set(), deadline=1)
    farm.restore("swp2")
    wait_until(lambda: "LOWER_UP" in farm.leaf.json(["ip", "-j", "link", "show", "swp2"])[0]["flags"], 2)

    _ask_for_others(farm, servers)

    settle(zebra, prefixes_of(servers), deadline=1)


def test_storm_of_invented_hosts_costs_bounded_memory_and_no_living_host(farm: Farm, zebra: FakeZebra) -> None:
    servers = farm.make_hosts(40, ports=["swp1", "swp2"])
    farm.learn(servers)
    planed = farm.start_planed(_refreshing("30s", max_hosts=1000))
    settle(zebra, prefixes_of(servers))
    planed.wait_log(READY, 5)
    before, mark = planed.resident_bytes(), zebra.mark()

    with farm.servers.open_socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
        for number in range(20_000):
            high, low = divmod(number, 250)
            source = ipaddress.IPv4Address(f"10.0.{100 + high}.{1 + low}")
            mac = f"02:66:00:00:{high:02x}:{low:02x}"
            raw.sendto(frames.solicitation(ipaddress.IPv4Address(_OTHERS[0]), source, mac), ("eth3", 0))
    newcomers = farm.make_hosts(2, first=5000, ports=["swp2"])
    farm.revive(newcomers)
    farm.announce(newcomers)

    wait_until(lambda: zebra.holds(*prefixes_of(newcomers)), quick(2), what="a host that came in the storm")
    assert not zebra.withdrawn(mark) & prefixes_of(servers)
    assert len(farm.leaf.neighbors(BRIDGE)) < 1200
    assert planed.resident_bytes() - before < 64 << 20
