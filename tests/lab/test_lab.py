# SPDX-License-Identifier: Apache-2.0
"""What of the lab can be tested without a lab: the topology file's rules, and the bytes that it sends and reads."""

import ipaddress
from pathlib import Path

import pytest

from . import frames, topology, watch
from . import zapi_client as zapi
from .errors import LabError

DUAL_PLANE = Path(__file__).resolve().parent.parent / "containerlab/dual-plane.clab.yaml"
SMALL = """
name: small
topology:
  defaults: {kind: linux, sysctls: {net.ipv4.ip_forward: 0}}
  groups:
    leaf: {image: some-frr, sysctls: {net.ipv4.ip_forward: 1}, env: {A: group}}
  nodes:
    one: {group: leaf, env: {B: node}, exec: ["echo __clabNodeName__"]}
    two: {}
  links:
    - endpoints: ["one:eth1", "two:eth1"]
    - {type: veth, mtu: 1500, endpoints: [{node: one, interface: eth2, mac: "02:00:00:00:00:01"}, {node: two, interface: eth2}]}
"""


def _load(folder: Path, text: str) -> topology.Topology:
    file = folder / "lab.clab.yaml"
    file.write_text(text, encoding="utf-8")
    return topology.load(file)


def test_dual_plane_file_is_the_fabric_of_the_contract() -> None:
    fabric = topology.load(DUAL_PLANE)

    assert list(fabric.nodes) == [
        *("spine-a", "spine-b", "leaf-a1", "leaf-a2", "leaf-b1", "leaf-b2"),
        *("gpu1", "gpu2", "gpu3", "gpu4"),
    ]
    between_planes = [
        link for link in fabric.links if {end.node.split("-")[-1][0] for end in link.ends} == {"a", "b"}
    ]
    assert not between_planes


def test_node_inherits_from_group_and_defaults(tmp_path: Path) -> None:
    one = _load(tmp_path, SMALL).nodes["one"]

    assert one == topology.NodeSpec(
        name="one",
        kind="linux",
        image="some-frr",
        hostname="one",
        group="leaf",
        env={"A": "group", "B": "node"},
        sysctls={"net.ipv4.ip_forward": "1"},
        exec=("echo one",),
    )
    assert one.runs_frr


def test_long_link_keeps_mac_and_mtu(tmp_path: Path) -> None:
    short, long = _load(tmp_path, SMALL).links

    assert short.mtu == 9500
    assert long.mtu == 1500
    assert long.ends[0].mac == "02:00:00:00:00:01"


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("name: small", "nome: small", "nome"),
        ("kind: linux", "kind: ceos", "topology.nodes.one.kind"),
        ("two: {}", "two: {entrypoint: x}", "topology.nodes.two.entrypoint"),
        ("two: {}", "two: {network-mode: bridge}", "topology.nodes.two.network-mode"),
        ("two: {}", "two: {group: spine}", "topology.nodes.two.group"),
        ("two: {}", "two: {binds: ['nowhere:/etc/x']}", "topology.nodes.two.binds"),
        ("two: {}", "two: {stages: {create: {exec: []}}}", "topology.nodes.two.stages.create.exec"),
        ("two: {}", "two: {stages: {create: {wait-for: [{node: three, stage: create}]}}}", "three"),
        ("type: veth", "type: vxlan", "topology.links[1].type"),
        ("mtu: 1500", "ipv4: 10.0.0.1", "topology.links[1].ipv4"),
        ("two:eth1", "three:eth1", "three"),
        ("two:eth1", "one:eth1", "one:eth1"),
    ],
)
def test_what_cannot_be_shown_is_an_error_that_names_it(tmp_path: Path, old: str, new: str, named: str) -> None:
    assert old in SMALL
    with pytest.raises(LabError, match=named.replace("[", r"\[").replace(".", r"\.")):
        _load(tmp_path, SMALL.replace(old, new, 1))


def test_arp_announcement_says_sender_and_target_alike() -> None:
    frame = frames.announcement(ipaddress.ip_address("10.0.0.7"), "02:00:00:00:00:07")

    assert frame.hex() == (
        "ffffffffffff0200000000070806" "0001080006040001" "0200000000070a000007" "0000000000000a000007" + "00" * 18
    )


def test_neighbor_advertisement_has_a_checksum_that_holds() -> None:
    frame = frames.announcement(ipaddress.ip_address("fd00:0:0:1::7"), "02:00:00:00:00:07")

    header, body = frame[14:54], frame[54:]
    pseudo = header[8:40] + len(body).to_bytes(4, "big") + (58).to_bytes(4, "big")
    words = [int.from_bytes((pseudo + body)[i : i + 2], "big") for i in range(0, len(pseudo + body), 2)]
    total = sum(words)
    assert (total & 0xFFFF) + (total >> 16) == 0xFFFF
    assert header[7] == 255


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (zapi.hello(zapi.FAMILIES["A"]), "0013fe060000000000121600000000000001" + "00"),
        (zapi.hello(zapi.FAMILIES["D"]), "0012fe060000000000131700000000000000"),
        (
            zapi.route_add(zapi.FAMILIES["A"], "10.0.0.7/32", ifindex=3, distance=5, tag=7),
            "002dfe06000000000008160000000000000000000b0102200a0000070001000000000100000000030500000007",
        ),
        (
            zapi.route_delete(zapi.FAMILIES["D"], "2001:db8:a::7/128"),
            "0028fe0600000000000a17" + "0000" + "00000000" + "00000000" + "010a80" + "20010db8000a00000000000000000007",
        ),
    ],
)
def test_zapi_bytes_are_what_zebra_took(message: bytes, expected: str) -> None:
    assert message.hex() == expected


def test_route_notification_is_read_whole() -> None:
    rtmsg = bytes([2, 32, 0, 0, 254, 186, 0, 1, 0, 0, 0, 0])
    attribute = bytes.fromhex("08000100" + "0a000007")
    length = 16 + len(rtmsg) + len(attribute)
    message = length.to_bytes(4, "little") + (25).to_bytes(2, "little") + bytes(10) + rtmsg + attribute

    assert watch._route_changes(message, 1.0) == [
        watch.Change(at=1.0, source="fib", kind="remove", prefix="10.0.0.7/32")
    ]
