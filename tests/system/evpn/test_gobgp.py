# SPDX-License-Identifier: Apache-2.0
"""GoBGP 3.10 as the other leaf of a server, and as the reflector between two leaves.

It treats as withdrawn what has a community of EVPN that it does not know: DF election (each of our types 4) and ARP/ND
(each IPv6 host). It goes on without; so by way of it leaves share IPv4 hosts, and each elects alone."""

import pytest
from gobgp import VNI, Gobgp, shown_esi
from lab import wait_until
from planectl import Ctl
from twins import ADDRESS, AS, SOON, Twins, prefix_of

pytestmark = pytest.mark.one_release

A, B = ADDRESS["leaf-a"], ADDRESS["leaf-b"]
PEER = {"address": B, "remote_as": AS, "hold_time": "9s", "connect_retry": "500ms"}

# Neither answers; the first is asked in vain for six seconds once nobody vouches for it.
GUEST, NEIGHBOR = "10.0.0.77", "10.0.0.88"
GUEST_MAC, NEIGHBOR_MAC = "02:00:00:00:00:77", "02:00:00:00:00:88"

TARGET = {"type": 0, "subtype": 2, "value": "65000:100"}
VXLAN = {"type": 3, "subtype": 12, "tunnel_type": 8}
ALL_ACTIVE = {"type": 6, "subtype": 1, "label": 0, "is_single_active": False}


def _other_leaf(twins: Twins, *, restarts: bool = False, **config: object) -> Gobgp:
    """In leaf-b's place, with a session to leaf-a's planed."""
    gobgp = Gobgp(twins.b, B, [A], restarts=restarts)
    gobgp.start()
    twins.start(twins.a, listen=[], peers=[PEER], **config)
    _wait_established(twins)
    return gobgp


def _wait_established(twins: Twins) -> None:
    def holds() -> bool:
        shown = Ctl(twins.a).run("peers", "-o", "json")
        assert shown.returncode == 0, shown.stderr
        rows = Ctl(twins.a).json("peers")
        assert [row["state"] for row in rows] == ["established"], rows
        return True

    wait_until(holds, SOON, every=0.05, what="the session is not up")


def _name(kind: str, index: int, key: str) -> str:
    return f"[type:{kind}][rd:{A}:{index}]{key}"


def test_gobgp_reads_what_a_leaf_tells(twins: Twins) -> None:
    gobgp = _other_leaf(twins)
    server = twins.server
    server.announce()
    first = shown_esi(1)
    rd = {"type": 1, "admin": A}
    segment_ad = _name("A-D", 0, f"[esi:{first}][etag:4294967295]")
    vrf_ad = _name("A-D", VNI, f"[esi:{first}][etag:0]")
    host = _name("macadv", VNI, f"[etag:0][mac:{server.mac}][ip:{server.v4}]")

    # The third and the fourth are those of the other server.
    wait_until(lambda: host in gobgp.table() and len(gobgp.table()) == 5, SOON, every=0.1, what="not all is told")

    table = gobgp.table()
    assert table[segment_ad] == {
        "route": {"rd": {**rd, "assigned": 0}, "esi": first, "etag": 4294967295, "label": 0},
        "communities": [TARGET, VXLAN, ALL_ACTIVE],
        "next_hop": A,
    }
    assert table[vrf_ad] == {
        "route": {"rd": {**rd, "assigned": VNI}, "esi": first, "etag": 0, "label": VNI},
        "communities": [TARGET, VXLAN],
        "next_hop": A,
    }
    assert table[host] == {
        "route": {
            "rd": {**rd, "assigned": VNI},
            "esi": first,
            "etag": 0,
            "mac": server.mac,
            "ip": server.v4,
            "labels": [0, VNI],
        },
        "communities": [TARGET, VXLAN],
        "next_hop": A,
    }
    # What it does not keep, it names; the session goes on.
    wait_until(lambda: "unknown evpn subtype: 8" in gobgp.log(), SOON, what="IPv6 hosts are taken")
    assert "unknown evpn subtype: 6" in gobgp.log(), "type 4 is taken"
    assert Ctl(twins.a).json("peers")[0]["sessions"] == 1

    server.cut("eth1")
    left = {name.replace(first, shown_esi(2)) for name in (segment_ad, vrf_ad)}
    wait_until(lambda: set(gobgp.table()) == left, SOON, every=0.1, what="the segment is still told")
    gobgp.assert_lives()


def test_hosts_of_gobgp_are_those_of_another_leaf(twins: Twins) -> None:
    # Without graceful restart it ends no table with an End-of-RIB: after `hold` planed no longer waits for it.
    gobgp = _other_leaf(twins, hold="3s")
    server = twins.server
    twins.speaks_by(server, "eth2")

    for number in (1, 2):
        gobgp.tell_segment(number)
    for mac, address, number in (
        (server.mac, server.v4, 1),
        (server.mac, server.v6, 1),
        (GUEST_MAC, GUEST, 1),
        (NEIGHBOR_MAC, NEIGHBOR, 2),
    ):
        gobgp.tell_host(mac, address, number)

    for address in (server.v4, server.v6, GUEST, NEIGHBOR):
        twins.wait_host(twins.a, address, origin="evpn", eligible=True)
        twins.wait_route(twins.a, address)
    entry = twins.a.neighbors("Vlan100")[server.v4]
    assert entry["state"] == ["NOARP"] and "extern_learn" in entry and entry["lladdr"] == server.mac, entry
    chain = Ctl(twins.a).json("explain", server.v4)["chain"]
    assert any(f"leaf {B} knows it" in cause["text"] for cause in chain), chain
    told = {row["type"] for row in Ctl(twins.a).json("evpn-routes", "--peer", B)}
    assert told == {1, 2, 4}, told

    # It says nothing of an election, which is the one of RFC 7432, so that is what both fall back to.
    def fell_back() -> bool:
        rows = [row["vrfs"][0] for row in Ctl(twins.a).json("segments")]
        assert [row["algorithm"] for row in rows] == ["modulus"] * 2, rows
        assert all(row["fell_back"] and row["forwarder"] == A for row in rows), rows
        return True

    wait_until(fell_back, SOON, every=0.1, what="no election with GoBGP")

    # One by one, and all behind a segment at once; nobody but the leaf's neighbour had heard them.
    gobgp.say("del", "macadv", *gobgp.host(GUEST_MAC, GUEST, 1))
    gobgp.say("del", "a-d", *gobgp.segment_ad(2))
    twins.wait_no_route(twins.a, GUEST, NEIGHBOR)
    assert twins.a.has_route(prefix_of(server.v4)) and twins.a.has_route(prefix_of(server.v6))
    assert twins.host(twins.a, server.v4) is not None
    gobgp.assert_lives()


def test_gobgp_that_is_killed_takes_nothing_along(twins: Twins) -> None:
    gobgp = _other_leaf(twins, restarts=True)
    server = twins.server
    twins.speaks_by(server, "eth2")
    gobgp.tell_segment(1)
    for address in (server.v4, server.v6):
        gobgp.tell_host(server.mac, address, 1)
    twins.wait_route(twins.a, server.v4, server.v6)

    gobgp.kill()
    twins.a.planed.wait_log(rf"bgp\.peer\.down .*peer={B} reason=lost routes=4")
    twins.assert_stays(twins.a, server, 1)
    assert all(row["stale"] for row in Ctl(twins.a).json("evpn-routes"))
    # It comes back with an empty table, and says that it is whole.
    gobgp.start()
    twins.wait_up(twins.a)
    gobgp.tell_segment(1)
    for address in (server.v4, server.v6):
        gobgp.tell_host(server.mac, address, 1)
    for address in (server.v4, server.v6):  # Being asked already, it would be PROBE.
        twins.wait_host(twins.a, address, origin="evpn", state="NOARP", eligible=True)
    twins.assert_stays(twins.a, server, 1)
    assert not any(row["stale"] for row in Ctl(twins.a).json("evpn-routes"))


def test_reflector_of_gobgp_joins_leaves_for_ipv4(twins: Twins) -> None:
    server = twins.server
    twins.reflector.kill_daemon("bgpd")
    gobgp = Gobgp(twins.reflector, "10.67.1.9", ["10.67.1.1", "10.67.2.2"], reflects=True, restarts=True)
    gobgp.start()
    twins.speaks_by(server, "eth1")
    twins.start_both(reflected=True)
    server.announce()

    twins.wait_synced([server.v4])

    row = twins.wait_host(twins.b, server.v4, origin="evpn")
    assert row["mac"] == server.mac, row
    rows = Ctl(twins.b).json("evpn-routes")
    assert {row["type"] for row in rows} == {1, 2} and {row["next_hop"] for row in rows} == {A}, rows
    assert twins.host(twins.b, server.v6) is None, "IPv6 hosts get by: this file's first lines, and the README, say no"

    gobgp.kill()
    gobgp.start()
    for leaf in twins.leaves:
        twins.wait_up(leaf)
    twins.wait_synced([server.v4])
    server.cut("eth1")
    twins.speaks_by(server, "eth2")
    twins.wait_no_route(twins.a, server.v4)
    twins.wait_host(twins.b, server.v4, origin="kernel", eligible=True)
    gobgp.assert_lives()
