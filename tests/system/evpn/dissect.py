# SPDX-License-Identifier: Apache-2.0
"""What goes over a BGP session, as Wireshark reads it."""

import itertools
import re
import signal
import struct
import subprocess
import xml.etree.ElementTree as xml
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lab import LabError, Node, wait_until

_BGP_PORT = 179
_WARNING = 0x00600000  # Wireshark's severities: chat, note, warning, error, each with its bit.
OPEN, UPDATE, NOTIFICATION = 1, 2, 3
_numbers = itertools.count()
_LABELS = [f"bgp.evpn.nlri.{name}" for name in ("vni", "mpls_ls1", "mpls_ls2")]


@dataclass(frozen=True)
class Route:
    type: int
    rd: str
    esi: str = ""
    tag: int = 0
    mac: str = ""
    ip: str = ""  # Of type 4 the originator.
    labels: tuple[int, ...] = ()


@dataclass
class Message:
    source: str
    type: int
    shown: dict[str, list[str]]  # Field → what is shown of it, all that have this name.
    reach: list[Route] = field(default_factory=list)
    unreach: list[Route] = field(default_factory=list)
    communities: dict[str, dict[str, str]] = field(default_factory=dict)  # "ES Import: RT: 44:38:39:ff:ff:01" → its fields


class Capture:
    """From start to end, with `with`; then it can be read."""

    def __init__(self, node: Node, interface: str) -> None:
        self._node = node
        self._interface = interface
        self._file: Path = node.path(f"/run/{interface}-{next(_numbers)}.pcap")

    def __enter__(self) -> "Capture":
        # Each packet is written as it comes: none is in a buffer when tcpdump is told to end.
        how = ["-U", "--immediate-mode", "-B", "16384", "-Z", "root"]
        command = ["tcpdump", "-i", self._interface, *how, "-w", f"/run/{self._file.name}"]
        said = self._file.with_suffix(".log")
        with said.open("w", encoding="utf-8") as log:
            self._process = self._node.popen(
                [*command, "tcp", "port", str(_BGP_PORT)], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        wait_until(lambda: "listening on" in said.read_text(encoding="utf-8"), 10, what="tcpdump does not listen")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait(10)

    def messages(self) -> list[Message]:
        """All that was seen so far. Raises where Wireshark finds fault."""
        packets = xml.fromstring(self._run("-T", "pdml", "-Y", "bgp"))
        messages = []
        for packet in packets:
            source = next(f.get("show", "") for f in packet.iter("field") if f.get("name") == "ip.src")
            for part in packet:
                _raise_if_faulty(part)
                if part.get("name") == "bgp":
                    messages.append(_message(source, part))
        return messages

    def octets(self, source: str) -> list[bytes]:
        """The messages that this one has sent, whole: Wireshark 4.0 does not read those of more than 4096 octets."""
        lines = self._run("-q", "-z", "follow,tcp,raw,0").splitlines()
        first = next(line for line in lines if line.startswith("Node 0: ")).split()[2].rpartition(":")[0]
        # What node 1 has sent is behind a tabulator.
        data = [line for line in lines if re.fullmatch(r"\t?[0-9a-f]+", line) and (line[0] == "\t") == (source != first)]
        return list(_split(bytes.fromhex("".join(data).replace("\t", ""))))

    def _run(self, *words: str) -> str:
        # Names of vendors and of machines are not looked up: what is sent is shown.
        done = subprocess.run(
            ["tshark", "-n", "-r", str(self._file), *words], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise LabError(f"tshark {' '.join(words)}: exit {done.returncode}: {done.stderr}")
        return done.stdout


def _split(stream: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(stream):
        assert stream[at : at + 16] == b"\xff" * 16, f"no message begins at {at}"
        length = struct.unpack_from("!H", stream, at + 16)[0]
        yield stream[at : at + length]
        at += length


def routes_of(update: bytes) -> list[bytes]:
    """Those of its MP_REACH_NLRI or MP_UNREACH_NLRI, each with its type and length before it."""
    at = 23  # Header, no withdrawn routes, length of the attributes.
    while at < len(update):
        flags, kind = update[at : at + 2]
        wide = bool(flags & 0x10)
        length = struct.unpack_from("!H" if wide else "!B", update, at + 2)[0]
        value = update[at + (4 if wide else 3) :][:length]
        if kind in (14, 15):
            return list(_routes_in(value[5 + value[3] :] if kind == 14 else value[3:]))
        at += (4 if wide else 3) + length
    return []


def _routes_in(routes: bytes) -> Iterator[bytes]:
    while routes:
        length = 2 + routes[1]
        yield routes[:length]
        routes = routes[length:]


def _raise_if_faulty(part: xml.Element) -> None:
    name = part.get("name") or ""
    assert name not in ("_ws.malformed", "_ws.short"), xml.tostring(part, encoding="unicode")
    if name != "bgp":
        return  # TCP has its own: it sends again, and resets.
    for each in part.iter("field"):
        if each.get("name") == "_ws.expert.severity" and int(each.get("show", "0"), 0) >= _WARNING:
            raise AssertionError(xml.tostring(part, encoding="unicode"))


def _message(source: str, part: xml.Element) -> Message:
    shown: dict[str, list[str]] = {}
    for each in part.iter("field"):
        shown.setdefault(each.get("name") or "", []).append(each.get("show") or "")
    message = Message(source, int(shown["bgp.type"][0]), shown)
    for attribute in _fields(part, "bgp.update.path_attribute"):
        message.reach += _routes(attribute, "bgp.update.path_attribute.mp_reach_nlri")
        message.unreach += _routes(attribute, "bgp.update.path_attribute.mp_unreach_nlri")
        for community in _fields(attribute, "bgp.ext_community"):
            words = (community.get("showname") or "").rpartition(" [")[0]
            message.communities[words] = {f.get("name") or "": f.get("show") or "" for f in community.iter("field")}
    return message


def _routes(attribute: xml.Element, name: str) -> Iterator[Route]:
    for holder in _fields(attribute, name):
        for nlri in _fields(holder, "bgp.evpn.nlri"):
            yield _route({(f.get("name") or "").removeprefix("bgp.evpn.nlri."): f for f in nlri.iter("field")}, nlri)


def _route(parts: dict[str, xml.Element], nlri: xml.Element) -> Route:
    shown = {name: part.get("show") or "" for name, part in parts.items()}
    # By its octets: whether they are taken for a VNI or for an MPLS label depends on what else was in the packet.
    labels = [
        int(each.get("unmaskedvalue") or each.get("value") or "", 16)
        for each in nlri.iter("field")
        if each.get("name") in _LABELS
    ]
    return Route(
        type=int(shown["rt"]),
        rd=(parts["rd"].get("showname") or "").rpartition("(")[2].rstrip(")"),
        esi=shown.get("esi", ""),
        tag=int(shown.get("etag", "0")),
        mac=shown.get("mac_addr", ""),
        ip=shown.get("ip.addr") or shown.get("ipv6.addr", ""),
        labels=tuple(labels),
    )


def _fields(part: xml.Element, name: str) -> Iterator[xml.Element]:
    return (each for each in part.iter("field") if each.get("name") == name)
