# SPDX-License-Identifier: Apache-2.0
"""A planed and an FRR bgpd that are EVPN peers, and a speaker that tells bgpd routes of every type."""

import socket
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lab import Lab, Node, Planed, wait_until

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "api"))

from planectl import Ctl  # noqa: E402

TOPOLOGY = Path(__file__).with_name("pair.clab.yaml")
LEAF, TWIN, SPEAKER = "10.66.0.1", "10.66.0.2", "10.66.0.3"
AS = 65000

# A session takes a moment; an instrumented planed on a busy machine must make it too.
SOON = 15.0


class Pair:
    def __init__(self, lab: Lab) -> None:
        self.leaf: Node = lab["leaf"]
        self.twin: Node = lab["twin"]
        self.ctl = Ctl(self.leaf)

    # ---- planed ----

    @staticmethod
    def config(*peers: dict[str, Any], **evpn: Any) -> dict[str, Any]:
        """One peer, the twin, unless others are given."""
        return {
            "node": {"name": "leaf", "plane": "A"},
            "redis": {"endpoint": "off"},
            "evpn": {"router_id": LEAF, "local_as": AS, "peers": list(peers) or [peer()], **evpn},
        }

    def start(self, *peers: dict[str, Any], **evpn: Any) -> Planed:
        return self.leaf.start_planed(self.config(*peers, **evpn))

    @property
    def planed(self) -> Planed:
        return self.leaf.planed

    def reload(self, config: dict[str, Any]) -> None:
        self.planed.write_config(config)
        self.ctl.text("config", "reload")

    def peer(self, address: str = TWIN) -> dict[str, Any]:
        found = [row for row in self.ctl.json("peers") if row["address"] == address]
        assert len(found) == 1, found
        return dict(found[0])

    def routes(self, *words: str) -> list[dict[str, Any]]:
        return list(self.ctl.json("evpn-routes", *words))

    def wait_peer(self, claim: Callable[[dict[str, Any]], bool], what: str, deadline: float = SOON) -> dict[str, Any]:
        def holds() -> bool:
            shown = self.ctl.run("peers", "-o", "json")
            assert shown.returncode == 0, shown.stderr  # Not yet listening.
            row = self.peer()
            assert claim(row), row
            return True

        wait_until(holds, deadline, every=0.05, what=what)
        return self.peer()

    def wait_up(self, sessions: int = 1) -> dict[str, Any]:
        return self.wait_peer(
            lambda row: row["state"] == "established" and row["sessions"] >= sessions and row["end_of_rib"],
            "the session is not up",
        )

    def wait_routes(self, claim: Callable[[list[dict[str, Any]]], bool], what: str) -> list[dict[str, Any]]:
        def holds() -> bool:
            rows = self.routes()
            assert claim(rows), rows
            return True

        wait_until(holds, SOON, every=0.05, what=what)
        return self.routes()

    # ---- FRR ----

    def configure_twin(self, *lines: str) -> None:
        self.twin.vtysh("configure terminal", f"router bgp {AS}", *lines)

    def neighbor(self) -> dict[str, Any]:
        """The leaf as the twin sees it."""
        return dict(self.twin.vtysh_json(f"show bgp neighbors {LEAF} json").get(LEAF) or {})

    def wait_neighbor(self, claim: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any]:
        def holds() -> bool:
            row = self.neighbor()
            assert claim(row), row
            return True

        wait_until(holds, SOON, every=0.05, what=what)
        return self.neighbor()

    def wait_ready(self) -> None:
        """Who connects before bgpd has begun with this neighbour is turned away, and says so."""
        self.wait_neighbor(lambda row: row.get("bgpState") == "Active", "bgpd does not wait for the leaf")

    def wait_established(self) -> dict[str, Any]:
        return self.wait_neighbor(lambda row: row.get("bgpState") == "Established", "bgpd has no session")


def peer(**keys: Any) -> dict[str, Any]:
    return {"address": TWIN, "remote_as": AS, "hold_time": "9s", "connect_retry": "500ms", **keys}


# ---- a speaker that has no session to lose ----

_RD = bytes.fromhex("00010a4200030064")  # 10.66.0.3:100
_ESI = bytes.fromhex("03443839ffff01000001")
_TAG0, _TAG100, _WHOLE_SEGMENT = bytes(4), b"\0\0\0\x64", b"\xff" * 4
_VNI4001 = b"\0\x0f\xa1"
_MAC = bytes.fromhex("020000000012")


def _v4(address: str) -> bytes:
    return socket.inet_pton(socket.AF_INET, address)


def _message(kind: int, body: bytes) -> bytes:
    return b"\xff" * 16 + struct.pack("!HB", 19 + len(body), kind) + body


def _route(kind: int, body: bytes) -> bytes:
    return bytes([kind, len(body)]) + body


def _attribute(flags: int, kind: int, value: bytes) -> bytes:
    return struct.pack("!BBH", flags | 0x10, kind, len(value)) + value


def _update(routes: bytes, communities: bytes) -> bytes:
    reach = struct.pack("!HBB", 25, 70, 4) + _v4(SPEAKER) + b"\0" + routes
    attributes = (
        _attribute(0x80, 14, reach)
        + _attribute(0x40, 1, b"\0")
        + _attribute(0x40, 2, b"")
        + _attribute(0x40, 5, struct.pack("!I", 100))
        + _attribute(0xC0, 16, communities)
    )
    return _message(2, struct.pack("!HH", 0, len(attributes)) + attributes)


_ENCAPSULATION = bytes.fromhex("030c000000000008")
_TARGET = bytes.fromhex("0002fde800000064")
ALL_TYPES = [
    _update(
        _route(1, _RD + _ESI + _WHOLE_SEGMENT + bytes(3)),
        _TARGET + _ENCAPSULATION + bytes.fromhex("0601000000000000"),
    ),
    _update(
        # The profile without L2VNI: tag, label1 0 and the VRF's VNI.
        _route(2, _RD + _ESI + _TAG100 + b"\x30" + _MAC + b"\x20" + _v4("45.0.0.12") + bytes(3) + _VNI4001),
        _TARGET + _ENCAPSULATION,
    ),
    _update(_route(4, _RD + _ESI + b"\x20" + _v4(SPEAKER)), bytes.fromhex("0602443839ffff01") + _ENCAPSULATION),
    _update(
        _route(5, _RD + bytes(10) + _TAG0 + b"\x18" + _v4("45.1.0.0") + bytes(4) + _VNI4001),
        _TARGET + _ENCAPSULATION + bytes.fromhex("0603020000000003"),
    ),
]


class Speaker:
    """Connects to the twin's bgpd from an address beside planed's, and stays until it is closed."""

    def __init__(self, pair: Pair) -> None:
        self._socket = pair.leaf.open_socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.settimeout(SOON)
        self._socket.bind((SPEAKER, 0))
        self._connect()
        capabilities = bytes.fromhex("0206010400190046" + "0206" + "4104") + struct.pack("!I", AS)
        body = struct.pack("!BHH", 4, AS, 90) + _v4(SPEAKER) + bytes([len(capabilities)]) + capabilities
        self._socket.sendall(_message(1, body))
        self._wait_open()
        self._socket.sendall(_message(4, b""))

    def tell(self, *messages: bytes) -> None:
        self._socket.sendall(b"".join(messages))

    def close(self) -> None:
        self._socket.close()

    def _connect(self) -> None:
        end = time.monotonic() + SOON
        while True:
            try:
                self._socket.connect((TWIN, 179))
                return
            except ConnectionRefusedError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def _wait_open(self) -> None:
        heard = b""
        while len(heard) < 19 or len(heard) < 19 + struct.unpack("!H", heard[16:18])[0]:
            chunk = self._socket.recv(4096)
            assert chunk, "bgpd has closed the speaker's connection"
            heard += chunk
        assert heard[18] == 1, f"no OPEN but message type {heard[18]}"
