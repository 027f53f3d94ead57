# SPDX-License-Identifier: Apache-2.0
"""`proxy_nd`: a leaf answers neighbour solicitations for hosts of other leaves, at once, and for nobody else."""

import ipaddress
import select
import socket
import threading
import time
from collections.abc import Callable

import pytest
from lab import Host, Lab, Node, frames, holds_for, wait_until
from scene import (
    SERVED,
    SOON,
    announce,
    guests,
    own,
    planed_config,
    prefixes_of,
    start,
    start_everywhere,
    wait_gone,
    wait_routes,
)

GATEWAY_MAC = "02:00:00:00:01:00"
OURS = "201"  # NDA_PROTOCOL of what planed writes.
QUIET_HOSTS = {"learning": {"refresh": "10m"}}  # Guests answer nobody.
AUDIT = 60.0  # How often the kernel's table is read where nothing has happened.
_ETH_ALL = 0x0003  # A port of a bridge shows its frames to nobody who asks for less.
_SO_RCVBUFFORCE = 33
_DAD_SOURCE = "::"


class Answers:
    """Asks on one port of a host and hears who answers: which MAC says it has which address."""

    def __init__(self, host: Host, port: str = "eth1") -> None:
        self._mac = host.mac
        self._own = {4: host.v4, 6: host.v6}
        self._raw = host.open_socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_ALL))
        self._raw.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 16 << 20)
        self._raw.bind((port, _ETH_ALL))

    def __enter__(self) -> "Answers":
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    def ask(self, address: str, patience: float = 1.0, source: str | None = None) -> tuple[set[str], float]:
        """The MACs that answer, and how long the first one took."""
        asked = time.monotonic()
        self._raw.send(self._question(address, source))
        macs: set[str] = set()
        first = patience
        while (left := asked + patience - time.monotonic()) > 0:
            answer = self._next(left)
            if answer and answer[0] == address:
                first = min(first, time.monotonic() - asked)
                macs.add(answer[1])
                patience = min(patience, first + 0.05)  # A second answer would follow at once.
        return macs, first

    def ask_all(self, addresses: list[str], patience: float) -> dict[str, set[str]]:
        """Every question in one go; who answered for what until all are answered or patience ends."""
        for question in [self._question(address) for address in addresses]:
            self._raw.send(question)
        wanted = set(addresses)
        answered: dict[str, set[str]] = {}
        end = time.monotonic() + patience
        while wanted - answered.keys() and (left := end - time.monotonic()) > 0:
            answer = self._next(left)
            if answer and answer[0] in wanted:
                answered.setdefault(answer[0], set()).add(answer[1])
        return answered

    def _question(self, address: str, source: str | None = None) -> bytes:
        target = ipaddress.ip_address(address)
        return frames.solicitation(target, ipaddress.ip_address(source or self._own[target.version]), self._mac)

    def _next(self, patience: float) -> tuple[str, str] | None:
        if not select.select([self._raw], [], [], patience)[0]:
            return None
        return answer_of(self._raw.recv(256))


def answer_of(frame: bytes) -> tuple[str, str] | None:
    """Address and MAC of an ARP reply or an NA (RFC 826, RFC 4861 section 4.4); None for any other frame."""
    if frame[12:14] == b"\x08\x06" and frame[20:22] == b"\0\2":
        return str(ipaddress.ip_address(frame[28:32])), frame[22:28].hex(":")
    if frame[12:14] == b"\x86\xdd" and frame[20] == 58 and frame[54] == 136:
        option = frame[78:86]
        mac = option[2:8] if option[:2] == b"\2\1" else frame[6:12]
        return str(ipaddress.ip_address(frame[62:78])), mac.hex(":")
    return None


def proxied(leaf: Node) -> dict[str, str]:
    """Address → protocol of the kernel's entries on the served interface."""
    entries = leaf.json(["ip", "-6", "-j", "neigh", "show", "proxy", "dev", SERVED])
    return {entry["dst"]: entry.get("protocol", "") for entry in entries}


def wait_proxied(leaf: Node, *addresses: str, deadline: float = SOON) -> float:
    return wait_until(lambda: set(addresses) <= proxied(leaf).keys(), deadline, what=f"{leaf.name} does not answer")


def wait_not_proxied(leaf: Node, *addresses: str, deadline: float = SOON) -> float:
    return wait_until(lambda: not set(addresses) & proxied(leaf).keys(), deadline, what=f"{leaf.name} still answers")


def fabric_with(lab: Lab, *hosts: Host) -> None:
    """planed everywhere, and these hosts known in both planes; from here on they are silent."""
    start_everywhere(lab)
    for host in hosts:
        host.announce()
    for leaf in lab.leaves():
        wait_routes(leaf, [route for host in hosts for route in own(host)])


# ---- who is answered for ----


@pytest.mark.alone
def test_a_silent_host_of_another_leaf_is_resolved_in_both_planes(lab: Lab) -> None:
    one, other = lab.host("gpu1"), lab.host("gpu3")
    fabric_with(lab, one, other)
    for leaf in (lab["leaf-a1"], lab["leaf-b1"]):
        wait_proxied(leaf, other.v6)
        assert proxied(leaf) == {other.v6: OURS}, "its own host is not answered for"

    for port in ("eth1", "eth2"):
        with Answers(one, port) as answers:
            times = []
            for _ in range(10):
                macs, took = answers.ask(other.v6, patience=2)
                assert macs == {GATEWAY_MAC}
                times.append(took)
        # The kernel's own delay is anything up to 0.8 s; one or two may wait for a processor here.
        assert sorted(times)[7] < 0.1, times
    assert one.ping(other.v6)


def test_nobody_is_answered_for_who_is_not_elsewhere(lab: Lab) -> None:
    one, neighbour, other = lab.host("gpu1"), lab.host("gpu2"), lab.host("gpu3")
    fabric_with(lab, one, neighbour, other)
    wait_proxied(lab["leaf-a1"], other.v6)

    with Answers(one) as answers:
        macs, _ = answers.ask(neighbour.v6)
        assert macs == {neighbour.mac}, "the host itself answers behind the same leaf"
        macs, _ = answers.ask("fd00:0:0:1::5555")
        assert macs == set(), "nobody has that address"


def test_a_host_that_leaves_the_plane_is_answered_for_no_more(lab: Lab) -> None:
    one, other = lab.host("gpu1"), lab.host("gpu3")
    fabric_with(lab, one, other)
    wait_proxied(lab["leaf-a1"], other.v6)

    other.cut("eth1")
    wait_gone(lab["leaf-a1"], own(other))
    took = wait_not_proxied(lab["leaf-a1"], other.v6)

    assert took < 1.0
    with Answers(one) as answers:
        assert answers.ask(other.v6)[0] == set()
    assert other.v6 in proxied(lab["leaf-b1"]), "the other plane still has it"


def test_a_host_that_moves_here_is_not_answered_for_any_more(lab: Lab) -> None:
    """Its address behind this leaf from now on: the entry ends with the first sign of it, its old leaf's route later."""
    one, other = lab.host("gpu1"), lab.host("gpu3")
    fabric_with(lab, one, other)
    leaf = lab["leaf-a1"]
    wait_proxied(leaf, other.v6)

    one.announce([other.v6], port="eth1")

    wait_not_proxied(leaf, other.v6)
    wait_until(lambda: leaf.fib(own(other)[1]) and leaf.fib(own(other)[1])[0]["dev"] == SERVED, SOON)


def test_a_thousand_questions_at_once_are_all_answered(lab: Lab) -> None:
    start_everywhere(lab, **QUIET_HOSTS)
    one, behind = lab.host("gpu1"), lab.host("gpu3")
    many = guests(1000)
    announce(behind, many)
    one.announce()
    leaf = lab["leaf-a1"]
    wait_routes(leaf, prefixes_of(many), deadline=60)
    wait_proxied(leaf, *(guest.v6 for guest in many), deadline=30)

    with Answers(one) as answers:
        for addresses in ([guest.v6 for guest in many], [guest.v4 for guest in many]):
            answered = answers.ask_all(addresses, patience=5)
            assert len(answered) == 1000
            assert set.union(*answered.values()) == {GATEWAY_MAC}
        nobody = guests(1, first=1500)[0]
        assert answers.ask(nobody.v6)[0] == answers.ask(nobody.v4)[0] == set()


# ---- duplicate address detection ----


def tentative(host: Host, address: str) -> str:
    """What became of the check: "" (passed), "tentative" or "dadfailed"."""
    for entry in host.json(["ip", "-6", "-j", "addr", "show", "dev", "bond0"])[0]["addr_info"]:
        if entry.get("local") == address:
            return "dadfailed" if entry.get("dadfailed") else "tentative" if entry.get("tentative") else ""
    return "absent"


def check_address(host: Host, address: str) -> str:
    """The host asks whether anybody has the address before it takes it, as every host does outside of this lab."""
    checks = "net.ipv6.conf.bond0.accept_dad"
    before = host.sysctl(checks)
    host.sysctl(checks, 1)
    try:
        host.run(["ip", "-6", "addr", "add", f"{address}/64", "dev", "bond0"])
        wait_until(lambda: tentative(host, address) != "tentative", 10)
        return tentative(host, address)
    finally:
        host.sysctl(checks, before)


def test_a_hosts_check_for_its_own_address_passes(lab: Lab) -> None:
    one, other = lab.host("gpu1"), lab.host("gpu3")
    fabric_with(lab, one, other)
    address = one.v6
    wait_proxied(lab["leaf-a2"], address)

    with Answers(one) as answers:
        assert answers.ask(address, source=_DAD_SOURCE)[0] == set()
    one.run(["ip", "-6", "addr", "del", f"{address}/64", "dev", "bond0"])
    assert check_address(one, address) == ""


def test_the_address_of_another_leafs_host_is_defended(lab: Lab) -> None:
    one, other = lab.host("gpu1"), lab.host("gpu3")
    fabric_with(lab, one, other)
    for leaf in (lab["leaf-a1"], lab["leaf-b1"]):
        wait_proxied(leaf, other.v6)

    with Answers(one) as answers:
        assert answers.ask(other.v6, source=_DAD_SOURCE)[0] == {GATEWAY_MAC}
    assert check_address(one, other.v6) == "dadfailed"


# ---- what the kernel loses ----


def test_entries_that_somebody_flushed_are_back_with_the_next_audit(lab: Lab, frr: str) -> None:
    if frr != "8.4":
        pytest.skip("takes a minute and has nothing to do with FRR")
    one, other = lab.host("gpu1"), lab.host("gpu3")
    fabric_with(lab, one, other)
    leaf = lab["leaf-a1"]
    wait_proxied(leaf, other.v6)

    leaf.run(["ip", "-6", "neigh", "flush", "proxy", "dev", SERVED])
    assert proxied(leaf) == {}

    wait_proxied(leaf, other.v6, deadline=AUDIT + SOON)


def test_entries_that_go_with_the_interface_are_back_with_it(lab: Lab) -> None:
    one, other = lab.host("gpu1"), lab.host("gpu3")
    fabric_with(lab, one, other)
    leaf = lab["leaf-a1"]
    leaf.sysctl(f"net.ipv6.conf.{SERVED}.keep_addr_on_down", 1)
    wait_proxied(leaf, other.v6)

    leaf.ip_batch([f"link set {SERVED} down", f"link set {SERVED} up"])

    wait_proxied(leaf, other.v6, deadline=2)
    leaf.link(SERVED, up=False)
    leaf.link(SERVED, up=True)
    wait_proxied(leaf, other.v6, deadline=2)


class Flaps:
    """Looks at the kernel's entries all the time; says when one of them was missing."""

    def __init__(self, leaf: Node, address: str) -> None:
        self._ended = threading.Event()
        self._look = threading.Thread(target=self._watch, args=(leaf, address))
        self.missing = 0
        self.looks = 0

    def __enter__(self) -> "Flaps":
        self._look.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._look.join()

    def _watch(self, leaf: Node, address: str) -> None:
        while not self._ended.is_set():
            self.looks += 1
            self.missing += address not in proxied(leaf)


@pytest.mark.parametrize("restart", ["frr", "bgpd", "planed"])
def test_no_entry_flaps_when_a_daemon_is_restarted(lab: Lab, restart: str) -> None:
    one, other = lab.host("gpu1"), lab.host("gpu3")
    fabric_with(lab, one, other)
    leaf = lab["leaf-a1"]
    wait_proxied(leaf, other.v6)
    how: dict[str, Callable[[], None]] = {
        "frr": leaf.restart_frr,
        "bgpd": lambda: leaf.restart_daemon("bgpd"),
        "planed": leaf.planed.restart,
    }

    with Flaps(leaf, other.v6) as flaps:
        how[restart]()
        wait_routes(leaf, own(other), deadline=30)
        holds_for(lambda: True, 2)

    assert flaps.looks > 20
    assert flaps.missing == 0


# ---- whose entries ----


def add_proxy(leaf: Node, address: str, protocol: str) -> None:
    leaf.run(["ip", "-6", "neigh", "add", "proxy", address, "dev", SERVED, "protocol", protocol])


def test_only_own_entries_are_touched(lab: Lab) -> None:
    one, other = lab.host("gpu1"), lab.host("gpu3")
    leaf = lab["leaf-a1"]
    stranger, old = "fd00:0:0:1::aaaa", "fd00:0:0:1::bbbb"
    add_proxy(leaf, other.v6, "static")
    add_proxy(leaf, stranger, "static")
    add_proxy(leaf, old, OURS)

    fabric_with(lab, one, other)

    wait_not_proxied(leaf, old)
    wait_until(lambda: leaf.sysctl(f"net.ipv6.conf.{SERVED}.proxy_ndp") == "1", SOON)
    other.cut("eth1")
    wait_gone(leaf, own(other))
    holds_for(lambda: proxied(leaf) == {other.v6: "static", stranger: "static"}, 1.5)


def test_nothing_is_left_behind_on_request(lab: Lab) -> None:
    one, other = lab.host("gpu1"), lab.host("gpu3")
    leaf = lab["leaf-a1"]
    before = nd_settings(leaf)
    for each in lab.leaves():
        start(each, planed_config(each, on_exit="withdraw"))
    other.announce()
    wait_proxied(leaf, other.v6)
    wait_until(lambda: nd_settings(leaf) == ("1", "0", "65536"), SOON)

    assert leaf.planed.stop() == 0

    assert proxied(leaf) == {}
    assert nd_settings(leaf) == before


def test_off_leaves_the_kernels_proxy_alone(lab: Lab) -> None:
    one, other = lab.host("gpu1"), lab.host("gpu3")
    leaf = lab["leaf-a1"]
    before = nd_settings(leaf)
    for each in lab.leaves():
        start(each, planed_config(each, {"proxy_nd": False}))
    other.announce()
    wait_routes(leaf, own(other))

    assert proxied(leaf) == {}
    assert nd_settings(leaf) == before


def test_forwarding_that_is_off_is_told_and_left_alone(lab: Lab) -> None:
    leaf = lab["leaf-a1"]
    leaf.sysctl(f"net.ipv6.conf.{SERVED}.forwarding", 0)

    planed = start(leaf)

    planed.wait_log(rf"degraded.begin .*ipv6.conf.{SERVED}.forwarding is 0 and must be 1", SOON)
    assert leaf.sysctl(f"net.ipv6.conf.{SERVED}.forwarding") == "0"


def nd_settings(leaf: Node) -> tuple[str, str, str]:
    return (
        leaf.sysctl(f"net.ipv6.conf.{SERVED}.proxy_ndp"),
        leaf.sysctl(f"net.ipv6.neigh.{SERVED}.proxy_delay"),
        leaf.sysctl(f"net.ipv6.neigh.{SERVED}.proxy_qlen"),
    )
