# SPDX-License-Identifier: Apache-2.0
"""Wireshark finds no fault with what leaves say, and reads in it what they mean."""

import dataclasses

import pytest
from dissect import NOTIFICATION, OPEN, UPDATE, Capture, Message, Route
from lab import wait_until
from planectl import Ctl
from twins import ADDRESS, AS, AUX, SOON, Twins

pytestmark = pytest.mark.one_release

A, B = ADDRESS["leaf-a"], ADDRESS["leaf-b"]
ESI = "03:44:38:39:ff:ff:01:00:00:0"
WHOLE_SEGMENT = 0xFFFFFFFF

VXLAN, TARGET = "Encapsulation: VXLAN Encapsulation", "Route Target: 65000:100"
STATIC, STATIC_MAC = "10.0.0.50", "02:00:00:00:00:50"
MOVING, MOVING_MAC = "10.0.0.99", "02:00:00:00:00:99"


def _message_with(messages: list[Message], source: str, route: Route) -> Message:
    """The first in which this leaf tells this route."""
    told = [message for message in messages if message.source == source and route in message.reach]
    assert told, f"{source} does not tell {route} but {[r for m in messages if m.source == source for r in m.reach]}"
    return told[0]


def _communities(messages: list[Message], source: str, route: Route) -> list[str]:
    return list(_message_with(messages, source, route).communities)


def _wait_number(twins: Twins) -> None:
    """A leaf says that the MAC has moved."""

    def holds() -> bool:
        rows = Ctl(twins.a).json("evpn-routes", "--type", "2")
        assert any(row["mac"] == MOVING_MAC and "mobility:" in " ".join(row["communities"]) for row in rows), rows
        return True

    wait_until(holds, SOON, every=0.1, what="the move has no number")


def _wait_segment_gone(twins: Twins) -> None:
    def gone() -> bool:
        rows = Ctl(twins.b).json("evpn-routes", "--type", "1")
        assert {row["esi"] for row in rows} == {f"{ESI}2"}, rows
        return True

    wait_until(gone, SOON, every=0.1, what="the segment is still told")


def test_wireshark_reads_what_leaves_mean(twins: Twins) -> None:
    server, other = twins.server, twins.other
    config = twins.config(twins.a)
    config["interfaces"][0]["hosts"] = [{"address": STATIC, "mac": STATIC_MAC, "port": "swp2"}]
    classic = {"vrf": "default", "vni": 100, "route_targets": [f"{AS}:100"], "profile": "classic"}
    twins.speaks_by(server, "eth1")
    twins.speaks_by(other, "eth2")

    with Capture(twins.a, AUX) as capture:
        twins.a.start_planed(config)
        twins.start(twins.b, vrfs=[classic])
        for leaf in twins.leaves:
            twins.wait_up(leaf)
        server.announce()
        other.announce()
        twins.wait_synced([server.v4, server.v6])
        twins.wait_host(twins.a, other.v4, origin="evpn")
        server.announce([MOVING], mac=MOVING_MAC, port="eth1")
        twins.wait_host(twins.b, MOVING, origin="evpn")
        other.announce([MOVING], mac=MOVING_MAC, port="eth2")
        _wait_number(twins)
        server.cut("eth1")
        _wait_segment_gone(twins)
    messages = capture.messages()

    _check_opens([message for message in messages if message.type == OPEN])
    assert not any(message.type == NOTIFICATION for message in messages)
    for leaf, preference in ((A, 200), (B, 100)):
        _check_segments(messages, leaf, preference)
    _check_hosts_of_l3(messages, server.mac, server.v4, server.v6)
    _check_hosts_of_classic(messages, other.mac, other.v4, other.v6)
    _check_withdrawal(messages, server.mac, server.v4, server.v6)


def _check_opens(opens: list[Message]) -> None:
    assert {message.source for message in opens} == {A, B}
    for message in opens:
        fields = {name: values[0] for name, values in message.shown.items()}
        assert (fields["bgp.open.version"], fields["bgp.open.myas"], fields["bgp.open.holdtime"]) == ("4", f"{AS}", "9")
        assert fields["bgp.open.identifier"] == message.source
        # Multiprotocol, route refresh, four-octet AS, extended messages, graceful restart.
        assert message.shown["bgp.cap.type"] == ["1", "2", "65", "6", "64"]
        assert (fields["bgp.cap.mp.afi"], fields["bgp.cap.mp.safi"]) == ("25", "70")
        assert fields["bgp.cap.4as"] == f"{AS}"


def _check_segments(messages: list[Message], leaf: str, preference: int) -> None:
    for number in (1, 2):
        esi = f"{ESI}{number}"
        segment = Route(4, f"{leaf}:0", esi, ip=leaf)
        election = f"DF Election: 0x0200 0x0000 0x{preference:04x}"  # Wireshark has no words for it.
        assert _communities(messages, leaf, segment) == [VXLAN, "ES Import: RT: 44:38:39:ff:ff:01", election]
        whole = Route(1, f"{leaf}:0", esi, tag=WHOLE_SEGMENT, labels=(0,))
        label = "ESI MPLS Label: All-Active redundancy, Label: 0"
        assert _communities(messages, leaf, whole) == [TARGET, VXLAN, label]
        vrf = Route(1, f"{leaf}:100", esi, labels=(100,))
        assert _communities(messages, leaf, vrf) == [TARGET, VXLAN]
    told = [message for message in messages if message.source == leaf and message.reach]
    for message in told:
        assert message.shown["bgp.update.path_attribute.mp_reach_nlri.next_hop.ipv4"] == [leaf]
        assert message.shown["bgp.update.path_attribute.local_pref"] == ["100"]
        codes = [int(code) for code in message.shown["bgp.update.path_attribute.type_code"]]
        assert codes == [14, 1, 2, 5, 16], "RFC 7606: what is reached comes first"


def _check_hosts_of_l3(messages: list[Message], mac: str, v4: str, v6: str) -> None:
    """Label1 is 0, label2 the VNI; the bridge has no VLAN to be a tag. The router's flag is not set, but override is."""
    host = Route(2, f"{A}:100", f"{ESI}1", mac=mac, ip=v4, labels=(0, 100))
    assert _communities(messages, A, host) == [TARGET, VXLAN]
    assert _communities(messages, A, dataclasses.replace(host, ip=v6)) == [TARGET, VXLAN, "ND: 0x0200 0x0000 0x0000"]
    static = Route(2, f"{A}:100", f"{ESI}2", mac=STATIC_MAC, ip=STATIC, labels=(0, 100))
    assert _communities(messages, A, static) == [TARGET, VXLAN, "MAC Mobility: Sticky MAC"]


def _check_hosts_of_classic(messages: list[Message], mac: str, v4: str, v6: str) -> None:
    host = Route(2, f"{B}:100", f"{ESI}2", mac=mac, ip=v4, labels=(100,))
    assert _communities(messages, B, dataclasses.replace(host, ip="")) == [TARGET, VXLAN]
    assert _communities(messages, B, host) == [TARGET, VXLAN]
    assert _communities(messages, B, dataclasses.replace(host, ip=v6)) == [TARGET, VXLAN, "ND: 0x0200 0x0000 0x0000"]
    moved = Route(2, f"{B}:100", f"{ESI}2", mac=MOVING_MAC, ip=MOVING, labels=(100,))
    mobility = _message_with(messages, B, moved).communities["MAC Mobility: Movable MAC"]
    assert mobility["bgp.ext_com_evpn.mmac.seq"] == "1", mobility


def _check_withdrawal(messages: list[Message], mac: str, v4: str, v6: str) -> None:
    """The segment and who is behind it go in one message, the segment first; what a host's key is not is zero."""
    gone = [message.unreach for message in messages if message.source == A and message.unreach]
    nothing = ":".join(["00"] * 10)
    host = Route(2, f"{A}:100", nothing, mac=mac, ip=v4, labels=(0,))
    assert gone[0][:3] == [
        Route(4, f"{A}:0", f"{ESI}1", ip=A),
        Route(1, f"{A}:0", f"{ESI}1", tag=WHOLE_SEGMENT, labels=(0,)),
        Route(1, f"{A}:100", f"{ESI}1", labels=(0,)),
    ]
    assert {host, dataclasses.replace(host, ip=v6)} <= set(gone[0][3:]), gone
    assert all(message.type == UPDATE for message in messages if message.unreach)
