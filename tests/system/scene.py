# SPDX-License-Identifier: Apache-2.0
"""What the system tests have in common: the fabric between two tests, planed on its leaves, and hosts by the dozen."""

import dataclasses
import ipaddress
import re
import shutil
import signal
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lab import Host, Lab, LabError, Node, Planed, TableWatch, frames, wait_until
from lab import zapi_client as zapi

TOPOLOGY = Path(__file__).resolve().parents[1] / "containerlab" / "dual-plane.clab.yaml"
SERVED = "Vlan100"
READY = r"milestone .*name=READY"

# How long a route may take to appear at, or to leave, the far leaf where the test is not about speed: an instrumented
# planed on a busy machine must make it too.
SOON = 10.0

# What a leaf says when something went wrong in planed itself.
_OWN_FAULTS = re.compile(r"(\w+Sanitizer|runtime error:|[Aa]ssertion|terminate called)")


# ---- the fabric between tests ----


class Pool:
    """At most one fabric is up, and it is as good as new whenever a test gets it."""

    def __init__(self) -> None:
        self.lab: Lab | None = None

    def get(self, release: str) -> Lab:
        if self.lab is not None and self.lab.frr != release:
            self.discard()
        if self.lab is None:
            fresh = Lab(TOPOLOGY, frr=release)
            fresh.up()
            self.lab = fresh
        return self.lab

    def clean(self) -> list[str]:
        """Undoes what a test has done, else takes the fabric down; returns what planed did wrong meanwhile."""
        if self.lab is None:
            return []
        faults = stop_all(self.lab)
        try:
            _clean(self.lab)
        except (LabError, AssertionError, OSError, zapi.ZapiError):
            self.discard()
        return faults

    def discard(self) -> None:
        if self.lab is not None:
            self.lab.down()
        self.lab = None


def stop_all(lab: Lab) -> list[str]:
    """Ends every planed as an operator would; what went wrong in them is returned."""
    for leaf in lab.leaves():
        planed = planed_of(leaf)
        if planed is not None and planed.alive:
            planed.send_signal(signal.SIGTERM)
    faults = []
    for leaf in lab.leaves():
        planed = planed_of(leaf)
        if planed is not None and planed.alive:
            code = planed.wait()
            if code != 0:
                faults.append(f"{leaf.name}: planed ended with {code} when it was told to stop")
    return faults + faults_of(lab)


def faults_of(lab: Lab) -> list[str]:
    return [
        f"{leaf.name}: {line}"
        for leaf in lab.leaves()
        if (planed := planed_of(leaf)) is not None
        for line in planed.log().splitlines()
        if _OWN_FAULTS.search(line)
    ]


def is_own_fault(line: str) -> bool:
    return _OWN_FAULTS.search(line) is not None


def logs_of(lab: Lab) -> str:
    parts = []
    for leaf in lab.leaves():
        planed = planed_of(leaf)
        if planed is not None:
            parts.append(f"--- {leaf.name}\n{planed.log()[-6000:]}")
    return "\n".join(parts)


def planed_of(leaf: Node) -> Planed | None:
    try:
        return leaf.planed
    except LabError:
        return None  # None was ever started there.


def _clean(lab: Lab) -> None:
    for leaf in lab.leaves():
        clean_leaf(leaf)
    for host in lab.hosts():
        clean_host(host)
    wait_until(lambda: all(forwards(node) for node in [*lab.leaves(), *lab.hosts()]), 10, what="ports are not up again")
    lab.wait_converged()
    wait_until(lambda: not any(tables_of(node) for node in routers(lab)), 10, what="routes are left over")
    if any(_OWN_FAULTS.search(planed.log()) for leaf in lab.leaves() if (planed := planed_of(leaf))):
        raise LabError("a fault has been reported; the next test needs clean logs")


def clean_leaf(leaf: Node) -> None:
    """The server side anew: no neighbour, no forwarding entry, no setting and no memory survives that."""
    bridges = leaf.json(["ip", "-j", "link", "show", "type", "bridge"])
    leaf.ip_batch([f"link del {bridge['ifname']}" for bridge in bridges])
    shutil.rmtree(leaf.path("/var/lib/planed"), ignore_errors=True)
    purge_zebra(leaf)
    leaf.run(["sh", "/etc/lab/leaf.sh"])


def purge_zebra(leaf: Node) -> None:
    """Takes back what a planed has left in zebra on purpose: a session of its type that ends without being kept."""
    with leaf.vty("zebra") as vty:
        wait_until(lambda: "babel" not in vty.command("show zebra client summary"), 10, what="its session lives")
    with zapi.ZapiClient.connect(leaf.zserv) as client:
        client.send(zapi.message(client.family.client_capabilities, b"\0\0\0\4" + b"\0\0\0\0"))
        client.sync()


def clean_host(host: Host) -> None:
    number = host.name.removeprefix("gpu")
    host.ip_batch(
        [
            "addr flush dev bond0 scope global",
            *(f"link set {port} up" for port in ("eth1", "eth2")),
            f"link set bond0 address 02:00:00:00:00:1{number}",
            "link set bond0 up",
            f"addr add 10.0.0.1{number}/16 dev bond0",
            f"addr add fd00:0:0:1::1{number}/64 dev bond0 nodad",
            "route replace default via 10.0.0.1",
            "route replace default via fd00:0:0:1::1",
            "neigh flush dev bond0",
        ]
    )


def forwards(node: Node) -> bool:
    """Whether every bridge port is up: the kernel may take a second for one that was down a moment ago."""
    return all(port["state"] == "forwarding" for port in node.json(["bridge", "-j", "link", "show"]))


def routers(lab: Lab) -> list[Node]:
    return [*lab.leaves(), lab.spine("a"), lab.spine("b")]


def tables_of(node: Node) -> set[str]:
    """Every prefix that this node's BGP has, of both families."""
    return set(node.bgp_table(4)) | set(node.bgp_table(6))


# ---- planed ----


def planed_config(leaf: Node, interface: dict[str, Any] | None = None, **top: Any) -> dict[str, Any]:
    """The smallest configuration, with what a test adds to the interface or at the top."""
    return {
        "node": {"name": leaf.name, "plane": leaf.name.removeprefix("leaf-")[0]},
        "interfaces": [{"name": SERVED, **(interface or {})}],
        **top,
    }


def start(leaf: Node, config: dict[str, Any] | None = None, args: Sequence[str] = (), ready: bool = True) -> Planed:
    """Starts planed; with `ready`, returns when it has read the kernel and zebra has taken what it wants."""
    before = planed_of(leaf)
    since = len(before.log()) if before else 0
    planed = leaf.start_planed(config or planed_config(leaf), args)
    if ready:
        planed.wait_log(READY, SOON, since)
    return planed


def start_everywhere(lab: Lab, **top: Any) -> None:
    marks = []
    for leaf in lab.leaves():
        before = planed_of(leaf)
        marks.append(len(before.log()) if before else 0)
        leaf.start_planed(planed_config(leaf, **top))
    for leaf, since in zip(lab.leaves(), marks):
        leaf.planed.wait_log(READY, SOON, since)


# ---- hosts ----


def prefix(address: str) -> str:
    return f"{address}/{ipaddress.ip_address(address).max_prefixlen}"


def prefixes(addresses: Iterable[str]) -> list[str]:
    return [prefix(address) for address in addresses]


def own(host: Host) -> list[str]:
    """The host routes that a host's own two addresses become."""
    return prefixes([host.v4, host.v6])


@dataclasses.dataclass(frozen=True)
class Guest:
    """A host that only speaks when the test speaks for it, from behind a real host's port: it answers nobody."""

    number: int

    @property
    def v4(self) -> str:
        return f"10.0.{100 + self.number // 250}.{1 + self.number % 250}"

    @property
    def v6(self) -> str:
        return f"fd00:0:0:1::{0x1000 + self.number:x}"

    @property
    def mac(self) -> str:
        return f"02:00:01:00:{self.number >> 8:02x}:{self.number & 0xFF:02x}"

    @property
    def prefixes(self) -> list[str]:
        return prefixes([self.v4, self.v6])


def guests(count: int, first: int = 0) -> list[Guest]:
    return [Guest(number) for number in range(first, first + count)]


def announce(behind: Host, of: Iterable[Guest], port: str = "eth1") -> None:
    said = [(address, guest.mac) for guest in of for address in (guest.v4, guest.v6)]
    packets = [frames.announcement(ipaddress.ip_address(address), mac) for address, mac in said]
    behind.send(packets, port)


def prefixes_of(of: Iterable[Guest]) -> list[str]:
    return [p for guest in of for p in guest.prefixes]


# ---- waiting ----


def wait_routes(node: Node, wanted: Iterable[str], deadline: float = SOON) -> float:
    """Until the node's BGP and kernel have all of these."""
    wanted = set(wanted)

    def there() -> bool:
        missing = wanted - tables_of(node) or wanted - host_routes(node)
        assert not missing, f"{len(missing)} missing: {sorted(missing)[:5]}"
        return True

    return wait_until(there, deadline, what=f"{node.name} has not got all routes")


def wait_gone(node: Node, unwanted: Iterable[str], deadline: float = SOON) -> float:
    """Until neither BGP nor kernel of the node has any of these."""
    unwanted = set(unwanted)

    def gone() -> bool:
        left = unwanted & (tables_of(node) | host_routes(node))
        assert not left, f"{len(left)} left: {sorted(left)[:5]}"
        return True

    return wait_until(gone, deadline, what=f"{node.name} still has routes")


def host_routes(node: Node) -> set[str]:
    """All /32 and /128 that the kernel of the node has from FRR."""
    return node.fib_hosts(4) | node.fib_hosts(6)


def table_versions(node: Node) -> list[int]:
    """bgpd's counters of changes, one per family."""
    return [int(node.vtysh_json(f"show bgp ipv{afi} unicast json")["tableVersion"]) for afi in (4, 6)]


def assert_silent(watch: TableWatch, of: Iterable[str]) -> None:
    """Not one change of these prefixes was seen by either witness."""
    changes = watch.of(of)
    assert not changes, f"{len(changes)} changes: {changes[:10]}"


def settle(seconds: float = 0.5) -> None:
    """Lets time go by in which nothing must happen; only for tests that watch what does."""
    time.sleep(seconds)
