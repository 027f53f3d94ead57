# SPDX-License-Identifier: Apache-2.0
"""The main job: a host that speaks is a route of the far leaf in both planes, and its port's end is its route's end."""

import pytest
from lab import Lab, Node, wait_until
from lab import zapi_client as zapi
from scene import (
    SERVED,
    SOON,
    announce,
    assert_silent,
    guests,
    own,
    planed_config,
    prefix,
    prefixes_of,
    settle,
    start,
    start_everywhere,
    table_versions,
    tables_of,
    wait_gone,
    wait_routes,
)

PLANES = {"a": "eth1", "b": "eth2"}
NEAR = {"gpu1": 1, "gpu2": 1, "gpu3": 2, "gpu4": 2}

# What a loaded machine and an instrumented build may add to FRR's own floor.
LITTLE = 0.4


def test_each_host_is_a_route_of_the_far_leaf_in_both_planes(lab: Lab) -> None:
    start_everywhere(lab)
    for host in lab.hosts():
        host.announce()

    for plane in PLANES:
        for host in lab.hosts():
            far = lab[f"leaf-{plane}{3 - NEAR[host.name]}"]
            wait_routes(far, own(host))
            for route in own(host):
                (path,) = far.bgp(route)
                assert path["aspath"]["length"] == 2, "from the near leaf by the spine"


def test_only_host_routes_are_advertised(lab: Lab) -> None:
    start_everywhere(lab)
    for host in lab.hosts():
        host.announce()
    everybody = {route for host in lab.hosts() for route in own(host)}

    for plane in PLANES:
        wait_routes(lab.spine(plane), everybody)
        assert tables_of(lab.spine(plane)) == everybody


def test_what_only_one_plane_hears_never_shows_in_the_other(lab: Lab) -> None:
    start_everywhere(lab)
    crowd = guests(8)
    with lab.watch("spine-b") as spine, lab.watch("leaf-b2") as leaf:
        announce(lab.host("gpu1"), crowd, port="eth1")
        wait_routes(lab["leaf-a2"], prefixes_of(crowd))
        lab.host("gpu1").cut("eth1")
        wait_gone(lab["leaf-a2"], prefixes_of(crowd))
        settle(0.3)

    spine.assert_silent()
    leaf.assert_silent()


@pytest.mark.parametrize("plane", PLANES)
def test_hosts_of_two_leaves_ping_each_other_through_either_plane(lab: Lab, plane: str) -> None:
    start_everywhere(lab)
    one, other = lab.host("gpu1"), lab.host("gpu3")
    for host in (one, other):
        for port in PLANES.values():
            if port != PLANES[plane]:
                host.cut(port)
        host.announce()
    wait_routes(lab[f"leaf-{plane}2"], own(one))
    wait_routes(lab[f"leaf-{plane}1"], own(other))

    one.ping_until(other.v4, SOON)
    other.ping_until(one.v4, SOON)


def test_a_cut_port_withdraws_in_its_plane_only(lab: Lab) -> None:
    start_everywhere(lab)
    host = lab.host("gpu1")
    for each in lab.hosts():
        each.announce()
    for plane in PLANES:
        for name in NEAR:
            wait_routes(lab.spine(plane), own(lab.host(name)))
            wait_routes(lab[f"leaf-{plane}2"], own(host))
    other_plane = [lab["leaf-b1"], lab["leaf-b2"], lab.spine("b")]
    before = [table_versions(node) for node in other_plane]

    with lab.watch("spine-b") as untouched, lab.watch("spine-a") as spine:
        host.cut("eth1")
        wait_gone(lab["leaf-a2"], own(host))
        settle(0.3)

    untouched.assert_silent()
    assert [table_versions(node) for node in other_plane] == before
    assert {c.prefix for c in spine.changes} == set(own(host)), "nobody else's route was touched in plane a either"


def test_a_cut_port_is_out_of_the_far_leaf_about_as_soon_as_frr_can(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    floor = max(floor_of(leaf, far) for _ in range(3))
    start(leaf)
    host.announce(port="eth1")
    wait_routes(far, own(host))

    host.cut("eth1")
    took = wait_until(lambda: not far.has_route(prefix(host.v4)) and not far.has_route(prefix(host.v6)), SOON, every=0.01)

    assert took <= floor + LITTLE


def floor_of(leaf: Node, far: Node) -> float:
    """Seconds from a bare client's DELETE to the far leaf's kernel: what FRR takes by itself."""
    route = "10.0.99.99/32"
    with zapi.ZapiClient.connect(leaf.zserv) as client:
        client.add(route, leaf.ifindex(SERVED))
        wait_until(lambda: far.has_route(route), SOON)
        client.delete(route)
        took = wait_until(lambda: not far.has_route(route), SOON, every=0.01)
    return took


def test_a_port_that_returns_brings_the_host_back_when_it_is_heard(lab: Lab) -> None:
    start_everywhere(lab)
    host, far = lab.host("gpu1"), lab["leaf-a2"]
    host.announce()
    wait_routes(far, own(host))
    host.cut("eth1")
    wait_gone(far, own(host))

    host.restore("eth1")
    host.announce(port="eth1")

    wait_routes(far, own(host))


def test_a_port_that_returns_brings_a_host_back_that_only_answers(lab: Lab) -> None:
    start(lab["leaf-a1"])
    host, far = lab.host("gpu1"), lab["leaf-a2"]
    host.announce(port="eth1")
    wait_routes(far, own(host))
    host.cut("eth1")
    wait_gone(far, own(host))

    host.restore("eth1")

    wait_routes(far, own(host))


def test_a_port_that_returns_without_its_host_brings_nothing_back(lab: Lab) -> None:
    start(lab["leaf-a1"])
    host, far = lab.host("gpu1"), lab["leaf-a2"]
    crowd = guests(4)
    host.announce(port="eth1")
    announce(host, crowd)
    routes = own(host) + prefixes_of(crowd)
    wait_routes(far, routes)
    host.cut("eth1")
    wait_gone(far, routes)
    host.link("bond0", up=False)

    with lab.watch("leaf-a1") as leaf, lab.watch("leaf-a2") as watched:
        host.restore("eth1")
        settle(4)

    assert_silent(leaf, routes)
    assert_silent(watched, routes)


@pytest.mark.alone
def test_all_hosts_of_a_cut_port_go_at_once(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    crowd = guests(128)
    routes = prefixes_of(crowd)
    neighbour = lab.host("gpu2")
    start(leaf)
    announce(host, crowd)
    neighbour.announce(port="eth1")
    wait_routes(far, routes + own(neighbour))

    with lab.watch("leaf-a1") as watch:
        host.cut("eth1")
        wait_gone(leaf, routes)
    removals = [change.at for change in watch.changes if change.source == "fib" and change.kind == "remove"]

    assert len(removals) == len(routes), "each one left once, and no other did"
    assert max(removals) - min(removals) < 0.25, "zebra got them in one piece"
    wait_gone(far, routes)
    assert far.has_route(prefix(neighbour.v4)) and far.has_route(prefix(neighbour.v6))


def test_two_addresses_of_one_mac_are_two_hosts_with_one_port(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    pair = ["10.0.1.1", "10.0.1.2"]
    host.add_addresses(pair)
    start(leaf)
    host.announce(pair, port="eth1")
    wait_routes(far, [prefix(address) for address in pair])

    leaf.run(["ip", "neigh", "del", pair[0], "dev", SERVED])
    wait_gone(far, [prefix(pair[0])])
    assert far.has_route(prefix(pair[1])), "the other one lives on"

    host.announce(pair, port="eth1")
    wait_routes(far, [prefix(address) for address in pair])
    host.cut("eth1")
    wait_gone(far, [prefix(address) for address in pair])


def test_a_host_goes_with_its_port_though_its_forwarding_entry_has_aged(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    crowd = guests(3)
    start(leaf)
    announce(host, crowd)
    wait_routes(far, prefixes_of(crowd))
    forget_forwarding_entries(leaf, [guest.mac for guest in crowd])

    with lab.watch("leaf-a2") as watch:
        settle()
    watch.assert_never_left(prefixes_of(crowd))
    host.cut("eth1")

    wait_gone(far, prefixes_of(crowd))


def forget_forwarding_entries(leaf: Node, macs: list[str]) -> None:
    for mac in macs:
        leaf.run(["bridge", "fdb", "del", mac, "dev", "swp1", "master"])


def test_a_silent_host_of_which_no_port_is_known_is_kept_when_it_answers(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    host.announce(port="eth1")
    leaf.run(["ip", "neigh", "replace", host.v4, "lladdr", host.mac, "dev", SERVED, "nud", "stale"])
    leaf.run(["ip", "neigh", "replace", host.v6, "lladdr", host.mac, "dev", SERVED, "nud", "stale"])
    leaf.run(["bridge", "fdb", "del", host.mac, "dev", "swp1", "master"])

    with lab.watch("leaf-a2") as watch:
        start(leaf, planed_config(leaf))
        wait_routes(far, own(host))
        wait_until(lambda: host.mac in leaf.run(["bridge", "fdb", "show", "br", SERVED]).stdout, SOON)
        settle()
    watch.assert_never_left(own(host))
