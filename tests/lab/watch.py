# SPDX-License-Identifier: Apache-2.0
"""Keeps every change of one node's routing tables, so that a test can say what never left them.

Two witnesses. bgpd is read over and over, which shows what it holds but may miss what comes and goes between two looks.
The kernel's route notifications miss nothing (a lost one is noticed and is an error), and zebra puts each best path
there: a prefix that bgpd withdrew for a moment shows as a removal.
"""

import errno
import ipaddress
import select
import socket
import struct
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .errors import LabError
from .node import Node
from .vty import Vty, VtyError

_POLL_SECONDS = 0.005
_RTM_NEWROUTE, _RTM_DELROUTE = 24, 25
_GROUPS = (7, 11)  # RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE (linux/rtnetlink.h)
_SOL_NETLINK, _ADD_MEMBERSHIP = 270, 1
_SO_RCVBUFFORCE = 33
_RTA_DST = 1
_RT_TABLE_MAIN = 254


@dataclass(frozen=True)
class Change:
    """One thing that happened to one prefix."""

    at: float  # time.monotonic()
    source: str  # "bgp" or "fib"
    kind: str  # "add", "change" or "remove"
    prefix: str
    detail: str = ""


class TableWatch:
    """The record of one node, from `start` to `stop`."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._changes: list[Change] = []
        self._failure = ""
        self.gaps: list[tuple[float, float]] = []  # when bgpd gave no answer
        self.polls = 0
        self.started_at = 0.0

    def __enter__(self) -> "TableWatch":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> "TableWatch":
        """Returns when both witnesses are looking, so that what happens next is seen."""
        self.started_at = time.monotonic()
        looking = threading.Event()
        kernel = self._kernel_socket()
        self._threads = [
            threading.Thread(target=self._watch_bgp, args=(looking,), daemon=True),
            threading.Thread(target=self._watch_kernel, args=(kernel,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        if not looking.wait(10):
            raise LabError(f"{self._node.name}: bgpd gives no table to watch")
        return self

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._threads = []
        if self._failure:
            raise LabError(f"watch of {self._node.name}: {self._failure}")

    @property
    def changes(self) -> list[Change]:
        return sorted(self._changes, key=lambda change: change.at)

    def left(self, prefix: str) -> list[Change]:
        """Every removal of the prefix, by either witness."""
        return [c for c in self.changes if c.prefix == prefix and c.kind == "remove"]

    def arrived(self, prefix: str) -> list[Change]:
        return [c for c in self.changes if c.prefix == prefix and c.kind == "add"]

    def of(self, prefixes: Iterable[str]) -> list[Change]:
        wanted = set(prefixes)
        return [c for c in self.changes if c.prefix in wanted]

    def assert_never_left(self, prefixes: Iterable[str]) -> None:
        wanted = set(prefixes)
        gone = [c for c in self.changes if c.prefix in wanted and c.kind == "remove"]
        assert not gone, f"{self._node.name}: left the table: {gone[:10]} ({len(gone)} removals)"

    def assert_silent(self) -> None:
        """Nothing at all has changed."""
        assert not self._changes, f"{self._node.name}: {len(self._changes)} changes: {self.changes[:10]}"

    # ---- bgpd ----

    def _watch_bgp(self, looking: threading.Event) -> None:
        before: dict[str, Any] | None = None
        vty: Vty | None = None
        silent_since: float | None = None
        while not self._stop.is_set():
            try:
                vty = vty or self._node.vty("bgpd")
                now = _read_tables(vty)
            except VtyError:
                vty = None  # Restarting; a new session as soon as there is one.
                silent_since = silent_since or time.monotonic()
                self._stop.wait(_POLL_SECONDS)
                continue
            at = time.monotonic()
            if silent_since is not None:
                self.gaps.append((silent_since, at))
                silent_since = None
            if before is not None:
                self._compare(before, now, at)
            before = now
            self.polls += 1
            looking.set()
            self._stop.wait(_POLL_SECONDS)
        if vty:
            vty.close()

    def _compare(self, before: dict[str, Any], now: dict[str, Any], at: float) -> None:
        for prefix in before.keys() - now.keys():
            self._changes.append(Change(at=at, source="bgp", kind="remove", prefix=prefix))
        for prefix, paths in now.items():
            if prefix not in before:
                self._changes.append(Change(at=at, source="bgp", kind="add", prefix=prefix, detail=str(paths)))
            elif before[prefix] != paths:
                self._changes.append(Change(at=at, source="bgp", kind="change", prefix=prefix, detail=str(paths)))

    # ---- kernel ----

    def _kernel_socket(self) -> socket.socket:
        netlink = self._node.open_socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        netlink.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 16 << 20)
        netlink.bind((0, 0))
        for group in _GROUPS:
            netlink.setsockopt(_SOL_NETLINK, _ADD_MEMBERSHIP, group)
        return netlink

    def _watch_kernel(self, netlink: socket.socket) -> None:
        with netlink:
            while not self._stop.is_set():
                if not select.select([netlink], [], [], 0.05)[0]:
                    continue
                try:
                    data = netlink.recv(1 << 16)
                except OSError as error:
                    lost = error.errno == errno.ENOBUFS
                    self._failure = "route notifications were lost" if lost else str(error)
                    return
                self._changes.extend(_route_changes(data, time.monotonic()))


def _read_tables(vty: Vty) -> dict[str, Any]:
    """Prefix → what makes a path another path: next hops and AS path of each valid one. Stale ones count as held."""
    tables: dict[str, Any] = {}
    for afi in (4, 6):
        routes = vty.json(f"show bgp ipv{afi} unicast json").get("routes") or {}
        for prefix, paths in routes.items():
            valid = [(p.get("path", ""), _next_hops(p)) for p in paths if p.get("valid")]
            if valid:
                tables[prefix] = valid
    return tables


def _next_hops(path: dict[str, Any]) -> list[str]:
    return sorted(str(hop.get("ip")) for hop in path.get("nexthops", []))


def _route_changes(data: bytes, at: float) -> list[Change]:
    """rtnetlink(7): nlmsghdr, rtmsg, attributes. Only the main table's, unicast or not."""
    changes = []
    while len(data) >= 16:
        length, kind, flags = struct.unpack_from("=IHH", data)
        if kind in (_RTM_NEWROUTE, _RTM_DELROUTE) and data[16 + 4] == _RT_TABLE_MAIN:
            what = "remove" if kind == _RTM_DELROUTE else ("change" if flags & 0x100 else "add")
            changes.append(Change(at=at, source="fib", kind=what, prefix=_destination(data[16:length])))
        data = data[(length + 3) & ~3 :]
    return changes


def _destination(message: bytes) -> str:
    family, length = message[0], message[1]
    size = 4 if family == socket.AF_INET else 16
    address = b"\0" * size
    offset = 12
    while offset + 4 <= len(message):
        size_of, kind = struct.unpack_from("=HH", message, offset)
        if kind & 0x3FFF == _RTA_DST:
            address = message[offset + 4 : offset + 4 + size]
        offset += max(4, (size_of + 3) & ~3)
    return f"{ipaddress.ip_address(address)}/{length}"
