# SPDX-License-Identifier: Apache-2.0
"""A whole lab: topology file in, running nodes out, and everything gone again afterwards."""

import itertools
import os
import shlex
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import state, topology
from .errors import LabError
from .frr import Release, release
from .host import Host
from .namespaces import Holder
from .node import Node
from .topology import LinkSpec, NodeSpec, Topology
from .wait import wait_until
from .watch import TableWatch

_COUNTER = itertools.count(1)
_NO_FRR = Release(name="none", root="")


class Lab:
    """One topology, up or down. Several may be up at once; each only knows its own things."""

    def __init__(
        self,
        file: str | os.PathLike[str],
        frr: str = "8.4",
        name: str | None = None,
        keep: bool = False,
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.topology: Topology = topology.load(file)
        self.frr = frr
        self.name = name or f"{self.topology.name}-{os.getpid()}-{next(_COUNTER)}"
        self.nodes: dict[str, Node] = {}
        self._keep = keep
        self._progress = progress
        self._state: state.LabState | None = None
        self._holders: dict[str, Holder] = {}

    @staticmethod
    def attach(file: str | os.PathLike[str], name: str | None = None) -> "Lab":
        """A lab that another process has brought up and kept: its nodes can be used, its daemons not controlled."""
        found = state.LabState.read(name or topology.load(file).name)
        if found is None or not found.alive:
            raise LabError(f"lab {name or topology.load(file).name} is not up")
        lab = Lab(file, frr=found.frr, name=found.name, keep=True)
        lab._state = found
        lab.nodes = {
            spec.name: lab._node(spec, found.holders[spec.name].pid, _NO_FRR) for spec in lab.topology.nodes.values()
        }
        return lab

    def __enter__(self) -> "Lab":
        self.up()
        return self

    def __exit__(self, *_: object) -> None:
        self.down()

    def __getitem__(self, name: str) -> Node:
        if name not in self.nodes:
            raise LabError(f"lab {self.name} has no node {name} (or is not up)")
        return self.nodes[name]

    @property
    def folder(self) -> Path:
        return state.root() / self.name

    def up(self, wait: bool = True) -> None:
        """Brings everything up; on any fault takes it all down again and raises LabError."""
        runs_frr = any(node.runs_frr for node in self.topology.nodes.values())
        the_release = release(self.frr, self._progress) if runs_frr else _NO_FRR
        self._claim()
        try:
            self._make_nodes(the_release)
            self._make_links()
            self._boot()
            if wait:
                self.wait_converged()
        except BaseException:
            self.down()
            raise

    def down(self) -> None:
        """Ends every process in the lab's namespaces and removes them. Calling it twice is fine."""
        if self._state is None:
            return
        state.remove(self._state)
        for holder in self._holders.values():
            holder.process.wait()
        self.nodes, self._holders, self._state = {}, {}, None

    def host(self, name: str) -> Host:
        node = self[name]
        if not isinstance(node, Host):
            raise LabError(f"{name} is no host")
        return node

    def hosts(self) -> list[Host]:
        return [node for node in self.nodes.values() if isinstance(node, Host)]

    def leaves(self, plane: str = "") -> list[Node]:
        return [node for name, node in self.nodes.items() if name.startswith(f"leaf-{plane}")]

    def spine(self, plane: str) -> Node:
        return self[f"spine-{plane}"]

    def peer(self, node: str, interface: str) -> tuple[str, str]:
        """The other end of a link: node and interface."""
        for link in self.topology.links:
            for here, there in (link.ends, link.ends[::-1]):
                if (here.node, here.interface) == (node, interface):
                    return there.node, there.interface
        raise LabError(f"no link at {node}:{interface}")

    def watch(self, node: str) -> TableWatch:
        return TableWatch(self[node])

    def wait_converged(self, deadline: float = 30.0) -> float:
        """Until every BGP session is established; the seconds that took."""

        def sessions_missing() -> list[str]:
            states = ((node.name, n, s) for node in self._routers() for n, s in node.bgp_neighbors().items())
            return [f"{node} {neighbor} {s}" for node, neighbor, s in states if s != "Established"]

        def converged() -> bool:
            missing = sessions_missing()
            assert not missing, missing
            return True

        return wait_until(converged, deadline, every=0.05, what="BGP is not established")

    def _routers(self) -> list[Node]:
        return [node for node in self.nodes.values() if node.spec.runs_frr]

    # ---- bringing up ----

    def _claim(self) -> None:
        record = state.LabState(
            name=self.name,
            topology=str(self.topology.path),
            frr=self.frr,
            owner=state.Process.of(os.getpid()),
            netns={name: self._netns(name) for name in self.topology.nodes},
        )
        state.claim(record)
        self._state = record

    def _netns(self, node: str) -> str:
        return "-".join(part for part in (self.topology.prefix, self.name, node) if part)

    def _make_nodes(self, the_release: Release) -> None:
        assert self._state
        for spec in self.topology.nodes.values():
            extra = the_release.setup() if spec.runs_frr else ""
            holder = Holder.start(spec.hostname, spec.binds, spec.sysctls, extra)
            self._holders[spec.name] = holder
            self._state.holders[spec.name] = state.Process.of(holder.pid)
            self._state.write()
        for name, holder in self._holders.items():
            holder.wait_ready(name)
            self._state.holders[name] = state.Process.of(holder.pid)
            _ip("netns", "attach", self._netns(name), str(holder.pid))
            self.nodes[name] = self._node(self.topology.nodes[name], holder.pid, the_release)
        if self._keep:
            self._state.keep = True
        self._state.write()

    def _node(self, spec: NodeSpec, pid: int, the_release: Release) -> Node:
        folder = self.folder / spec.name
        folder.mkdir(parents=True, exist_ok=True)
        is_host = spec.kind == "linux" and not spec.runs_frr
        return (Host if is_host else Node)(spec, pid, self._netns(spec.name), folder, the_release)

    def _make_links(self) -> None:
        if self.topology.links:
            _ip("-batch", "-", input="".join(self._link_line(link) for link in self.topology.links))
        for name, spec in self.topology.nodes.items():
            self.nodes[name].ip_batch(self._port_lines(spec))

    def _link_line(self, link: LinkSpec) -> str:
        """Both ends are born in their namespaces, so that no name is ever taken on the machine itself."""
        first, second = (
            f"name {end.interface} {f'address {end.mac} ' if end.mac else ''}mtu {link.mtu} netns {self._netns(end.node)}"
            for end in link.ends
        )
        return f"link add {first} type veth peer {second}\n"

    def _port_lines(self, spec: NodeSpec) -> list[str]:
        ports = [end.interface for link in self.topology.links for end in link.ends if end.node == spec.name]
        lines = [f"link set {port} up" for port in ports]
        if spec.kind == "bridge":
            lines = [f"link add {spec.name} type bridge", f"link set {spec.name} up"] + lines
            lines += [f"link set {port} master {spec.name}" for port in ports]
        return lines

    def _boot(self) -> None:
        """Daemons and `exec` lines of all nodes at once, except where a node waits for another."""
        waiting = dict(self.topology.nodes)
        booted: set[str] = set()
        with ThreadPoolExecutor(max_workers=len(waiting)) as pool:
            while waiting:
                ready = [s for s in waiting.values() if booted.issuperset(s.wait_for)]
                if not ready:
                    raise LabError(f"topology.nodes: these wait for each other: {', '.join(waiting)}")
                list(pool.map(self._boot_node, ready))
                booted |= {spec.name for spec in ready}
                waiting = {n: s for n, s in waiting.items() if n not in booted}

    def _boot_node(self, spec: NodeSpec) -> None:
        node = self.nodes[spec.name]
        time.sleep(spec.startup_delay)
        if spec.runs_frr:
            node.start_frr()
        for line in spec.exec:
            node.run(shlex.split(line))


def _ip(*arguments: str, input: str | None = None) -> None:
    done = subprocess.run(["ip", *arguments], check=False, capture_output=True, text=True, input=input)
    if done.returncode != 0:
        raise LabError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
