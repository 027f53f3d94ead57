# SPDX-License-Identifier: Apache-2.0
"""A server of the fabric: one address pair and one MAC on a bond that speaks on all its ports."""

import ipaddress
import socket
from collections.abc import Iterable, Sequence

from . import frames
from .node import Node
from .wait import wait_until

BOND = "bond0"


class Host(Node):
    """A node whose addresses are on `bond0`, a bridge with isolated ports (see tests/containerlab/README.md)."""

    @property
    def ports(self) -> list[str]:
        links = self.json(["ip", "-j", "link", "show", "master", BOND])
        return sorted(link["ifname"] for link in links)

    @property
    def mac(self) -> str:
        return str(self.json(["ip", "-j", "link", "show", BOND])[0]["address"])

    @property
    def v4(self) -> str:
        return self._own("inet")

    @property
    def v6(self) -> str:
        return self._own("inet6")

    def announce(
        self, addresses: Iterable[str] | None = None, mac: str | None = None, port: str | None = None
    ) -> None:
        """Says unasked that it has these addresses (default: its own two), on all ports or on one."""
        chosen = [self.v4, self.v6] if addresses is None else addresses
        own = mac or self.mac
        self.send([frames.announcement(ipaddress.ip_address(a), own) for a in chosen], port or BOND)

    def solicit(self, address: str, source: str | None = None, port: str | None = None) -> None:
        """Asks who has `address`; the question itself tells a listening leaf about the asker."""
        target = ipaddress.ip_address(address)
        asker = ipaddress.ip_address(source or (self.v4 if target.version == 4 else self.v6))
        self.send([frames.solicitation(target, asker, self.mac)], port or BOND)

    def send(self, packets: Sequence[bytes], interface: str) -> None:
        with self.open_socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as raw:  # Protocol 0: it only sends.
            raw.bind((interface, 0))
            for packet in packets:
                raw.send(packet)

    def add_addresses(self, addresses: Iterable[str]) -> None:
        """As further addresses of the bond, without a subnet of their own."""
        self.ip_batch([f"addr add {_single(a)} dev {BOND}" + _nodad(a) for a in addresses])

    def del_addresses(self, addresses: Iterable[str]) -> None:
        self.ip_batch([f"addr del {_single(a)} dev {BOND}" for a in addresses])

    def cut(self, port: str) -> None:
        """The leaf at the other end loses carrier."""
        self.link(port, up=False)

    def restore(self, port: str) -> None:
        self.link(port, up=True)

    def ping_until(self, address: str, deadline: float) -> float:
        """Until an answer comes; the seconds that took."""
        return wait_until(lambda: self.ping(address), deadline, what=f"{self.name}: no answer from {address}")

    def _own(self, family: str) -> str:
        """The first global address: further ones of a test come behind it."""
        entries = self.json(["ip", "-j", "addr", "show", "dev", BOND, "scope", "global"])[0]["addr_info"]
        subnets = [e for e in entries if e.get("family") == family and e["prefixlen"] not in (32, 128)]
        return str(subnets[0]["local"])


def _single(address: str) -> str:
    return f"{address}/{ipaddress.ip_address(address).max_prefixlen}"


def _nodad(address: str) -> str:
    return " nodad" if ":" in address else ""
