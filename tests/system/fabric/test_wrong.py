# SPDX-License-Identifier: Apache-2.0
"""What is announced by mistake or malice never becomes a route, whether the kernel believes it or not."""

import pytest
from lab import Lab, Node, wait_until
from scene import SERVED, SOON, own, planed_config, prefixes, settle, start, tables_of, wait_gone, wait_routes

GATEWAY = ["10.0.0.1", "fd00:0:0:1::1"]
WRONG = {
    "outside the subnets": ["10.1.0.5", "192.168.7.7", "fd00:0:0:2::5"],
    "the gateway's own": GATEWAY,
    "link-local": ["169.254.1.1", "fe80::1234"],
    "network and broadcast": ["10.0.0.0", "10.0.255.255", "fd00:0:0:1::"],
}


def insist(leaf: Node, addresses: list[str], mac: str, state: str = "stale") -> None:
    """Writes what the kernel may have refused to learn, as another program could; it refuses some of it even so."""
    for address in addresses:
        leaf.run(["ip", "neigh", "replace", address, "lladdr", mac, "dev", SERVED, "nud", state], check=False)


@pytest.mark.parametrize("kind", WRONG)
def test_an_address_is_never_a_route_that_is(lab: Lab, kind: str) -> None:
    leaf, spine, host = lab["leaf-a1"], lab["spine-a"], lab.host("gpu1")
    start(leaf)
    with lab.watch("leaf-a1") as near, lab.watch("spine-a") as watch:
        host.announce(WRONG[kind], mac="02:00:00:00:00:66", port="eth1")
        insist(leaf, WRONG[kind], "02:00:00:00:00:66")
        host.announce(port="eth1")
        wait_routes(spine, own(host))  # What was said before this was judged before it.
        settle()

    assert not near.of(prefixes(WRONG[kind])) and not watch.of(prefixes(WRONG[kind]))
    assert tables_of(spine) == set(own(host))


WRONG_MACS = {"multicast": "01:00:5e:00:00:05", "broadcast": "ff:ff:ff:ff:ff:ff", "the leaf's own": "02:00:00:00:01:00"}


@pytest.mark.parametrize("kind", WRONG_MACS)
def test_a_mac_is_never_a_hosts_that_is(lab: Lab, kind: str) -> None:
    leaf, spine, host = lab["leaf-a1"], lab["spine-a"], lab.host("gpu1")
    start(leaf)
    wrong = ["10.0.5.5", "fd00:0:0:1::505"]
    insist(leaf, wrong, WRONG_MACS[kind])
    host.announce(port="eth1")
    wait_routes(spine, own(host))
    settle()

    assert tables_of(spine) == set(own(host))


def test_an_unanswered_question_is_no_host(lab: Lab) -> None:
    leaf, spine, host = lab["leaf-a1"], lab["spine-a"], lab.host("gpu1")
    start(leaf)
    for address in ("10.0.5.5", "fd00:0:0:1::505"):
        leaf.run(["ping", "-n", "-q", "-c", "1", "-W", "0.05", address], check=False)
        wait_until(lambda: leaf.neighbors(SERVED).get(address, {}).get("state") in (["INCOMPLETE"], ["FAILED"]), SOON)
    host.announce(port="eth1")
    wait_routes(spine, own(host))
    settle()

    assert tables_of(spine) == set(own(host))


def test_only_the_prefixes_of_the_configuration_count_and_not_what_it_excludes(lab: Lab) -> None:
    leaf, spine, host = lab["leaf-a1"], lab["spine-a"], lab.host("gpu1")
    config = planed_config(
        leaf,
        {
            "prefixes": ["10.0.0.0/24", "10.7.0.0/16", "fd00:0:0:1::/112"],
            "exclude": ["10.0.0.128/25", "fd00:0:0:1::99"],
        },
    )
    right = ["10.0.0.11", "10.7.3.3", "fd00:0:0:1::11"]
    wrong = ["10.0.1.1", "10.0.0.200", "fd00:0:0:1::99", "fd00::1:0:0:1:1"]
    start(leaf, config)
    host.announce(wrong, port="eth1")
    host.announce(right, port="eth1")

    wait_routes(spine, prefixes(right))
    settle()
    assert tables_of(spine) == set(prefixes(right))


def test_a_host_of_an_interface_that_is_not_served_is_nobodys_business(lab: Lab) -> None:
    leaf, spine, host = lab["leaf-a1"], lab["spine-a"], lab.host("gpu1")
    leaf.ip_batch(
        [
            "link add Vlan200 type bridge",
            "link set Vlan200 up",
            "addr add 10.20.0.1/16 dev Vlan200",
            "link set swp2 master Vlan200",
            "neigh replace 10.20.0.5 lladdr 02:00:00:00:00:12 dev Vlan200 nud reachable",
        ]
    )
    start(leaf)
    host.announce(port="eth1")

    wait_routes(spine, own(host))
    settle()
    assert tables_of(spine) == set(own(host))
    assert leaf.sysctl("net.ipv4.conf.Vlan200.proxy_arp") == "0"
    assert leaf.sysctl("net.ipv4.conf.Vlan200.arp_accept") == "0"


def test_an_address_that_becomes_wrong_by_the_leafs_own_is_withdrawn(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    start(leaf)
    host.announce(["10.0.0.11", "10.0.3.3"], port="eth1")
    wait_routes(far, ["10.0.0.11/32", "10.0.3.3/32"])

    leaf.run(["ip", "addr", "add", "10.0.3.3/16", "dev", SERVED])

    wait_gone(far, ["10.0.3.3/32"])
    assert far.has_route("10.0.0.11/32")
