# SPDX-License-Identifier: Apache-2.0
"""A zebra that behaves, or does not: a ZAPI server for tests of what real zebras do too rarely to be waited for.

It speaks the wire families A to D on a unix socket, holds routes as zebra does (per prefix, kept over a client's end
if the client asked for graceful restart), answers, and records every message with the moment at which it was read. On
request it stalls, answers late or never, refuses, hangs up, is of an unknown release, or is no zebra at all. It puts
nothing into a kernel and runs no best-path choice.

    with FakeZebra(leaf.zserv, family="A") as zebra:
        wait_until(lambda: zebra.holds("10.0.0.7/32"), 5)
        zebra.stall()

Numbers and layouts: FRR's lib/zclient.c of 8.4 to 10.3, as seen on the wire. Times are time.monotonic().
"""

import heapq
import ipaddress
import os
import selectors
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

_HEADER = struct.Struct("!HBBIH")
_MARKER, _VERSION = 0xFE, 6
_ERROR_NO_VRF, _ERROR_NO_HANDLER = 1, 2
_CAP_RESTART, _CAP_COMPLETE, _CAP_DISABLE = 1, 2, 4
_BITS_NEXT_HOPS, _BITS_DISTANCE, _BITS_METRIC, _BITS_TAG, _BITS_MTU = 0x01, 0x02, 0x04, 0x08, 0x10
_SELECTED = 0x08
_WEIGHT = 0x04
_MAIN_TABLE = 254
FAIL_INSTALL, BETTER_WON, INSTALLED, REMOVED = 0, 1, 2, 3


@dataclass(frozen=True)
class Family:
    """What differs between releases: A 8.4-9.0, B 9.1, C 10.0-10.1, D 10.2 and later."""

    name: str
    babel: int
    numbers: dict[str, int]
    capabilities: bytes
    long_owner: bool = False  # 10.3: owner notifications carry a source prefix.
    wide_weight: bool = False  # 10.1

    def number(self, name: str) -> int:
        return self.numbers[name]

    def name_of(self, command: int) -> str:
        return next((name for name, number in self.numbers.items() if number == command), f"command {command}")


def _numbers(first: int, redistributed: int, late: dict[str, int]) -> dict[str, int]:
    """`first`: ROUTE_ADD, the number from which on 10.0 moved everything by one."""
    numbers = {"ROUTE_ADD": first, "ROUTE_DELETE": first + 1, "NOTIFY_OWNER": first + 2}
    numbers |= {"REDISTRIBUTE_ADD": first + 3, "REDISTRIBUTE_DELETE": first + 4}
    numbers |= {"HELLO": first + 10, "CAPABILITIES": first + 11}
    return numbers | {"REDIST_ROUTE_ADD": redistributed, "REDIST_ROUTE_DEL": redistributed + 1} | late


_MULTIPATH = b"\0\0\1\0"
FAMILIES = {
    "A": Family(
        "A", 22, _numbers(8, 30, {"ERROR": 118, "CLIENT_CAPABILITIES": 119, "NOTIFY_REQUEST": 124}),
        b"\0\0\0\0" + b"\0" + _MULTIPATH + b"\0",
    ),
    "B": Family(
        "B", 22, _numbers(8, 30, {"ERROR": 117, "CLIENT_CAPABILITIES": 118, "NOTIFY_REQUEST": 123}),
        b"\0\0\0\0" + b"\0" + _MULTIPATH + b"\0\0",
    ),
    "C": Family(
        "C", 23, _numbers(9, 31, {"ERROR": 118, "CLIENT_CAPABILITIES": 119, "NOTIFY_REQUEST": 124}),
        b"\0\0\0\0" + b"\0" + _MULTIPATH + b"\0\0",
    ),
    "D": Family(
        "D", 23, _numbers(9, 31, {"ERROR": 120, "CLIENT_CAPABILITIES": 121, "NOTIFY_REQUEST": 126}),
        b"\0\0\0\0" + b"\0" + _MULTIPATH + b"\0\0\0", long_owner=True, wide_weight=True,
    ),
}  # fmt: skip
_FROM_CLIENT = {
    "HELLO", "ROUTE_ADD", "ROUTE_DELETE", "REDISTRIBUTE_ADD", "REDISTRIBUTE_DELETE", "CLIENT_CAPABILITIES",
    "NOTIFY_REQUEST",
}  # fmt: skip


class Manner(Enum):
    """What a client meets that connects."""

    NORMAL = "speaks ZAPI"
    GARBAGE = "sends bytes that are no ZAPI"
    SILENT = "accepts and says nothing"
    CLOSING = "closes at once"


@dataclass(frozen=True)
class Route:
    ifindex: int
    gateway: str = ""  # Empty: the interface alone.
    distance: int = 0
    metric: int = 0
    tag: int = 0


@dataclass(frozen=True)
class Message:
    """One message of a client, as it was read."""

    at: float
    connection: int  # Counts up from 1 with every connection.
    kind: str  # "ROUTE_ADD", …, or "command 65535"
    prefix: str = ""
    route: Route | None = None


@dataclass
class _Client:
    channel: socket.socket
    connection: int
    received: bytearray = field(default_factory=bytearray)
    to_send: bytearray = field(default_factory=bytearray)
    said_hello: bool = False
    wants_notices: bool = False
    restarts: bool = False  # Graceful restart: its routes stay when it goes.
    subscribed: set[int] = field(default_factory=set)  # AFIs
    watched: set[int] = field(default_factory=set)  # The same, of bgpd's routes.


class FakeZebra:
    """Listens from start() to stop(), in a thread of its own. Every member may be called from any thread."""

    def __init__(
        self, path: str | Path, family: str = "A", manner: Manner = Manner.NORMAL, error_number: int | None = None
    ) -> None:
        """`error_number` instead of the family's own makes a release that nobody knows."""
        self.path = str(path)
        self.family = FAMILIES[family]
        self.manner = manner
        self.error_number = error_number or self.family.number("ERROR")
        self.ack_delay: float | None = 0.0  # Seconds; None: never.
        self.answers_marks = True  # False: ERROR is never sent once a client has said HELLO.
        self.refuses: Callable[[str], bool] = lambda prefix: False  # FAIL_INSTALL for these.
        self.chunk = 1 << 18  # Bytes read at once; 1 makes the smallest pieces.
        self._record: list[Message] = []
        self._routes: dict[str, Route] = {}
        self._stale: set[str] = set()
        self._plane: set[str] = set()  # What bgpd has learned.
        self._clients: dict[int, _Client] = {}
        self._connections: list[float] = []
        self._late: list[tuple[float, int, _Client, bytes]] = []
        self._lock = threading.RLock()
        self._stalled = False
        self._ends = False
        self._failure: BaseException | None = None
        self._listener: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._wake_read, self._wake_write = -1, -1

    # ---- life ----

    def __enter__(self) -> "FakeZebra":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> "FakeZebra":
        assert self._thread is None, "it runs already"
        Path(self.path).parent.mkdir(parents=True, exist_ok=True)
        Path(self.path).unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        self._listener.bind(self.path)
        self._listener.listen(5)
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._ends = False
        self._thread = threading.Thread(target=self._run, name="fake zebra", daemon=True)
        self._thread.start()
        return self

    def stop(self, keep_socket: bool = False) -> None:
        """Ends it as a zebra that is killed: clients see the end, its routes are forgotten."""
        if self._thread is None:
            return
        self._ends = True
        self._poke()
        self._thread.join()
        self._thread = None
        assert self._listener
        self._listener.close()
        for client in self._clients.values():
            client.channel.close()
        self._clients.clear()
        self._late.clear()
        self._routes.clear()
        self._stale.clear()
        os.close(self._wake_read)
        os.close(self._wake_write)
        if not keep_socket:
            Path(self.path).unlink(missing_ok=True)
        if self._failure:
            raise self._failure

    def restart(self, family: str | None = None) -> None:
        """The record goes on; the routes do not."""
        self.stop()
        if family:
            self.family = FAMILIES[family]
            self.error_number = self.family.number("ERROR")
        self.start()

    # ---- faults ----

    def stall(self) -> None:
        """Reads nothing more until resume(); what clients write stays in the socket's buffer."""
        self._stalled = True
        self._poke()

    def resume(self) -> None:
        self._stalled = False
        self._poke()

    def close_clients(self) -> None:
        """As a zebra that drops its clients and goes on."""
        with self._lock:
            for client in list(self._clients.values()):
                self._drop(client)
        self._poke()

    def say(self, data: bytes) -> None:
        """Raw bytes to every client."""
        with self._lock:
            for client in self._clients.values():
                client.to_send += data
        self._poke()

    def take_away(self, prefix: str) -> None:
        """An unasked REMOVED, as when another client of the same type closes."""
        with self._lock:
            self._remove(prefix)
            for client in self._clients.values():
                self._notify(client, prefix, REMOVED)
        self._poke()

    def lose(self, prefix: str) -> None:
        """It holds the route no more, and tells nobody."""
        with self._lock:
            self._remove(prefix)

    def plant(self, prefix: str, route: Route) -> None:
        """A route of our type that nobody present has put: what an earlier life left behind."""
        with self._lock:
            self._put(prefix, route)
        self._poke()

    def learn(self, prefix: str) -> None:
        """bgpd learns a route from another switch."""
        with self._lock:
            self._plane.add(prefix)
            for client in self._clients.values():
                self._tell_plane(client, "REDIST_ROUTE_ADD", prefix)
        self._poke()

    def unlearn(self, prefix: str) -> None:
        with self._lock:
            self._plane.discard(prefix)
            for client in self._clients.values():
                self._tell_plane(client, "REDIST_ROUTE_DEL", prefix)
        self._poke()

    # ---- what was seen ----

    @property
    def routes(self) -> dict[str, Route]:
        with self._lock:
            return dict(self._routes)

    def holds(self, *prefixes: str) -> bool:
        with self._lock:
            return all(prefix in self._routes for prefix in prefixes)

    def holds_exactly(self, prefixes: Iterable[str]) -> bool:
        """For wait_until: the AssertionError says what is missing and what is too many."""
        wanted, held = set(prefixes), set(self.routes)
        missing, extra = sorted(wanted - held), sorted(held - wanted)
        if not missing and not extra:
            return True
        raise AssertionError(f"missing {len(missing)} {missing[:4]}, not wanted {len(extra)} {extra[:4]}")

    @property
    def record(self) -> list[Message]:
        with self._lock:
            return list(self._record)

    def mark(self) -> int:
        """A position in the record, for `since`."""
        with self._lock:
            return len(self._record)

    def since(self, mark: int, *kinds: str) -> list[Message]:
        return [m for m in self.record[mark:] if not kinds or m.kind in kinds]

    def withdrawn(self, since: int = 0) -> set[str]:
        return {m.prefix for m in self.since(since, "ROUTE_DELETE")}

    @property
    def connections(self) -> list[float]:
        """When each connection was accepted."""
        with self._lock:
            return list(self._connections)

    @property
    def sessions(self) -> int:
        """Connections that are open and have said HELLO."""
        with self._lock:
            return sum(client.said_hello for client in self._clients.values())

    # ---- the loop ----

    def _poke(self) -> None:
        try:
            os.write(self._wake_write, b"x")
        except OSError:
            pass  # It is awake, or not running.

    def _run(self) -> None:
        try:
            while not self._ends:
                self._round()
        except BaseException as error:  # noqa: B902  Raised again by stop(), where it can be seen.
            self._failure = error
            print(f"fake zebra: {error!r}", file=sys.stderr)

    def _round(self) -> None:
        assert self._listener
        with self._lock, selectors.EpollSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ, "listener")
            selector.register(self._wake_read, selectors.EVENT_READ, "wake")
            for client in self._clients.values():
                reads = 0 if self._stalled else selectors.EVENT_READ
                events = reads | (selectors.EVENT_WRITE if client.to_send else 0)
                if events:
                    selector.register(client.channel, events, client)
            wait = max(0.0, self._late[0][0] - time.monotonic()) if self._late else None
            self._lock.release()
            try:
                ready = selector.select(wait)
            finally:
                self._lock.acquire()
            for key, events in ready:
                self._serve(key.data, events)
            self._send_late()
            for client in list(self._clients.values()):
                self._write(client)

    def _serve(self, what: "str | _Client", events: int) -> None:
        if what == "listener":
            self._accept()
        elif what == "wake":
            os.read(self._wake_read, 4096)
        elif isinstance(what, _Client) and what.connection in self._clients and events & selectors.EVENT_READ:
            self._read(what)

    def _accept(self) -> None:
        assert self._listener
        try:
            channel, _ = self._listener.accept()
        except BlockingIOError:
            return
        channel.setblocking(False)
        now = time.monotonic()
        self._connections.append(now)
        client = _Client(channel=channel, connection=len(self._connections))
        if self.manner is Manner.CLOSING:
            channel.close()
            return
        self._clients[client.connection] = client
        if self.manner is Manner.GARBAGE:
            client.to_send += b"HTTP/1.1 400 Bad Request\r\n\r\n" * 8

    def _read(self, client: _Client) -> None:
        try:
            data = client.channel.recv(self.chunk)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if not data:
            self._drop(client)
            return
        if self.manner is not Manner.NORMAL:
            return
        client.received += data
        now = time.monotonic()
        offset = 0
        while len(client.received) - offset >= _HEADER.size and client.connection in self._clients:
            length, marker, version, vrf, command = _HEADER.unpack_from(client.received, offset)
            if marker != _MARKER or version != _VERSION or length < _HEADER.size:
                self._drop(client)
                return
            if len(client.received) - offset < length:
                break
            body = bytes(client.received[offset + _HEADER.size : offset + length])
            offset += length
            self._handle(client, command, vrf, body, now)
        del client.received[:offset]

    def _write(self, client: _Client) -> None:
        if not client.to_send:
            return
        try:
            count = client.channel.send(client.to_send)
            del client.to_send[:count]
        except BlockingIOError:
            pass
        except OSError:
            self._drop(client)

    def _drop(self, client: _Client) -> None:
        if self._clients.pop(client.connection, None) is None:
            return
        client.channel.close()
        if not client.said_hello:
            return
        if client.restarts:
            self._stale = set(self._routes)
        else:
            for prefix in list(self._routes):
                self._remove(prefix)

    # ---- messages ----

    def _handle(self, client: _Client, command: int, vrf: int, body: bytes, now: float) -> None:
        kind = self.family.name_of(command)
        message = Message(now, client.connection, kind)
        if vrf != 0:
            self._record.append(message)
            self._send_error(client, vrf, _ERROR_NO_VRF)
            return
        if kind not in _FROM_CLIENT:
            self._record.append(message)
            self._send_error(client, vrf, _ERROR_NO_HANDLER)
            return
        if kind in ("ROUTE_ADD", "ROUTE_DELETE"):
            prefix, route = _decode_route(body)
            self._record.append(Message(now, client.connection, kind, prefix, route))
            self._handle_route(client, kind, prefix, route)
            return
        self._record.append(message)
        if kind == "HELLO" and body:
            client.said_hello = True
            client.wants_notices = len(body) == 9 and body[7] == 1
            client.to_send += self._message("CAPABILITIES", self.family.capabilities)
        elif kind == "NOTIFY_REQUEST":
            client.wants_notices = body[:1] == b"\1"
        elif kind == "CLIENT_CAPABILITIES":
            self._handle_capability(client, body)
        elif kind == "REDISTRIBUTE_ADD" and body[1] != self.family.babel:
            client.watched.add(body[0])
            for prefix in sorted(self._plane):
                self._tell_plane(client, "REDIST_ROUTE_ADD", prefix)
        elif kind == "REDISTRIBUTE_ADD":
            self._dump(client, body[0])
        elif kind == "REDISTRIBUTE_DELETE" and body[1] == self.family.babel:
            client.subscribed.discard(body[0])

    def _handle_route(self, client: _Client, kind: str, prefix: str, route: Route | None) -> None:
        if kind == "ROUTE_ADD" and route:
            if self.refuses(prefix):
                self._notify(client, prefix, FAIL_INSTALL)
                return
            self._put(prefix, route)
            self._notify(client, prefix, INSTALLED)
        elif prefix in self._routes:  # A DELETE of what is not there gets no answer.
            self._remove(prefix)
            self._notify(client, prefix, REMOVED)

    def _handle_capability(self, client: _Client, body: bytes) -> None:
        (capability,) = struct.unpack_from("!I", body)
        if capability == _CAP_RESTART:
            client.restarts = True
        elif capability == _CAP_DISABLE:
            client.restarts = False
        elif capability == _CAP_COMPLETE:
            (afi,) = struct.unpack_from("!I", body, 4)
            for prefix in [p for p in self._stale if _afi(p) == afi]:
                self._remove(prefix)

    def _put(self, prefix: str, route: Route) -> None:
        self._routes[prefix] = route
        self._stale.discard(prefix)
        self._stream("REDIST_ROUTE_ADD", prefix, route)

    def _remove(self, prefix: str) -> None:
        route = self._routes.pop(prefix, None)
        self._stale.discard(prefix)
        if route:
            self._stream("REDIST_ROUTE_DEL", prefix, route)

    def _dump(self, client: _Client, afi: int) -> None:
        client.subscribed.add(afi)
        for prefix, route in self._routes.items():
            if _afi(prefix) == afi:
                client.to_send += self._message("REDIST_ROUTE_ADD", self._encode(prefix, route))

    def _tell_plane(self, client: _Client, kind: str, prefix: str) -> None:
        """What stands behind the prefix is bgpd's; nobody who is asked for hosts alone reads it."""
        if _afi(prefix) in client.watched:
            network = ipaddress.ip_network(prefix)
            bgp = self.family.babel - 13
            head = struct.pack("!BHIIBBB", bgp, 0, _SELECTED, _BITS_NEXT_HOPS, 1, _family(prefix), network.prefixlen)
            client.to_send += self._message(kind, head + network.network_address.packed + b"\0\0")

    def _stream(self, kind: str, prefix: str, route: Route) -> None:
        for client in self._clients.values():
            if _afi(prefix) in client.subscribed:
                client.to_send += self._message(kind, self._encode(prefix, route))

    def _notify(self, client: _Client, prefix: str, state: int) -> None:
        if not client.wants_notices or self.ack_delay is None:
            return
        network = ipaddress.ip_network(prefix)
        size = len(network.network_address.packed)
        body = struct.pack("=I", state) + bytes([_family(prefix), network.prefixlen]) + network.network_address.packed
        if self.family.long_owner:
            body += b"\0" + b"\0" * size
        message = self._message("NOTIFY_OWNER", body + struct.pack("!IBB", _MAIN_TABLE, _afi(prefix), 1))
        if self.ack_delay == 0:
            client.to_send += message
        else:
            heapq.heappush(self._late, (time.monotonic() + self.ack_delay, id(message), client, message))

    def _send_late(self) -> None:
        now = time.monotonic()
        while self._late and self._late[0][0] <= now:
            _, _, client, message = heapq.heappop(self._late)
            client.to_send += message

    def _send_error(self, client: _Client, vrf: int, code: int) -> None:
        if client.said_hello and not self.answers_marks:
            return
        body = struct.pack("=I", code)
        client.to_send += _HEADER.pack(_HEADER.size + len(body), _MARKER, _VERSION, vrf, self.error_number) + body

    def _message(self, kind: str, body: bytes) -> bytes:
        return _HEADER.pack(_HEADER.size + len(body), _MARKER, _VERSION, 0, self.family.number(kind)) + body

    def _encode(self, prefix: str, route: Route) -> bytes:
        """As zebra shows a selected route: with weight, metric and MTU, and the tag only if there is one."""
        bits = _BITS_NEXT_HOPS | _BITS_DISTANCE | _BITS_METRIC | _BITS_MTU | (_BITS_TAG if route.tag else 0)
        network = ipaddress.ip_network(prefix)
        head = struct.pack("!BHIIBBB", self.family.babel, 0, _SELECTED, bits, 1, _family(prefix), network.prefixlen)
        gateway = ipaddress.ip_address(route.gateway).packed if route.gateway else b""
        kind, flags = (1, _WEIGHT) if not gateway else (3 if len(gateway) == 4 else 5, _WEIGHT | 1)
        weight = struct.pack("!Q" if self.family.wide_weight else "!I", 1)
        hop = struct.pack("!HIBB", 1, 0, kind, flags) + gateway + struct.pack("!I", route.ifindex) + weight
        tail = struct.pack("!BI", route.distance, route.metric)
        tail += (struct.pack("!I", route.tag) if route.tag else b"") + struct.pack("!I", 0)
        return head + network.network_address.packed + hop + tail


def _decode_route(body: bytes) -> tuple[str, Route | None]:
    """ROUTE_ADD and ROUTE_DELETE; the route is None where the message has no next hop."""
    _, _, _, bits, _, family, length = struct.unpack_from("!BHIIBBB", body)
    offset, count = 14, (length + 7) // 8
    packed = body[offset : offset + count].ljust(4 if family == socket.AF_INET else 16, b"\0")
    prefix = f"{ipaddress.ip_address(packed)}/{length}"
    offset += count
    if not bits & _BITS_NEXT_HOPS:
        return prefix, None
    _, _, kind, _ = struct.unpack_from("!HIBB", body, offset)
    offset += 8
    size = {1: 0, 2: 4, 3: 4, 4: 16, 5: 16}[kind]
    gateway = str(ipaddress.ip_address(body[offset : offset + size])) if size else ""
    (ifindex,) = struct.unpack_from("!I", body, offset + size)
    offset += size + 4
    values = {"ifindex": ifindex}
    for bit, name, form in ((_BITS_DISTANCE, "distance", "!B"), (_BITS_METRIC, "metric", "!I"), (_BITS_TAG, "tag", "!I")):
        if bits & bit:
            (values[name],) = struct.unpack_from(form, body, offset)
            offset += struct.calcsize(form)
    return prefix, Route(gateway=gateway, **values)


def _family(prefix: str) -> int:
    return int(socket.AF_INET6 if ":" in prefix else socket.AF_INET)


def _afi(prefix: str) -> int:
    return 2 if ":" in prefix else 1
