# SPDX-License-Identifier: Apache-2.0
"""Interfaces and addresses come, go, move and change their names, and planed starts before any of them."""

import pytest
from lab import Host, Lab, Node, wait_until
from scene import (
    SERVED,
    SOON,
    announce,
    guests,
    host_routes,
    own,
    planed_config,
    prefix,
    prefixes,
    prefixes_of,
    settle,
    start,
    wait_gone,
    wait_routes,
)

LEAF_SCRIPT = ["sh", "/etc/lab/leaf.sh"]
# FRR 10.3's zebra aborts when it sees yet another interface get a new name (zebra_ns.c, zebra_ns_link_ifp).
RENAMES = pytest.mark.spoils_lab


def wait_learning(leaf: Node, interface: str = SERVED) -> None:
    """Until planed has told the kernel to learn from what hosts announce there."""
    wait_until(lambda: leaf.sysctl(f"net.ipv4.conf.{interface}.arp_accept") != "0", SOON)
    wait_until(lambda: leaf.sysctl(f"net.ipv6.conf.{interface}.accept_untracked_na") != "0", SOON)


def test_an_interface_that_is_deleted_and_made_again_serves_again(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    start(leaf)
    host.announce(port="eth1")
    wait_routes(far, own(host))
    index = leaf.ifindex(SERVED)

    leaf.run(["ip", "link", "del", SERVED])
    wait_gone(far, own(host))
    leaf.run(LEAF_SCRIPT)
    wait_learning(leaf)
    host.announce(port="eth1")

    wait_routes(far, own(host))
    assert leaf.ifindex(SERVED) != index
    assert {hop["dev"] for route in own(host) for hop in leaf.fib(route)} == {SERVED}
    host.cut("eth1")
    wait_gone(far, own(host))


def test_an_interface_that_goes_down_and_up_loses_its_routes_and_gets_them_back(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    start(leaf)
    host.announce(port="eth1")
    wait_routes(far, own(host))

    leaf.link(SERVED, up=False)
    wait_gone(far, own(host))
    leaf.link(SERVED, up=True)
    leaf.run(["ip", "addr", "replace", "fd00:0:0:1::1/64", "dev", SERVED, "nodad"])  # Going down takes it away.

    wait_until(lambda: is_served_when_heard(leaf, host), SOON, every=0.2)
    wait_routes(far, own(host))


def test_a_flap_that_is_over_at_once_leaves_the_kernel_with_its_routes(lab: Lab) -> None:
    """The kernel drops an interface's routes as it goes down, zebra believes it still has them."""
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    start(leaf)
    leaf.sysctl(f"net.ipv6.conf.{SERVED}.keep_addr_on_down", 1)
    host.announce(port="eth1")
    wait_routes(far, own(host))

    leaf.ip_batch([f"link set {SERVED} down", f"link set {SERVED} up"])

    wait_until(lambda: is_served_when_heard(leaf, host), SOON, every=0.2)
    wait_routes(far, own(host))


def is_served_when_heard(leaf: Node, host: Host) -> bool:
    """The kernel has forgotten everybody, and hears nobody by IPv6 for a moment after the interface is up."""
    host.announce(port="eth1")
    return set(own(host)) <= host_routes(leaf)


@RENAMES
def test_the_interface_is_known_by_its_name(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    start(leaf)
    host.announce(port="eth1")
    wait_routes(far, own(host))

    leaf.run(["ip", "link", "set", SERVED, "name", "other"])
    wait_gone(far, own(host))
    leaf.run(["ip", "link", "set", "other", "name", SERVED])

    wait_routes(far, own(host))


@RENAMES
def test_a_new_name_that_the_configuration_also_means_changes_nothing(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    start(leaf, planed_config(leaf, {"name": "Vlan1*"}))
    host.announce(port="eth1")
    wait_routes(far, own(host))

    with lab.watch("spine-a") as watch:
        leaf.run(["ip", "link", "set", SERVED, "name", "Vlan101"])
        settle()
    watch.assert_never_left(own(host))

    host.cut("eth1")
    wait_gone(far, own(host))


@RENAMES
def test_a_port_that_gets_a_new_name_is_still_its_hosts_port(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    start(leaf)
    host.announce(port="eth1")
    wait_routes(far, own(host))

    leaf.ip_batch(["link set swp1 down", "link set swp1 name swp9", "link set swp9 up"])
    try:
        host.announce(port="eth1")
        wait_routes(far, own(host))
        host.cut("eth1")
        wait_gone(far, own(host))
    finally:
        leaf.ip_batch(["link set swp9 down", "link set swp9 name swp1", "link set swp1 up"])


def test_a_port_that_moves_to_another_bridge_takes_its_hosts_along(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    stays = lab.host("gpu2")
    leaf.ip_batch(["link add Vlan200 type bridge", "link set Vlan200 up"])
    start(leaf)
    host.announce(port="eth1")
    stays.announce(port="eth1")
    wait_routes(far, own(host) + own(stays))

    with lab.watch("leaf-a2") as watch:
        leaf.run(["ip", "link", "set", "swp1", "master", "Vlan200"])
        wait_gone(far, own(host))
        leaf.run(["ip", "link", "set", "swp1", "master", SERVED])
        host.announce(port="eth1")
        wait_routes(far, own(host))
    watch.assert_never_left(own(stays))


def test_a_host_that_moves_to_another_served_bridge_moves_its_route(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    rail = ["10.0.0.0/16", "fd00:0:0:1::/64"]
    config = planed_config(leaf)
    config["interfaces"].append({"name": "Vlan200", "prefixes": rail})
    leaf.ip_batch(["link add Vlan200 type bridge", "link set Vlan200 up"])
    start(leaf, config)
    host.announce(port="eth1")
    wait_routes(far, own(host))

    leaf.run(["ip", "link", "set", "swp1", "master", "Vlan200"])
    wait_learning(leaf, "Vlan200")
    host.announce(port="eth1")

    wait_until(lambda: {hop["dev"] for route in own(host) for hop in leaf.fib(route)} == {"Vlan200"}, SOON)
    wait_routes(far, own(host))


def test_hosts_of_a_subnet_come_and_go_with_the_interfaces_address_in_it(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    pair = ["10.9.0.5", "fd00:0:0:9::5"]
    gateways = ["10.9.0.1/16", "fd00:0:0:9::1/64"]
    start(leaf)
    leaf.ip_batch([f"addr add {gateway} dev {SERVED}" for gateway in gateways])
    host.add_addresses(pair)
    host.announce([*pair, host.v4, host.v6], port="eth1")
    wait_routes(far, prefixes(pair) + own(host))

    with lab.watch("leaf-a2") as watch:
        leaf.ip_batch([f"addr del {gateway} dev {SERVED}" for gateway in gateways])
        wait_gone(far, prefixes(pair))
        leaf.ip_batch([f"addr add {gateway} dev {SERVED}" for gateway in gateways])
        host.announce(pair, port="eth1")
        wait_routes(far, prefixes(pair))
    watch.assert_never_left(own(host))


def test_an_address_that_becomes_the_leafs_own_is_no_host_any_more(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    crowd = guests(1)
    start(leaf)
    announce(host, crowd)
    wait_routes(far, prefixes_of(crowd))

    # Not as a /32: where a connected route takes over while ours is deleted, bgpd of FRR 8.4 now and then keeps ours.
    leaf.run(["ip", "addr", "add", f"{crowd[0].v4}/24", "dev", "lo"])
    wait_gone(far, [prefix(crowd[0].v4)])
    leaf.run(["ip", "addr", "del", f"{crowd[0].v4}/24", "dev", "lo"])

    wait_routes(far, prefixes_of(crowd))


def test_planed_may_start_before_the_interface(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    leaf.run(["ip", "link", "del", SERVED])
    start(leaf)

    leaf.run(LEAF_SCRIPT)
    wait_learning(leaf)
    host.announce(port="eth1")

    wait_routes(far, own(host))


def test_planed_may_start_before_zebra(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    leaf.stop_frr()
    planed = start(leaf, ready=False)
    wait_learning(leaf)
    host.announce(port="eth1")
    planed.wait_log("NEIGHBORS_SYNCED", SOON)

    leaf.start_frr()

    wait_routes(far, own(host), deadline=30)
    assert planed.alive


def test_planed_learns_what_the_kernel_knew_before_it_started(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    host.announce(port="eth1")  # So that the bridge knows the port; the neighbours would not be learned unasked.
    leaf.ip_batch(
        [f"neigh replace {address} lladdr {host.mac} dev {SERVED} nud reachable" for address in (host.v4, host.v6)]
    )

    start(leaf)

    wait_routes(far, own(host))
