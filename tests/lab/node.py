# SPDX-License-Identifier: Apache-2.0
"""One node of a lab: commands in it, its FRR, its routes, its planed."""

import ipaddress
import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from . import namespaces
from .errors import LabError
from .frr import Daemons, Release
from .planed import Planed
from .topology import NodeSpec
from .vty import Vty, VtyError

T = TypeVar("T")


class Node:
    """A node that is up. Made by Lab only."""

    def __init__(self, spec: NodeSpec, pid: int, netns: str, folder: Path, release: Release) -> None:
        self.spec = spec
        self.name = spec.name
        self.pid = pid  # of the process that holds the namespaces
        self.netns = netns  # as `ip netns` knows it
        self._folder = folder
        self._daemons = Daemons(self.name, release, self.path("/"), folder, self.popen)
        self._vtys: dict[str, Vty] = {}
        self._planed: Planed | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    # ---- commands and files ----

    def run(
        self, argv: Sequence[str], check: bool = True, input: str | None = None, timeout: float = 60.0
    ) -> "subprocess.CompletedProcess[str]":
        """Runs a command in the node to its end; with `check`, LabError shows what a failing one has said."""
        process = self.popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            output, errors = process.communicate(input or "", timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise LabError(f"{self.name}: {' '.join(argv)}: no end within {timeout:g} s") from None
        if check and process.returncode != 0:
            said = (errors.strip() + "\n" + output.strip()).strip()
            raise LabError(f"{self.name}: {' '.join(argv)}: exit {process.returncode}: {said}")
        return subprocess.CompletedProcess(list(argv), process.returncode, output, errors)

    def popen(self, argv: Sequence[str], env: dict[str, str] | None = None, **kwargs: Any) -> "subprocess.Popen[str]":
        """Starts a command in the node; `pid` is the command's own."""
        command = namespaces.enter_command(self.pid, list(argv))
        environment = {**os.environ, **self.spec.env, **(env or {})}
        kwargs.setdefault("text", True)
        return subprocess.Popen(command, env=environment, **kwargs)

    def json(self, argv: Sequence[str]) -> Any:
        text = self.run(argv).stdout
        return json.loads(text) if text.strip() else []

    def path(self, inside: str) -> Path:
        """A file of the node, as a path that works outside it."""
        return Path(f"/proc/{self.pid}/root{inside}")

    def call(self, function: Callable[[], T]) -> T:
        """Runs a function of this process in the node's network namespace."""
        return namespaces.call_inside(self.pid, function)

    def open_socket(self, family: int, kind: int, protocol: int = 0) -> socket.socket:
        return namespaces.socket_inside(self.pid, family, kind, protocol)

    def sysctl(self, key: str, value: object = None) -> str:
        """Reads a kernel setting of the node's network, or writes it."""
        file = Path(namespaces.sysctl_path(key))

        def access() -> str:
            if value is not None:
                file.write_text(str(value), encoding="utf-8")
            return file.read_text(encoding="utf-8").strip()

        return self.call(access)

    def link(self, interface: str, up: bool) -> None:
        self.run(["ip", "link", "set", interface, "up" if up else "down"])

    def ip_batch(self, commands: Sequence[str], family: str = "") -> None:
        """Many `ip` commands by one process; the first that fails ends it."""
        self.run(["ip", *([family] if family else []), "-batch", "-"], input="\n".join(commands) + "\n")

    # ---- FRR ----

    def vtysh(self, *commands: str) -> str:
        """The real vtysh: text, configuration, everything."""
        return self.run(["vtysh", *(word for c in commands for word in ("-c", c))]).stdout

    def vtysh_json(self, command: str) -> Any:
        """A `show … json` straight from the daemon that answers it; quick enough to poll."""
        return self._ask(lambda vty: vty.json(command), "bgpd" if "bgp" in command.split() else "zebra")

    def vty(self, daemon: str) -> Vty:
        """A session of one's own with a daemon."""
        return self._daemons.vty(daemon)

    @property
    def zserv(self) -> str:
        """Path of zebra's socket, from outside."""
        return str(self.path("/run/frr/zserv.api"))

    @property
    def frr_pids(self) -> dict[str, int]:
        return self._daemons.pids

    def start_frr(self) -> None:
        self._daemons.start_all()

    def stop_frr(self, sig: int = signal.SIGINT) -> None:
        self._daemons.stop_all(sig)

    def restart_frr(self, sig: int = signal.SIGINT) -> None:
        """All daemons, which is what watchfrr does when zebra dies; SIGINT is what FRR's stop script sends."""
        self._daemons.stop_all(sig)
        self._daemons.start_all()

    def kill_daemon(self, name: str, sig: int = signal.SIGKILL) -> None:
        """Returns when it is gone."""
        self._daemons.stop(name, sig)

    def start_daemon(self, name: str) -> None:
        self._daemons.start(name)

    def restart_daemon(self, name: str, sig: int = signal.SIGINT) -> None:
        self._daemons.stop(name, sig)
        self._daemons.start(name)

    def frr_log(self, daemon: str) -> str:
        return self._daemons.log(daemon)

    def bgp_neighbors(self) -> dict[str, str]:
        """Neighbour → state, as bgpd has it."""
        neighbors = self.vtysh_json("show bgp neighbors json")
        return {n: str(v.get("bgpState", "?")) for n, v in neighbors.items() if isinstance(v, dict)}

    def bgp_table(self, afi: int = 4) -> dict[str, list[dict[str, Any]]]:
        """Prefix → paths."""
        table = self.vtysh_json(f"show bgp ipv{afi} unicast json")
        return dict(table.get("routes") or {})

    def bgp(self, prefix: str) -> list[dict[str, Any]]:
        """The paths that bgpd has for a prefix; none when it has none."""
        answer = self.vtysh_json(f"show bgp ipv{_version(prefix)} unicast {prefix} json")
        return list(answer.get("paths") or [])

    def has_bgp(self, prefix: str) -> bool:
        """Whether bgpd has a valid best path for exactly this prefix."""
        return any(path.get("valid") and path.get("bestpath", {}).get("overall") for path in self.bgp(prefix))

    # ---- kernel ----

    def fib(self, prefix: str) -> list[dict[str, Any]]:
        """The kernel's routes for exactly this prefix."""
        routes = self.json(["ip", f"-{_version(prefix)}", "-j", "route", "show", "exact", prefix])
        return [route for route in routes if route.get("dst") != "default" or prefix.endswith("/0")]

    def has_route(self, prefix: str) -> bool:
        """Whether the kernel forwards this prefix, by a route of its own."""
        return any("linkdown" not in route.get("flags", []) for route in self.fib(prefix))

    def fib_hosts(self, afi: int = 4) -> set[str]:
        """All /32 or /128 that the kernel has from zebra, by one command: for tests with many hosts."""
        length = 32 if afi == 4 else 128
        routes = self.json(["ip", f"-{afi}", "-j", "route", "show", "table", "main"])
        ours = (r for r in routes if r.get("protocol") in ("babel", "bgp"))
        return {f"{r['dst']}/{length}" for r in ours if "/" not in r["dst"] and r["dst"] != "default"}

    def neighbors(self, interface: str) -> dict[str, dict[str, Any]]:
        """Address → entry of the neighbour table, both families."""
        return {entry["dst"]: entry for entry in self.json(["ip", "-j", "neigh", "show", "dev", interface])}

    def ifindex(self, interface: str) -> int:
        return self.call(lambda: socket.if_nametoindex(interface))

    def ping(self, address: str, count: int = 1, timeout: float = 1.0) -> bool:
        """Whether an answer came."""
        argv = ["ping", f"-{_version(address)}", "-n", "-q", "-c", str(count), "-W", f"{timeout:g}", "-i", "0.2", address]
        return self.run(argv, check=False, timeout=count * (timeout + 1) + 5).returncode == 0

    # ---- planed ----

    def start_planed(
        self, config: dict[str, Any] | str, args: Sequence[str] = (), env: dict[str, str] | None = None
    ) -> Planed:
        """Writes the configuration and starts planed; it is not waited for (`Planed.wait_log`, or read BGP)."""
        if self._planed is not None and self._planed.alive:
            raise LabError(f"{self.name}: planed runs already, pid {self._planed.pid}")
        config_file = self.path("/etc/planed/planed.yaml")
        self._planed = Planed(self.popen, config_file, self._folder / "planed.log", args, env or {})
        self._planed.write_config(config)
        return self._planed.start()

    @property
    def planed(self) -> Planed:
        if self._planed is None:
            raise LabError(f"{self.name}: planed was not started")
        return self._planed

    def _ask(self, question: Callable[[Vty], T], daemon: str) -> T:
        """Over a session that is kept; a daemon that was restarted meanwhile gets a new one."""
        for attempt in (1, 2):
            try:
                vty = self._vtys.get(daemon) or self.vty(daemon)
                self._vtys[daemon] = vty
                return question(vty)
            except VtyError as error:
                if session := self._vtys.pop(daemon, None):
                    session.close()
                if attempt == 2:
                    raise AssertionError(f"{self.name}: {daemon}: {error}") from error
        raise AssertionError("unreachable")


def _version(prefix: str) -> int:
    return ipaddress.ip_network(prefix, strict=False).version
