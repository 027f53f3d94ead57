# SPDX-License-Identifier: Apache-2.0
"""What goes over a BGP session, as Wireshark reads it."""

import signal
import subprocess
import xml.etree.ElementTree as xml
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lab import LabError, Node, wait_until

_BGP_PORT = 179
_WARNING = 0x00600000  # Wireshark's severities: chat, note, warning, error, each with its bit.
OPEN, UPDATE, NOTIFICATION = 1, 2, 3
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
        self._file: Path = node.path(f"/run/{interface}.pcap")

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

    def fields(self, display: str, *names: str) -> list[list[str]]:
        """For many packets: of those that pass this filter, the values of these fields, joined with commas."""
        words = [word for name in names for word in ("-e", name)]
        return [line.split("\t") for line in self._run("-T", "fields", *words, "-Y", display).splitlines()]

    def _run(self, *words: str) -> str:
        # Names of vendors and of machines are not looked up: what is sent is shown.
        done = subprocess.run(
            ["tshark", "-n", "-r", str(self._file), *words], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise LabError(f"tshark {' '.join(words)}: exit {done.returncode}: {done.stderr}")
        return done.stdout


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
