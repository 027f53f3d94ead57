#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A bare ZAPI writer: routes into zebra with nothing around them.

It is the yardstick for planed (how fast is FRR itself, given the bytes?) and the way to try a fabric without planed.
It keeps no desired state, does not reconnect and remembers nothing. Wire families, by FRR release: A 8.4-9.0, B 9.1,
C 10.0-10.1, D 10.2 and later; the release is found by asking, since the protocol does not say it.

As a command, in a node or outside:  zapi_client.py --socket PATH --interface Vlan100 10.0.0.7/32 …
The routes stay as long as the command runs (^C ends it): zebra removes a client's routes when it goes.
"""

import argparse
import ipaddress
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

_HEADER = struct.Struct("!HBBIH")
_MARKER, _VERSION = 0xFE, 6
_NO_SUCH_COMMAND = 0xFFFF
_PROBE_SILENCE = 0.3
_ERROR_SIZE = 14
_BITS_ADD = 0x0B  # next hops, distance, tag
_NEXT_HOP_IFINDEX = 1


class ZapiError(Exception):
    """zebra is not what this client knows, or went away."""


class Ack(IntEnum):
    """State in an owner notification; in host byte order on the wire, unlike everything else."""

    FAIL_INSTALL = 0
    BETTER_ADMIN_WON = 1
    INSTALLED = 2
    REMOVED = 3
    REMOVE_FAIL = 4


@dataclass(frozen=True)
class Family:
    """The numbers that differ between FRR releases."""

    name: str
    babel: int
    hello: int
    route_add: int
    route_delete: int
    owner: int
    error: int
    client_capabilities: int
    notify_request: int
    hello_notifies: bool  # HELLO has the notify byte


FAMILIES = {
    "A": Family("A", 22, 18, 8, 9, 10, 118, 119, 124, True),
    "B": Family("B", 22, 18, 8, 9, 10, 117, 118, 123, True),
    "C": Family("C", 23, 19, 9, 10, 11, 118, 119, 124, False),
    "D": Family("D", 23, 19, 9, 10, 11, 120, 121, 126, False),
}


def message(command: int, body: bytes = b"") -> bytes:
    return _HEADER.pack(_HEADER.size + len(body), _MARKER, _VERSION, 0, command) + body


def hello(family: Family) -> bytes:
    """Session 0, for only that one hears of its routes; instance 0, for bgpd cannot redistribute another."""
    body = struct.pack("!BHI", family.babel, 0, 0)
    return message(family.hello, body + (b"\1\0" if family.hello_notifies else b"\0"))


def route_add(family: Family, prefix: str, ifindex: int, distance: int = 5, tag: int = 100) -> bytes:
    """A route straight out of an interface."""
    head = _route_head(family, prefix, _BITS_ADD)
    hop = struct.pack("!HIBBI", 1, 0, _NEXT_HOP_IFINDEX, 0, ifindex)
    return message(family.route_add, head + hop + struct.pack("!BI", distance, tag))


def route_delete(family: Family, prefix: str) -> bytes:
    return message(family.route_delete, _route_head(family, prefix, 0))


def _route_head(family: Family, prefix: str, bits: int) -> bytes:
    network = ipaddress.ip_network(prefix)
    kind = socket.AF_INET if network.version == 4 else socket.AF_INET6
    address = network.network_address.packed[: (network.prefixlen + 7) // 8]
    return struct.pack("!BHIIBBB", family.babel, 0, 0, bits, 1, kind, network.prefixlen) + address


def probe(path: str) -> Family:
    """Which family zebra speaks, asked on a connection that is thrown away; see `ZapiClient.connect` for its danger."""
    with _connect(path) as channel:
        return _probe_on(channel)


def _probe_on(channel: socket.socket) -> Family:
    """No HELLO is said on this connection, so that zebra cleans nothing up for it."""
    channel.sendall(message(_NO_SUCH_COMMAND))
    command = _read_command(channel, 2.0)
    for family in (FAMILIES["B"], FAMILIES["D"]):
        if command == family.error:
            return family
    if command != FAMILIES["A"].error:
        raise ZapiError(f"a zebra that answers {command} is not known")
    # 19 is CAPABILITIES in A, which zebra refuses to take, and HELLO in C, which without a body is ignored.
    channel.sendall(message(FAMILIES["C"].hello))
    return FAMILIES["C"] if _read_command(channel, _PROBE_SILENCE) is None else FAMILIES["A"]


class ZapiClient:
    """One session with zebra. Its routes go when it is closed."""

    def __init__(self, channel: socket.socket, family: Family) -> None:
        self.family = family
        self._channel = channel
        self._probe: socket.socket | None = None
        self._received = bytearray()
        self._errors = 0
        self.acks: list[tuple[Ack, str, float]] = []  # state, prefix, time.monotonic() of its arrival

    @staticmethod
    def connect(path: str, family: str = "") -> "ZapiClient":
        """Probes the family if none is given.

        The probe's connection stays open as long as the session: since 10.2 zebra forgets, without a word, every route
        that is still in its queue (10 ms, unless `zebra work-queue 0`) when any client closes.
        """
        probing = None if family else _connect(path)
        client = ZapiClient(_connect(path), _probe_on(probing) if probing else FAMILIES[family])
        client._probe = probing
        own = client.family
        client.send(hello(own) + (b"" if own.hello_notifies else message(own.notify_request, b"\1")))
        return client

    def __enter__(self) -> "ZapiClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._channel.close()
        if self._probe:
            self._probe.close()

    def send(self, data: bytes) -> float:
        """Writes and returns the moment of the last byte. Reads meanwhile, else both sides could stand still."""
        view = memoryview(data)
        while view:
            readable, writable, _ = select.select([self._channel], [self._channel], [])
            if readable:
                self._read_some()
            if writable:
                try:
                    view = view[self._channel.send(view) :]
                except BlockingIOError:
                    pass  # The kernel has changed its mind; select again.
        return time.monotonic()

    burst = send

    def add(self, prefix: str, ifindex: int, distance: int = 5, tag: int = 100) -> float:
        return self.send(route_add(self.family, prefix, ifindex, distance, tag))

    def delete(self, prefix: str) -> float:
        return self.send(route_delete(self.family, prefix))

    def encode_adds(self, prefixes: Iterable[str], ifindex: int) -> bytes:
        """All in one piece, to be sent by `burst`."""
        return b"".join(route_add(self.family, prefix, ifindex) for prefix in prefixes)

    def encode_deletes(self, prefixes: Iterable[str]) -> bytes:
        return b"".join(route_delete(self.family, prefix) for prefix in prefixes)

    def wait_acks(self, count: int, state: Ack, deadline: float = 30.0) -> float:
        """Until `count` acks of that state have come, in all; the moment of the last one."""
        end = time.monotonic() + deadline
        while sum(ack[0] is state for ack in self.acks) < count:
            left = end - time.monotonic()
            if left <= 0:
                have = sum(ack[0] is state for ack in self.acks)
                raise ZapiError(f"{have} of {count} acks {state.name} within {deadline:g} s")
            if select.select([self._channel], [], [], left)[0]:
                self._read_some()
        return self.acks[-1][2]

    def sync(self, deadline: float = 10.0) -> None:
        """Returns when zebra has handled all that was sent: what it still has to read when a client closes, it drops."""
        before = self._errors
        self.send(message(_NO_SUCH_COMMAND))
        end = time.monotonic() + deadline
        while self._errors == before:
            left = end - time.monotonic()
            if left <= 0:
                raise ZapiError(f"zebra has not answered within {deadline:g} s")
            if select.select([self._channel], [], [], left)[0]:
                self._read_some()

    def _read_some(self) -> None:
        data = self._channel.recv(1 << 18)
        if not data:
            raise ZapiError("zebra closed the connection")
        self._received += data
        now = time.monotonic()
        for command, body in self._messages():
            if command == self.family.error:
                self._errors += 1
            elif command == self.family.owner:
                self.acks.append((*_owner(body), now))

    def _messages(self) -> Iterator[tuple[int, bytes]]:
        offset = 0
        while len(self._received) - offset >= _HEADER.size:
            length, marker, version, _, command = _HEADER.unpack_from(self._received, offset)
            if marker != _MARKER or version != _VERSION or length < _HEADER.size:
                raise ZapiError(f"no ZAPI header: {self._received[offset:offset + 10].hex()}")
            if len(self._received) - offset < length:
                break
            yield command, bytes(self._received[offset + _HEADER.size : offset + length])
            offset += length
        del self._received[:offset]


def _owner(body: bytes) -> tuple[Ack, str]:
    """Newer releases have a source prefix behind the prefix; neither form matters for what is read here."""
    (state,) = struct.unpack_from("=I", body)
    family, length = body[4], body[5]
    size = 4 if family == socket.AF_INET else 16
    return Ack(state), f"{ipaddress.ip_address(body[6:6 + size])}/{length}"


def _connect(path: str) -> socket.socket:
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        channel.connect(path)
    except OSError as error:
        channel.close()
        raise ZapiError(f"{path}: {error}") from error
    channel.setblocking(False)
    return channel


def _read_command(channel: socket.socket, timeout: float) -> int | None:
    """The command of the next ERROR (known by its size: its number is the question); None if none comes in time.

    zebra tells every connection that some client has closed, this one too.
    """
    while (header := _read_exactly(channel, _HEADER.size, timeout)) is not None:
        length, _, _, _, command = _HEADER.unpack(header)
        _read_exactly(channel, length - _HEADER.size, timeout)
        if length == _ERROR_SIZE:
            return int(command)
    return None


def _read_exactly(channel: socket.socket, size: int, timeout: float) -> bytes | None:
    received = b""
    while len(received) < size:
        if not select.select([channel], [], [], timeout)[0]:
            return None
        data = channel.recv(size - len(received))
        if not data:
            raise ZapiError("zebra closed the connection: not version 6 of its protocol")
        received += data
    return received


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes host routes into zebra, and nothing else.")
    parser.add_argument("--socket", default="/run/frr/zserv.api")
    parser.add_argument("--family", default="", choices=["", *FAMILIES], help="default: ask zebra")
    parser.add_argument("--interface", required=True, help="where the hosts are")
    parser.add_argument("--tag", type=int, default=100)
    parser.add_argument("--distance", type=int, default=5)
    parser.add_argument("prefixes", nargs="+", metavar="PREFIX")
    options = parser.parse_args()
    with ZapiClient.connect(options.socket, options.family) as client:
        index = socket.if_nametoindex(options.interface)
        for prefix in options.prefixes:
            client.add(prefix, index, options.distance, options.tag)
        client.wait_acks(len(options.prefixes), Ack.INSTALLED, 5.0)
        print(f"FRR family {client.family.name}: {len(options.prefixes)} routes installed; ^C removes them", flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
    return 0


if __name__ == "__main__":
    sys.exit(main())
