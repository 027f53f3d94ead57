# SPDX-License-Identifier: Apache-2.0
"""Two leaves of two planes that share the Ethernet segments of two servers, and what each of them makes of a host."""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab import Host, Lab, Node, Planed, holds_for, wait_until

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "api"))

from planectl import Ctl  # noqa: E402

TOPOLOGY = Path(__file__).with_name("twins.clab.yaml")
AS = 65000
ADDRESS = {"leaf-a": "10.66.0.1", "leaf-b": "10.66.0.2"}
AUX = "aux0"
PORTS = ("eth1", "eth2")  # Of a server.
VIA_REFLECTOR = {"leaf-a": "10.67.1.9", "leaf-b": "10.67.2.9"}

# A session, a sync and a route take a moment; instrumented planeds on a busy machine must make it too.
SOON = 20.0


class Twins:
    def __init__(self, lab: Lab) -> None:
        self.a: Node = lab["leaf-a"]
        self.b: Node = lab["leaf-b"]
        self.reflector: Node = lab["reflector"]
        self.server: Host = lab.host("gpu1")
        self.other: Host = lab.host("gpu2")

    @property
    def leaves(self) -> tuple[Node, Node]:
        return self.a, self.b

    # ---- planed ----

    def config(self, leaf: Node, *, reflected: bool = False, refresh: str = "10m", **evpn: Any) -> dict[str, Any]:
        far = ADDRESS["leaf-b" if leaf is self.a else "leaf-a"]
        peer = VIA_REFLECTOR[leaf.name] if reflected else far
        return {
            "node": {"name": leaf.name, "plane": leaf.name[-1]},
            "redis": {"endpoint": "off"},
            "interfaces": [{"name": "Vlan100"}],
            "learning": {"refresh": refresh, "probe_attempts": 3},
            "evpn": {
                "router_id": ADDRESS[leaf.name],
                "local_as": AS,
                # One of them listens, the other connects: no collision takes time.
                "listen": [] if reflected or leaf is self.b else [ADDRESS["leaf-a"]],
                "peers": [
                    {
                        "address": peer,
                        "remote_as": AS,
                        "hold_time": "9s",
                        "connect_retry": "500ms",
                        "passive": leaf is self.a and not reflected,
                    }
                ],
                "startup_delay": "3s",
                "df_wait": "1s",
                "vrfs": [{"vrf": "default", "vni": 100, "route_targets": [f"{AS}:100"]}],
                "segments": [self.segment(leaf, number) for number in (1, 2)],
                **evpn,
            },
        }

    def segment(self, leaf: Node, number: int) -> dict[str, Any]:
        return {
            "port": f"swp{number}",
            "system_mac": "44:38:39:ff:ff:01",
            "id": number,
            "df": {"preference": 200 if leaf is self.a else 100},
        }

    def start(self, leaf: Node, **config: Any) -> Planed:
        return leaf.start_planed(self.config(leaf, **config))

    def start_both(self, **config: Any) -> None:
        for leaf in self.leaves:
            self.start(leaf, **config)
        for leaf in self.leaves:
            self.wait_up(leaf)

    def reload(self, leaf: Node, **config: Any) -> None:
        leaf.planed.write_config(self.config(leaf, **config))
        Ctl(leaf).text("config", "reload")

    def wait_up(self, leaf: Node) -> None:
        def holds() -> bool:
            shown = Ctl(leaf).run("peers", "-o", "json")
            assert shown.returncode == 0, shown.stderr  # Not yet listening.
            rows = Ctl(leaf).json("peers")
            assert all(row["state"] == "established" and row["end_of_rib"] for row in rows), rows
            return True

        wait_until(holds, SOON, every=0.05, what=f"{leaf.name}: the session is not up")

    # ---- the server's bond ----

    def speaks_by(self, host: Host, port: str) -> None:
        """All that the host says leaves by this port; what comes in by either is taken. The bond of a server chooses so
        by its hash, and by the state of its links. The other ports are no part of the bridge that stands for the bond,
        have its MAC, and answer nobody."""
        mac = host.mac
        for each in PORTS:
            host.sysctl(f"net.ipv6.conf.{each}.disable_ipv6", 1)  # It would say that it has a link-local address.
            if each == port:
                host.run(["ip", "link", "set", each, "master", "bond0"])
            else:
                host.run(["ip", "link", "set", each, "nomaster"])
                host.run(["ip", "link", "set", each, "address", mac])
                host.sysctl(f"net.ipv4.conf.{each}.arp_ignore", 1)
                # What it said by that port until now, as it was made, is a sign of life for a minute.
                leaf = self.a if each == "eth1" else self.b
                leaf.run(["bridge", "fdb", "del", mac, "dev", f"swp{host.name[-1]}", "master"], check=False)
        host.run(["ip", "link", "set", "bond0", "address", mac])

    def share(self, host: Host, **config: Any) -> None:
        """Both leaves run; leaf-a hears the host, leaf-b knows it by its word."""
        self.speaks_by(host, "eth1")
        self.start_both(**config)
        host.announce()
        self.wait_synced([host.v4, host.v6])

    @contextmanager
    def none_leaves(self, *addresses: str) -> Iterator[None]:
        """Meanwhile the kernel of neither leaf loses a route to one of these, not even for a moment."""
        with _RouteMonitor(self.a) as at_a, _RouteMonitor(self.b) as at_b:
            yield
            lost = [line for monitor in (at_a, at_b) for line in monitor.deleted() if set(line.split()) & set(addresses)]
        assert not lost, lost

    def assert_stays(self, leaf: Node, host: Host, duration: float) -> None:
        """Its routes do not leave this leaf for so long."""
        prefixes = [prefix_of(host.v4), prefix_of(host.v6)]
        holds_for(lambda: all(map(leaf.has_route, prefixes)), duration, every=0.05, what=f"{leaf.name} has {prefixes}")

    # ---- what a leaf makes of a host ----

    def host(self, leaf: Node, address: str) -> dict[str, Any] | None:
        found = [row for row in Ctl(leaf).json("hosts") if row["address"] == address]
        return dict(found[0]) if found else None

    def wait_host(self, leaf: Node, address: str, deadline: float = SOON, **claims: Any) -> dict[str, Any]:
        def holds() -> bool:
            row = self.host(leaf, address)
            assert row is not None, f"{leaf.name} does not know {address}"
            assert {key: row[key] for key in claims} == claims, row
            return True

        wait_until(holds, deadline, every=0.05, what=f"{leaf.name}: {address} is not {claims}")
        return self.host(leaf, address) or {}

    def wait_route(self, leaf: Node, *addresses: str, deadline: float = SOON) -> None:
        for address in addresses:
            wait_until(lambda: leaf.has_route(prefix_of(address)), deadline, what=f"{leaf.name} has no {address}")

    def wait_no_route(self, leaf: Node, *addresses: str, deadline: float = SOON) -> None:
        for address in addresses:
            wait_until(lambda: not leaf.has_route(prefix_of(address)), deadline, what=f"{leaf.name} keeps {address}")

    def wait_synced(self, addresses: Iterable[str]) -> None:
        """leaf-a knows them itself, leaf-b by its word; both have their routes."""
        for address in addresses:
            self.wait_route(self.a, address)
            self.wait_host(self.b, address, origin="evpn", eligible=True)
            self.wait_route(self.b, address)


class _RouteMonitor:
    """What `ip monitor` says, from when it listens."""

    _MARK = "192.0.2.1"

    def __init__(self, leaf: Node) -> None:
        self._leaf = leaf
        self._file = leaf.path("/run/routes.log")

    def __enter__(self) -> "_RouteMonitor":
        with self._file.open("w", encoding="utf-8") as log:
            self._process = self._leaf.popen(["ip", "-o", "monitor", "route"], stdin=subprocess.DEVNULL, stdout=log)
        wait_until(self._hears, SOON, every=0.05, what=f"{self._leaf.name}: ip monitor says nothing")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def deleted(self) -> list[str]:
        """Until now: the kernel tells of the mark last."""
        before = self._text().count(self._MARK)
        wait_until(lambda: self._hears() and self._text().count(self._MARK) > before, SOON, every=0.05)
        return [f"{self._leaf.name}: {line}" for line in self._text().splitlines() if line.startswith("Deleted")]

    def _hears(self) -> bool:
        self._leaf.run(["ip", "route", "replace", f"{self._MARK}/32", "dev", "lo"])
        self._leaf.run(["ip", "route", "del", f"{self._MARK}/32", "dev", "lo"])
        return self._MARK in self._text()

    def _text(self) -> str:
        return self._file.read_text(encoding="utf-8")


def prefix_of(address: str) -> str:
    return f"{address}/{128 if ':' in address else 32}"
