# SPDX-License-Identifier: Apache-2.0
"""Neighbours, forwarding entries and link changes by the hundred thousand: raw rtnetlink, many requests in one write.

`ip -batch` needs 20 us a command and one process for each family; this needs 2 us and none. Layouts: rtnetlink(7),
linux/neighbour.h, linux/if_link.h. Requests ask for no answer, so only a refusal is told: `Batch.send` raises it.
"""

import errno
import ipaddress
import os
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass

REACHABLE, STALE, FAILED, NOARP, PERMANENT = 0x02, 0x04, 0x20, 0x40, 0x80

_NEW_LINK, _SET_LINK, _NEW_NEIGH, _DEL_NEIGH = 16, 19, 28, 29
_REQUEST, _ACK, _REPLACE, _CREATE = 0x001, 0x004, 0x100, 0x400
_NLMSG_ERROR = 2
_NDA_DST, _NDA_LLADDR = 1, 2
_IFLA_IFALIAS = 20
_NTF_MASTER = 0x04
_PIECE = 64 * 1024


@dataclass(frozen=True)
class Refused(Exception):
    number: int

    def __str__(self) -> str:
        return f"{errno.errorcode.get(self.number, self.number)}: {os.strerror(self.number)}"


class Batch:
    """Requests that are gathered first and written as fast as the kernel takes them."""

    def __init__(self) -> None:
        self._pieces: list[bytearray] = [bytearray()]
        self.count = 0

    def neighbor(self, interface: int, address: str, mac: str, state: int = REACHABLE) -> None:
        ip = ipaddress.ip_address(address)
        kind = socket.AF_INET if ip.version == 4 else socket.AF_INET6
        head = struct.pack("=BxxxiHBB", kind, interface, state, 0, 0)
        self._add(_NEW_NEIGH, _CREATE | _REPLACE, head + _attribute(_NDA_DST, ip.packed) + _lladdr(mac))

    def no_neighbor(self, interface: int, address: str) -> None:
        ip = ipaddress.ip_address(address)
        kind = socket.AF_INET if ip.version == 4 else socket.AF_INET6
        head = struct.pack("=BxxxiHBB", kind, interface, 0, 0, 0)
        self._add(_DEL_NEIGH, 0, head + _attribute(_NDA_DST, ip.packed))

    def forwarding(self, port: int, mac: str) -> None:
        """As the bridge had learnt it: it ages, and goes with the port."""
        head = struct.pack("=BxxxiHBB", socket.AF_BRIDGE, port, REACHABLE, _NTF_MASTER, 0)
        self._add(_NEW_NEIGH, _CREATE | _REPLACE, head + _lladdr(mac))

    def alias(self, interface: int, text: str) -> None:
        """A link change that means nothing."""
        head = struct.pack("=BxHiII", socket.AF_UNSPEC, 0, interface, 0, 0)
        self._add(_SET_LINK, 0, head + _attribute(_IFLA_IFALIAS, text.encode()))

    def link(self, interface: int, up: bool) -> None:
        """Administratively."""
        self._add(_NEW_LINK, 0, struct.pack("=BxHiII", socket.AF_UNSPEC, 0, interface, int(up), 1))

    def repeat(self, times: int) -> None:
        self._pieces *= times
        self.count *= times

    def send(self, channel: socket.socket) -> None:
        """`channel` from `open_socket`. A refusal of any request is raised after all have been written."""
        failure = 0
        for piece in self._pieces:
            channel.send(piece)
            failure = failure or _refusal(channel)
        if failure:
            raise Refused(failure)

    def _add(self, kind: int, flags: int, body: bytes) -> None:
        message = struct.pack("=IHHII", 16 + len(body), kind, _REQUEST | flags, 0, 0) + body
        if len(self._pieces[-1]) + len(message) > _PIECE:
            self._pieces.append(bytearray())
        self._pieces[-1] += message.ljust((len(message) + 3) & ~3, b"\0")
        self.count += 1


def open_socket(node_socket: Callable[[int, int, int], socket.socket]) -> socket.socket:
    """`node_socket` is `Node.open_socket`: the socket belongs to that node's network."""
    channel = node_socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
    channel.setblocking(False)
    return channel


def _refusal(channel: socket.socket) -> int:
    failure = 0
    while True:
        try:
            data = channel.recv(1 << 16)
        except BlockingIOError:
            return failure
        except OSError as error:
            failure = failure or int(error.errno or 0)
            continue
        kind = struct.unpack_from("=IH", data)[1]
        if kind == _NLMSG_ERROR:
            failure = failure or -struct.unpack_from("=i", data, 16)[0]


def _attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), kind) + data.ljust((len(data) + 3) & ~3, b"\0")


def _lladdr(mac: str) -> bytes:
    return _attribute(_NDA_LLADDR, bytes.fromhex(mac.replace(":", "")))
