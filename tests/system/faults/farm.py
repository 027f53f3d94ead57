# SPDX-License-Identifier: Apache-2.0
"""A leaf with many servers, for two namespaces' price.

The leaf is a node with a bridge (`Vlan100`) and its ports; all servers are in one other node and are no more than
frames: a thread answers ARP and ND for those that are alive, at the port where they are. There is no FRR: a FakeZebra
listens where zebra would, or nobody does.

    with Farm(tmp_path, ports=4) as farm:
        hosts = farm.make_hosts(100)               # spread over the ports
        farm.learn(hosts)                          # neighbours and forwarding entries, as the kernel had learnt them
        farm.cut("swp1")                           # carrier, from the servers' side
"""

import functools
import ipaddress
import os
import selectors
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from lab import Lab, Planed, frames, wait_until
from lab.node import Node
from lab.planed import binary
from support import rtnl
from support.fake_zebra import FakeZebra

BRIDGE = "Vlan100"
GATEWAY4, GATEWAY6 = "10.0.0.1/16", "fd00:0:0:1::1/64"
_ETH_ALL, _ETH_ARP, _ETH_IPV6 = 0x0003, 0x0806, 0x86DD
_PACKET_OUTGOING = 4
READY = r"milestone .*name=READY"
# What a test kills is dead: nobody is asked first because there are many.
_MORTAL = {"routes": {"max_withdraw": {"share": "100%"}}}


@dataclass(frozen=True)
class Server:
    """One host of the farm: both addresses on one MAC, behind one port."""

    v4: str
    v6: str
    mac: str
    port: str

    @property
    def prefixes(self) -> tuple[str, str]:
        return f"{self.v4}/32", f"{self.v6}/128"


@functools.cache
def is_sanitized() -> bool:
    """Whether the planed under test is an instrumented one: slower, and generous with memory."""
    return binary().exists() and b"__asan_init" in binary().read_bytes()


def quick(seconds: float) -> float:
    """A deadline that means something for a plain build, and five times that for an instrumented one."""
    return seconds * (5 if is_sanitized() else 1)


def settle(zebra: FakeZebra, prefixes: Iterable[str], deadline: float = 5.0) -> float:
    """Until zebra holds exactly these; the seconds that took."""
    wanted = set(prefixes)
    every = 0.005 if len(zebra.routes) < 2000 else 0.1  # The look itself must not hold up the zebra that is looked at.
    return wait_until(lambda: zebra.holds_exactly(wanted), quick(deadline), every=every, what="zebra's routes")


def assert_idle(planed: Planed, seconds: float = 1.5, share: float = 0.1) -> None:
    """Over this time planed uses at most this share of one core: it does not spin."""
    before = planed.cpu_seconds()
    time.sleep(seconds)
    used = (planed.cpu_seconds() - before) / seconds
    assert used <= share * (3 if is_sanitized() else 1), f"{used:.0%} of a core while nothing is to be done"


def prefixes_of(servers: Iterable[Server]) -> set[str]:
    return {prefix for server in servers for prefix in server.prefixes}


class Farm:
    """Ports `swp1…` of the leaf lead to `eth1…` of the servers' node, uplinks `up1…` to `fabric1…`."""

    def __init__(self, folder: Path, ports: int = 4, uplinks: int = 0) -> None:
        self.ports = [f"swp{n}" for n in range(1, ports + 1)]
        self.uplinks = [f"up{n}" for n in range(1, uplinks + 1)]
        self.port_ends = {f"swp{n}": f"eth{n}" for n in range(1, ports + 1)}
        self.port_ends |= {f"up{n}": f"fabric{n}" for n in range(1, uplinks + 1)}
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "farm.clab.yaml"
        file.write_text(yaml.safe_dump(self._topology()), encoding="utf-8")
        self._lab = Lab(file)
        self._folder = folder
        self.planeds: list[Planed] = []
        self._alive: dict[str, Server] = {}
        self._answering: Answering | None = None

    def __enter__(self) -> "Farm":
        self._lab.up(wait=False)
        try:
            self._prepare()
        except BaseException:
            self._lab.down()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._answering:
            self._answering.stop()
        self._lab.down()

    @property
    def leaf(self) -> Node:
        return self._lab["leaf"]

    @property
    def servers(self) -> Node:
        return self._lab["servers"]

    @property
    def planed(self) -> Planed:
        return self.planeds[-1]

    @property
    def zserv(self) -> str:
        return self.leaf.zserv

    def start_planed(
        self,
        config: dict[str, Any] | str | None = None,
        args: Sequence[str] = (),
        env: dict[str, str] | None = None,
        by: Sequence[str] = (),
    ) -> Planed:
        """With `Vlan100` served and hosts that may die in any number, unless `config` says otherwise; started `by` a
        command that execs it."""

        def popen(argv: list[str], **kwargs: Any) -> "subprocess.Popen[str]":
            return self.leaf.popen([*by, *argv], **kwargs)

        number = len(self.planeds)
        file = self.leaf.path("/etc/planed/planed.yaml")
        self.planeds.append(Planed(popen, file, self._folder / f"planed{number}.log", args, env or {}))
        if not isinstance(config, str):
            config = {**_MORTAL, **(config or {"interfaces": [{"name": BRIDGE}]})}
        self.planed.write_config(config)
        return self.planed.start()

    # ---- servers ----

    def make_hosts(self, count: int, first: int = 1, ports: Sequence[str] = ()) -> list[Server]:
        """The same number always is the same server; nothing is told to anybody yet."""
        chosen = list(ports) or self.ports
        return [_server(number, chosen[number % len(chosen)]) for number in range(first, first + count)]

    def learn(self, servers: Iterable[Server], state: int = rtnl.REACHABLE) -> None:
        """The servers are alive, and the kernel has learnt them: both addresses, and the port."""
        chosen = list(servers)
        self.revive(chosen)
        ports = {port: self.leaf.ifindex(port) for port in {server.port for server in chosen}}
        bridge = self.leaf.ifindex(BRIDGE)
        batch = rtnl.Batch()
        for server in chosen:
            batch.forwarding(ports[server.port], server.mac)
            batch.neighbor(bridge, server.v4, server.mac, state)
            batch.neighbor(bridge, server.v6, server.mac, state)
        self.send(batch)

    def unlearn(self, servers: Iterable[Server]) -> None:
        """As `ip neigh del` of both addresses; they are dead as well."""
        chosen = list(servers)
        self.kill(chosen)
        bridge = self.leaf.ifindex(BRIDGE)
        batch = rtnl.Batch()
        for server in chosen:
            batch.no_neighbor(bridge, server.v4)
            batch.no_neighbor(bridge, server.v6)
        self.send(batch)

    def revive(self, servers: Iterable[Server]) -> None:
        """They answer from now on, at the port that they say."""
        for server in servers:
            self._alive[server.v4] = self._alive[server.v6] = server

    def kill(self, servers: Iterable[Server]) -> None:
        """They answer no more; nobody is told."""
        for server in servers:
            self._alive.pop(server.v4, None)
            self._alive.pop(server.v6, None)

    def announce(self, servers: Iterable[Server]) -> None:
        """Gratuitous ARP and unsolicited NA, from the server's own port."""
        with self.servers.open_socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
            for server in servers:
                for address in (server.v4, server.v6):
                    packet = frames.announcement(ipaddress.ip_address(address), server.mac)
                    raw.sendto(packet, (self.port_ends[server.port], 0))

    # ---- links ----

    def cut(self, *ports: str) -> None:
        """The other ends go down, all by one command: carrier is lost."""
        self.servers.ip_batch([f"link set {self.port_ends[port]} down" for port in ports])

    def restore(self, *ports: str) -> None:
        self.servers.ip_batch([f"link set {self.port_ends[port]} up" for port in ports])

    def add_bridge(self, name: str, address: str, ports: Sequence[str]) -> None:
        """A second server-facing interface, which takes these ports over."""
        self.leaf.ip_batch(
            [f"link add {name} type bridge", f"addr add {address} dev {name}", f"link set {name} up"]
            + [f"link set {port} master {name}" for port in ports]
        )

    def admin_up(self, port: str) -> bool:
        return "UP" in self.leaf.json(["ip", "-j", "link", "show", port])[0]["flags"]

    def send(self, batch: rtnl.Batch) -> None:
        """Requests to the leaf's kernel."""
        with rtnl.open_socket(self.leaf.open_socket) as channel:
            batch.send(channel)

    # ---- set-up ----

    def _topology(self) -> dict[str, Any]:
        quiet = {"net.ipv6.conf.default.disable_ipv6": "1"}  # The servers are frames; their node says nothing.
        links = [{"endpoints": [f"leaf:{here}", f"servers:{there}"]} for here, there in self.port_ends.items()]
        nodes = {"leaf": {"kind": "linux"}, "servers": {"kind": "linux", "sysctls": quiet}}
        return {"name": "farm", "topology": {"nodes": nodes, "links": links}}

    def _prepare(self) -> None:
        leaf = self.leaf
        leaf.path("/run/frr").mkdir(exist_ok=True)
        leaf.path("/run/frr").chmod(0o755)
        leaf.sysctl("net.ipv4.ip_forward", 1)
        leaf.sysctl("net.ipv6.conf.all.forwarding", 1)
        leaf.ip_batch(
            [f"link add {BRIDGE} address 02:00:5e:00:00:01 type bridge"]
            + [f"addr add {GATEWAY4} dev {BRIDGE}", f"addr add {GATEWAY6} dev {BRIDGE} nodad", f"link set {BRIDGE} up"]
            + [f"link set {port} master {BRIDGE}" for port in self.ports]
        )
        self._answering = Answering(self.servers, {self.port_ends[port]: port for port in self.ports}, self._alive)


class Answering:
    """Answers ARP requests and neighbour solicitations for the living, each at its own port."""

    def __init__(self, node: Node, ports: dict[str, str], alive: dict[str, Server]) -> None:
        self._ports = ports  # eth1 → swp1
        self._alive = alive
        self._raw = node.open_socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_ALL))
        self._raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self._raw.setblocking(False)
        self._ends = os.eventfd(0)
        self._thread = threading.Thread(target=self._run, name="servers", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        os.eventfd_write(self._ends, 1)
        self._thread.join()
        self._raw.close()
        os.close(self._ends)

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._raw, selectors.EVENT_READ)
            selector.register(self._ends, selectors.EVENT_READ)
            while not any(key.fileobj == self._ends for key, _ in selector.select()):
                self._drain()

    def _drain(self) -> None:
        for _ in range(256):
            try:
                frame, (interface, _, kind, *_) = self._raw.recvfrom(2048)
            except BlockingIOError:
                return
            except OSError:
                continue  # ENETDOWN: a port went down.
            if kind != _PACKET_OUTGOING and interface in self._ports:
                self._answer(frame, interface)

    def _answer(self, frame: bytes, interface: str) -> None:
        target = _asked_for(frame)
        server = self._alive.get(target) if target else None
        if server is None or self._ports[interface] != server.port:
            return
        reply = _advertisement(frame, server) if ":" in target else _arp_reply(frame, server)
        try:
            self._raw.sendto(reply, (interface, 0))
        except OSError:
            pass  # The port went down just now.


def _asked_for(frame: bytes) -> str:
    (kind,) = struct.unpack_from("!H", frame, 12)
    if kind == _ETH_ARP and frame[20:22] == b"\0\1":
        return str(ipaddress.IPv4Address(frame[38:42]))
    if kind == _ETH_IPV6 and len(frame) >= 78 and frame[20] == 58 and frame[54] == 135:
        return str(ipaddress.IPv6Address(frame[62:78]))
    return ""


def _arp_reply(question: bytes, server: Server) -> bytes:
    own, asker = frames.parse_mac(server.mac), question[22:32]
    head = question[6:12] + own + question[12:20] + b"\0\2"
    return (head + own + ipaddress.IPv4Address(server.v4).packed + asker).ljust(60, b"\0")


def _advertisement(question: bytes, server: Server) -> bytes:
    """Solicited and overriding, to whoever has asked (RFC 4861 section 4.4)."""
    own, asker = frames.parse_mac(server.mac), question[22:38]
    target = ipaddress.IPv6Address(server.v6).packed
    body = struct.pack("!BBHI", 136, 0, 0, 0x60000000) + target + b"\2\1" + own
    pseudo = target + asker + struct.pack("!II", len(body), 58)
    body = body[:2] + struct.pack("!H", _checksum(pseudo + body)) + body[4:]
    header = struct.pack("!IHBB", 6 << 28, len(body), 58, 255) + target + asker
    return question[6:12] + own + struct.pack("!H", _ETH_IPV6) + header + body


def _checksum(data: bytes) -> int:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _server(number: int, port: str) -> Server:
    assert 0 < number < 0xFA00, number
    high, low = 1 + number // 250, 1 + number % 250
    v6 = ipaddress.ip_address(f"fd00:0:0:1::{high:x}:{low:x}")  # As text it is shortened elsewhere than one would think.
    return Server(v4=f"10.0.{high}.{low}", v6=str(v6), mac=f"02:00:00:00:{high:02x}:{low:02x}", port=port)
