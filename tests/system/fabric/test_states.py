# SPDX-License-Identifier: Apache-2.0
"""What the kernel thinks of a living host changes all day, and its route never does; a dead one's goes."""

import subprocess
import threading

import pytest
from lab import Host, Lab, Node, TableWatch, wait_until
from scene import (
    SERVED,
    SOON,
    announce,
    assert_silent,
    guests,
    own,
    prefix,
    prefixes_of,
    settle,
    start,
    wait_gone,
    wait_routes,
)

ALIVE = ("REACHABLE", "STALE", "DELAY", "PROBE")
_UNHEARD = 40  # A host that does not answer goes when nothing was heard of it for 21 s, and it was asked again.


def quicken(leaf: Node, reachable_ms: int = 300) -> None:
    """The kernel's half minutes become tenths of a second; its first probe cannot be sooner than 1 s after use."""
    values = {"base_reachable_time_ms": reachable_ms, "delay_first_probe_time": 1, "retrans_time_ms": 100}
    for family in ("ipv4", "ipv6"):
        for key, value in values.items():
            leaf.sysctl(f"net.{family}.neigh.{SERVED}.{key}", value)


def poke(leaf: Node, addresses: list[str]) -> None:
    """The leaf sends something to them, and does not wait for an answer."""
    for address in addresses:
        leaf.run(["ping", "-n", "-q", "-c", "1", "-W", "0.05", address], check=False)


def test_a_host_that_goes_through_all_states_of_the_kernel_is_never_touched(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    addresses = [host.v4, host.v6]
    start(leaf)
    quicken(leaf)
    host.announce(port="eth1")
    wait_routes(far, own(host))

    with lab.watch("leaf-a1") as near, lab.watch("spine-a") as spine, Monitor(leaf) as monitor:

        def round_and_round() -> bool:
            for address in addresses:
                if leaf.neighbors(SERVED)[address]["state"] == ["STALE"]:
                    poke(leaf, [address])
            # The kernel enters DELAY without a word, and STALE only after a pause.
            return all(monitor.count(a, state) >= 3 for a in addresses for state in ("PROBE", "REACHABLE"))

        wait_until(round_and_round, 60, every=0.1)
        for _ in range(10):
            for state in ALIVE:
                entry = f"lladdr {host.mac} dev {SERVED} nud {state.lower()}"
                leaf.ip_batch([f"neigh change {address} {entry}" for address in addresses])
        wait_until(lambda: all(monitor.count(a, state) >= 10 for a in addresses for state in ALIVE), SOON)
        settle()

    near.assert_silent()
    spine.assert_silent()


class Monitor:
    """What the kernel says of neighbours while it runs."""

    def __init__(self, leaf: Node) -> None:
        self._process = leaf.popen(["ip", "-o", "monitor", "neigh"], stdout=subprocess.PIPE, bufsize=1)
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> "Monitor":
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()
        self._reader.join()

    def count(self, address: str, state: str) -> int:
        return sum(line.startswith(f"{address} ") and line.split()[-1] == state for line in self._lines)

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._lines.append(line.strip())


def test_a_host_that_does_not_answer_any_more_is_withdrawn_and_returns_when_heard(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    [guest] = guests(1)
    start(leaf)
    quicken(leaf)
    host.announce(port="eth1")
    announce(host, [guest])  # Nobody answers for it.
    wait_routes(far, [*guest.prefixes, *own(host)])

    with lab.watch("leaf-a2") as watch:
        poke(leaf, [guest.v4, guest.v6])
        wait_gone(far, guest.prefixes, _UNHEARD)
    watch.assert_never_left(own(host))

    announce(host, [guest])
    wait_routes(far, guest.prefixes)


def test_an_address_that_its_host_has_dropped_is_withdrawn_though_the_host_lives(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    start(leaf)
    host.add_addresses(["10.0.1.1"])
    host.announce(["10.0.1.1", host.v4, host.v6], port="eth1")
    wait_routes(far, [prefix("10.0.1.1"), *own(host)])

    with lab.watch("leaf-a2") as watch:
        host.del_addresses(["10.0.1.1"])
        wait_gone(far, [prefix("10.0.1.1")], 2 * _UNHEARD)
    watch.assert_never_left(own(host))


def test_an_ipv6_host_that_has_failed_returns_when_it_only_announces_itself(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    [guest] = guests(1)
    start(leaf)
    quicken(leaf)
    announce(host, [guest])
    wait_routes(far, guest.prefixes)
    poke(leaf, [guest.v6])
    wait_gone(far, guest.prefixes, _UNHEARD)

    announce(host, [guest])

    wait_routes(far, guest.prefixes, 3)


def test_a_host_that_does_not_hear_unicast_questions_is_found_by_broadcast(lab: Lab) -> None:
    """A switch that drops unicast ARP must not kill hosts; here nobody has the MAC that the leaf asks first."""
    leaf, host = lab["leaf-a1"], lab.host("gpu1")
    start(leaf)
    for family in ("ipv4", "ipv6"):
        wait_until(lambda: leaf.sysctl(f"net.{family}.neigh.{SERVED}.mcast_resolicit") == "3", SOON)
    quicken(leaf)
    leaf.sysctl(f"net.ipv4.neigh.{SERVED}.locktime", 0)  # Else another MAC is not believed within a second.
    host.announce(port="eth1")
    wait_routes(leaf, own(host))

    with lab.watch("leaf-a1") as watch:
        host.run(["ip", "link", "set", "bond0", "address", "02:00:00:00:00:77"])
        poke(leaf, [host.v4, host.v6])
        wait_until(lambda: macs_of(leaf, host) == {"02:00:00:00:00:77"}, 20)
        settle()
    watch.assert_never_left(own(host))


def macs_of(leaf: Node, host: Host) -> set[str]:
    entries = leaf.neighbors(SERVED)
    return {str(entries[address].get("lladdr")) for address in (host.v4, host.v6)}


def assert_no_gap(watch: TableWatch, routes: list[str], changes_each: int) -> None:
    watch.assert_never_left(routes)
    for route in routes:
        for source in ("bgp", "fib"):
            changes = [change for change in watch.of([route]) if change.source == source]
            assert len(changes) <= changes_each, changes


def test_a_new_mac_leaves_no_gap(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    start(leaf)
    announce(host, guests(4))
    host.announce(port="eth1")
    routes = prefixes_of(guests(4)) + own(host)
    wait_routes(far, routes)

    with lab.watch("leaf-a1") as near, lab.watch("spine-a") as spine:
        addresses = [route.split("/")[0] for route in routes]
        host.announce(addresses, mac="02:00:00:00:00:77", port="eth1")
        wait_until(lambda: all(leaf.neighbors(SERVED)[a]["lladdr"] == "02:00:00:00:00:77" for a in addresses), SOON)
        settle()

    assert_no_gap(near, routes, changes_each=1)
    assert_no_gap(spine, routes, changes_each=1)
    host.cut("eth1")
    wait_gone(far, routes)


@pytest.mark.parametrize("speaks", ["with its old MAC", "with a new MAC"])
def test_a_host_that_moves_to_another_port_leaves_no_gap(lab: Lab, speaks: str) -> None:
    leaf, far = lab["leaf-a1"], lab["leaf-a2"]
    before, after = lab.host("gpu1"), lab.host("gpu2")
    crowd = guests(4)
    routes = prefixes_of(crowd)
    start(leaf)
    announce(before, crowd)
    wait_routes(far, routes)

    with lab.watch("leaf-a1") as near, lab.watch("spine-a") as spine:
        if speaks == "with its old MAC":
            announce(after, crowd)
        else:
            after.announce([route.split("/")[0] for route in routes], mac="02:00:00:00:00:77", port="eth1")
        settle()
        before.cut("eth1")
        settle()

    assert_no_gap(near, routes, changes_each=1)
    assert_no_gap(spine, routes, changes_each=1)
    assert_silent(spine, routes)
    after.cut("eth1")
    wait_gone(far, routes)
