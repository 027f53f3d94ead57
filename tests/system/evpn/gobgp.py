# SPDX-License-Identifier: Apache-2.0
"""GoBGP in a node, in place of another leaf or as a route reflector: the daemon, and what its client says and is told."""

import json
import subprocess
from collections.abc import Sequence
from typing import Any

import yaml
from lab import Node, wait_until
from twins import AS, SOON

VNI = 100
TARGET = f"{AS}:{VNI}"


class Gobgp:
    """`peers` connect to it. `reflects`: what one of them tells is told to the others."""

    def __init__(
        self, node: Node, router_id: str, peers: Sequence[str], *, reflects: bool = False, restarts: bool = False
    ) -> None:
        self._node = node
        self.address = router_id
        self._config = {
            "global": {"config": {"as": AS, "router-id": router_id}},
            "neighbors": [self._neighbor(peer, reflects, restarts) for peer in peers],
        }
        self._process: "subprocess.Popen[str] | None" = None

    def _neighbor(self, peer: str, reflects: bool, restarts: bool) -> dict[str, Any]:
        family: dict[str, Any] = {"config": {"afi-safi-name": "l2vpn-evpn"}}
        neighbor: dict[str, Any] = {
            "config": {"neighbor-address": peer, "peer-as": AS},
            "transport": {"config": {"passive-mode": True}},
            "timers": {"config": {"hold-time": 9, "keepalive-interval": 3}},
            "afi-safis": [family],
        }
        if reflects:
            reflector = {"route-reflector-client": True, "route-reflector-cluster-id": self.address}
            neighbor["route-reflector"] = {"config": reflector}
        if restarts:  # And then it ends its table with an End-of-RIB.
            neighbor["graceful-restart"] = {"config": {"enabled": True, "restart-time": 20}}
            family["mp-graceful-restart"] = {"config": {"enabled": True}}
        return neighbor

    # ---- the daemon ----

    def start(self) -> None:
        """Returns when it waits for its peers."""
        self._node.path("/run/gobgpd.yaml").write_text(yaml.safe_dump(self._config), encoding="utf-8")
        with self._node.path("/run/gobgpd.log").open("a", encoding="utf-8") as log:
            self._process = self._node.popen(
                ["gobgpd", "-t", "yaml", "-f", "/run/gobgpd.yaml", "--pprof-disable", "-l", "debug"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        wait_until(self._has_neighbors, SOON, every=0.05, what=f"{self._node.name}: gobgpd does not answer")

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def log(self) -> str:
        return self._node.path("/run/gobgpd.log").read_text(encoding="utf-8", errors="replace")

    def assert_lives(self) -> None:
        assert self._process is not None and self._process.poll() is None, self.log()[-3000:]

    def _has_neighbors(self) -> bool:
        self.assert_lives()
        done = self._node.run(["gobgp", "neighbor", "-j"], check=False)
        return done.returncode == 0 and len(json.loads(done.stdout) or []) == len(self._config["neighbors"])

    # ---- its routes ----

    def tell_segment(self, number: int) -> None:
        """As a leaf that has this server: types 1 and 4."""
        self.say("add", "a-d", *self.segment_ad(number), "rt", TARGET, "encap", "vxlan", "esi-label", "0")
        self.say("add", "esi", self.address, *esi(number), "rd", f"{self.address}:0", "encap", "vxlan")

    def segment_ad(self, number: int) -> list[str]:
        return [*esi(number), "etag", "4294967295", "label", "0", "rd", f"{self.address}:0"]

    def tell_host(self, mac: str, address: str, number: int) -> None:
        self.say("add", "macadv", *self.host(mac, address, number), "rt", TARGET, "encap", "vxlan")

    def host(self, mac: str, address: str, number: int) -> list[str]:
        return [mac, address, *esi(number), "etag", "0", "label", f"{VNI}", "rd", f"{self.address}:{VNI}"]

    def say(self, *words: str) -> None:
        """`gobgp global rib -a evpn WORD…`; to delete what is not there is no error."""
        self._node.run(["gobgp", "global", "rib", "-a", "evpn", *words])

    def table(self) -> dict[str, dict[str, Any]]:
        """Route → what it is made of, its communities and its next hop; of several paths the first."""
        shown = self._node.json(["gobgp", "global", "rib", "-a", "evpn", "-j"]) or {}
        return {name: _told(paths[0]) for name, paths in shown.items()}


def _told(path: dict[str, Any]) -> dict[str, Any]:
    attributes = {each["type"]: each for each in path["attrs"]}
    return {
        "route": path["nlri"]["value"],
        "communities": attributes[16]["value"],
        "next_hop": attributes[14]["nexthop"],
    }


def esi(number: int) -> list[str]:
    """Of a server, as its client is told."""
    return ["esi", "MAC", "44:38:39:ff:ff:01", str(number)]


def shown_esi(number: int) -> str:
    return f"ESI_MAC | system mac 44:38:39:ff:ff:01, local discriminator {number}"
