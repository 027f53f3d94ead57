# SPDX-License-Identifier: Apache-2.0
"""A server is bonded to two leaves that share its Ethernet segment: what one of them hears, both announce. A living host
is never withdrawn, whichever leaf, link or session fails; a dead one does not stay."""

import json
import time

import pytest
from lab import wait_until
from planectl import Ctl
from twins import ADDRESS, AUX, SOON, Twins, prefix_of

pytestmark = pytest.mark.one_release

# How long a host may stay that nobody hears any more: asked three times by unicast and three times by broadcast.
ASKED = 6.0

SEGMENT = "esi port up announced role forwarder local_hosts synced_hosts algorithm preference vrfs"


def test_server_that_speaks_to_one_leaf_has_its_routes_in_both_planes(twins: Twins) -> None:
    server = twins.server

    twins.share(server)

    row = twins.host(twins.b, server.v4)
    assert row is not None
    assert (row["state"], row["port"], row["mac"]) == ("NOARP", "swp1", server.mac)
    entry = twins.b.neighbors("Vlan100")[server.v4]
    assert entry["state"] == ["NOARP"] and "extern_learn" in entry, entry
    # What leaf-b sends it goes by its port alone, though nothing that it says comes in there.
    fdb = [e for e in twins.b.json(["bridge", "-j", "fdb", "show", "dev", "swp1"]) if e["mac"] == server.mac]
    assert ["extern_learn"] in [entry["flags"] for entry in fdb], fdb
    assert twins.a.ping(server.v4)
    explained = Ctl(twins.b).json("explain", server.v4)
    assert any(f"leaf {ADDRESS['leaf-a']} knows it" in cause["text"] for cause in explained["chain"]), explained


def test_host_that_both_leaves_hear_is_each_ones_own(twins: Twins) -> None:
    twins.start_both()

    twins.server.announce()

    for leaf in twins.leaves:
        twins.wait_route(leaf, twins.server.v4, twins.server.v6)
        row = twins.host(leaf, twins.server.v4)
        assert row is not None and row["origin"] != "evpn", row
        rows = Ctl(leaf).json("evpn-routes", "--type", "2")
        assert twins.server.v4 in [route["ip"] for route in rows], rows


def test_server_whose_port_dies_stays_in_the_other_plane(twins: Twins) -> None:
    server = twins.server
    twins.share(server)

    server.cut("eth1")
    twins.speaks_by(server, "eth2")  # Its bond uses the port that is left.
    twins.assert_stays(twins.b, server, ASKED + 4)
    twins.wait_no_route(twins.a, server.v4, server.v6)

    row = twins.wait_host(twins.b, server.v4, eligible=True)
    assert row["origin"] != "evpn" and row["answers"] == "both", row


def test_host_that_dies_is_gone_from_both_planes(twins: Twins) -> None:
    server = twins.server
    twins.share(server, refresh="5s")

    server.link("bond0", up=False)  # Its ports still have carrier.

    for leaf in twins.leaves:
        twins.wait_no_route(leaf, "10.0.0.11", "fd00:0:0:1::11", deadline=5 + 2 * ASKED + SOON)


def test_watch_tells_what_becomes_of_segments(twins: Twins) -> None:
    twins.start_both()
    wait_until(
        lambda: [row["role"] for row in Ctl(twins.a).json("segments")] == ["df", "df"], SOON, every=0.05, what="elected"
    )
    watcher = Ctl(twins.a).watch("segments")
    assert watcher.stdout is not None
    assert json.loads(watcher.stdout.readline())["kind"] == "sync"

    twins.server.cut("eth1")

    event = json.loads(watcher.stdout.readline())
    while event["up"] or event["role"] != "down":
        event = json.loads(watcher.stdout.readline())
    assert (event["kind"], event["port"], event["gone"]) == ("segment", "swp1", False), event
    watcher.kill()
    watcher.communicate()


def test_leaf_that_is_killed_takes_nothing_along(twins: Twins) -> None:
    server = twins.server
    twins.share(server)

    twins.a.planed.kill()
    twins.assert_stays(twins.b, server, 2)
    twins.a.planed.start()
    twins.wait_up(twins.a)
    twins.assert_stays(twins.b, server, ASKED + 4)

    twins.wait_synced([server.v4, server.v6])


def test_leaf_that_comes_back_still_knows_what_its_twin_has_told(twins: Twins) -> None:
    server = twins.server
    twins.share(server)

    twins.b.planed.kill()
    twins.b.planed.start()
    twins.assert_stays(twins.b, server, ASKED + 4)

    twins.wait_synced([server.v4, server.v6])


def test_host_that_moves_to_another_server_is_sent_there_by_the_leaf_that_does_not_hear_it(twins: Twins) -> None:
    server, other = twins.server, twins.other
    twins.share(server, refresh="5s")
    address, mac = server.v4, server.mac
    server.run(["ip", "addr", "flush", "dev", "bond0", "scope", "global"])  # Its port stays up, and nobody answers there.

    other.run(["ip", "addr", "flush", "dev", "bond0", "scope", "global"])
    other.run(["ip", "link", "set", "bond0", "address", mac])
    twins.speaks_by(other, "eth2")
    other.run(["ip", "addr", "add", f"{address}/16", "dev", "bond0"])
    other.announce([address])

    # leaf-a asks it when it is due to, in vain, and then believes leaf-b.
    twins.wait_host(twins.b, address, port="swp2", origin="kernel", eligible=True)
    twins.wait_host(twins.a, address, deadline=5 + ASKED + SOON, port="swp2", origin="evpn", eligible=True)
    fdb = [e["ifname"] for e in twins.a.json(["bridge", "-j", "fdb", "show", "br", "Vlan100"]) if e["mac"] == mac]
    assert fdb == ["swp2"], fdb
    assert twins.a.has_route(prefix_of(address))


def test_link_between_the_leaves_that_is_cut_costs_no_living_host(twins: Twins) -> None:
    server, silent = twins.server, twins.other
    for host in (server, silent):
        twins.speaks_by(host, "eth1")
    twins.start_both(hold="5s")
    for host in (server, silent):
        host.announce()
        twins.wait_synced([host.v4])
    twins.speaks_by(server, "eth2")  # It would answer leaf-b, were it asked.

    twins.a.link(AUX, up=False)
    # The hold timer of the session, and the time that the peer's word outlives it.
    time.sleep(9)
    assert twins.b.has_route(prefix_of(server.v4)) and twins.b.has_route(prefix_of(silent.v4))

    twins.wait_host(twins.b, server.v4, deadline=5 + ASKED + SOON, origin="kernel", eligible=True)
    # Who answers leaf-a alone is dead to leaf-b, which knows nobody who would say otherwise.
    twins.wait_no_route(twins.b, silent.v4, deadline=5 + ASKED + SOON)
    assert twins.a.has_route(prefix_of(silent.v4))
    assert twins.b.has_route(prefix_of(server.v4))

    twins.a.link(AUX, up=True)
    twins.wait_host(twins.b, silent.v4, origin="evpn", eligible=True)
    twins.wait_route(twins.b, silent.v4)


def test_segment_that_leaves_the_configuration_takes_its_hosts_along(twins: Twins) -> None:
    server = twins.server
    twins.share(server)

    twins.reload(twins.b, segments=[twins.segment(twins.b, 2)])

    twins.wait_no_route(twins.b, server.v4)
    twins.reload(twins.b)
    twins.wait_synced([server.v4])


def test_both_leaves_agree_on_the_forwarder(twins: Twins) -> None:
    twins.start_both()
    for row in Ctl(twins.a).json("segments"):
        assert " ".join(row) == SEGMENT
        assert " ".join(row["vrfs"][0]) == "vrf vni role forwarder backup algorithm fell_back leaves"

    def agreed() -> bool:
        for leaf, role in ((twins.a, "df"), (twins.b, "backup")):
            rows = Ctl(leaf).json("segments")
            assert [row["esi"] for row in rows] == ["03:44:38:39:ff:ff:01:00:00:01", "03:44:38:39:ff:ff:01:00:00:02"]
            for row in rows:
                assert [vrf["role"] for vrf in row["vrfs"]] == [role], row
                assert row["vrfs"][0]["forwarder"] == ADDRESS["leaf-a"], row
        return True

    wait_until(agreed, SOON, every=0.1, what="no agreement on the designated forwarder")
    twins.a.link("swp1", up=False)

    def taken_over() -> bool:
        row = Ctl(twins.b).json("segments")[0]
        assert row["vrfs"][0]["role"] == "df", row
        return True

    wait_until(taken_over, SOON, every=0.1, what="leaf-b has not taken over")
