# SPDX-License-Identifier: Apache-2.0
"""The story that tests/demo tells: what a host in a two-plane fabric sees of planed, each step observed and timed.

Nothing is told that was not read back: from bgpd and the kernel of the leaf at the far end, from both spines, or from the
host itself. A step that is not seen in time ends the demo with exit code 1.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parent.parent)

from lab import Host, Lab, LabError, Node, TableWatch, Timeout, state, wait_until  # noqa: E402
from lab.planed import REPO, binary  # noqa: E402

TOPOLOGY = REPO / "tests/containerlab/dual-plane.clab.yaml"
NAME = "demo"
PLANES = ("a", "b")
GATEWAY_MAC = "02:00:00:00:01:00"
READY = r"milestone .*name=READY"
SEEN = 10.0  # Seconds that a step may take on a busy machine; what is printed is what it took.
_BOLD, _GREEN, _RED, _PLAIN = ("\033[1m", "\033[32m", "\033[31m", "\033[0m") if sys.stdout.isatty() else ("",) * 4


def main() -> int:
    options = _arguments()
    if options.down:
        return _down()
    _take_down_leftover()
    lab = Lab(TOPOLOGY, frr=options.frr, name=NAME, keep=True, progress=lambda text: print(f"  {text}", flush=True))
    begun = time.monotonic()
    try:
        _Story(lab).tell()
    except (LabError, Timeout, AssertionError) as error:
        print(f"\n{_RED}not seen:{_PLAIN} {error}", file=sys.stderr)
        _show_logs(lab)
        lab.down()
        return 1
    except BaseException:  # ^C, or a bug of the demo itself: either way nothing is left behind.
        lab.down()
        raise
    print(f"\n{_GREEN}All of it was seen{_PLAIN}, in {time.monotonic() - begun:.1f} s.")
    if options.keep:
        _print_ways_to_look()
    else:
        lab.down()
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="demo", description="planed's main job on real parts")
    parser.add_argument("--frr", default="8.4", choices=["8.4", "10.3"])
    parser.add_argument("--keep", action="store_true", help="leave the fabric up")
    parser.add_argument("--down", action="store_true", help="take a fabric that was kept down")
    return parser.parse_args()


class _Story:
    """The steps, in order; each relies on what the one before has left."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._steps = 0

    def tell(self) -> None:
        self._bring_up()
        self._start_planed()
        self._hosts_appear()
        self._proxy_arp_answers()
        self._port_is_cut()
        self._port_returns()
        self._planed_is_killed()
        self._planectl_tells()

    # ---- the steps ----

    def _bring_up(self) -> None:
        self._head("A fabric of two planes comes up: 2 spines, 4 leaves, 4 hosts, no link between the planes")
        begun = time.monotonic()
        self._lab.up()
        version = self._lab["leaf-a1"].vtysh("show version").split("(")[0].strip()
        self._say(time.monotonic() - begun, f"10 nodes, {version}, every BGP session established")

    def _start_planed(self) -> None:
        self._head("planed starts on every leaf")
        begun = time.monotonic()
        for leaf in self._lab.leaves():
            leaf.start_planed(_config(leaf))
        for leaf in self._lab.leaves():
            self._wait(lambda leaf=leaf: _serves(leaf), f"{leaf.name}: planed does not take Vlan100 over")
        self._say(time.monotonic() - begun, "proxy ARP is on at Vlan100 of each leaf, set by planed")
        for leaf in self._lab.leaves():
            assert not leaf.bgp_table(4) and not leaf.bgp_table(6), f"{leaf.name}: routes before any host was heard"
        self._say(None, "no host has spoken yet, and no leaf has a host route")

    def _hosts_appear(self) -> None:
        self._head("Each host says once, on both its ports, who it is (gratuitous ARP, unsolicited NA)")
        for host in self._lab.hosts():
            far = {plane: self._far_leaf(host, plane) for plane in PLANES}
            prefixes = _prefixes(host)
            with ExitStack() as stack:
                watches = {plane: stack.enter_context(TableWatch(node)) for plane, node in far.items()}
                begun = time.monotonic()
                host.announce()
                self._wait(
                    lambda: all(node.has_bgp(p) and node.has_route(p) for node in far.values() for p in prefixes),
                    f"{host.name} has not arrived everywhere",
                )
            for plane, watch in watches.items():
                times = ", ".join(f"{p} {_ms(_first(watch, p) - begun)}" for p in prefixes)
                self._say(None, f"{host.name} in plane {plane}: in the FIB of {far[plane].name}: {times}")
        self._planes_are_apart()

    def _planes_are_apart(self) -> None:
        """By the AS paths: what a spine knows comes from its own plane's leaves."""
        for plane in PLANES:
            own = {str(leaf.vtysh_json("show bgp ipv4 unicast json")["localAS"]) for leaf in self._lab.leaves(plane)}
            for prefix, paths in self._lab.spine(plane).bgp_table(4).items():
                for path in paths:
                    assert path["path"] in own, f"spine-{plane}: {prefix} by {path['path']}, no leaf of this plane"
        counts = " and ".join(f"{len(self._lab.spine(p).bgp_table(4))} at spine-{p}" for p in PLANES)
        self._say(None, f"IPv4 host routes: {counts}, none of them by an AS of the other plane")

    def _proxy_arp_answers(self) -> None:
        gpu1, gpu3 = self._lab.host("gpu1"), self._lab.host("gpu3")
        self._head("gpu1 asks for gpu3 by ARP, as if it were on the same wire: the leaves answer with the gateway's MAC")
        reply = gpu1.run(["arping", "-c", "1", "-w", "2", "-I", "bond0", gpu3.v4], check=False).stdout
        assert GATEWAY_MAC.lower() in reply.lower(), f"no proxied answer for {gpu3.v4}: {reply}"
        self._say(None, f"{gpu3.v4} is at {GATEWAY_MAC}")
        silent = gpu1.run(["arping", "-c", "2", "-w", "2", "-I", "bond0", "10.0.0.99"], check=False)
        assert silent.returncode != 0, f"somebody answers for 10.0.0.99, which no host has: {silent.stdout}"
        self._say(None, "10.0.0.99, which no host has, is answered by nobody")
        self._say(gpu1.ping_until(gpu3.v4, SEEN), f"gpu1 pings gpu3 ({gpu3.v4}) across the fabric")

    def _port_is_cut(self) -> None:
        gpu1, gpu3 = self._lab.host("gpu1"), self._lab.host("gpu3")
        prefixes = _prefixes(gpu1)
        far = self._far_leaf(gpu1, "a")
        self._head("gpu1's port in plane a is cut")
        with self._watched("spine-a", "spine-b", far.name) as watches:
            updates = self._updates("b")
            begun = time.monotonic()
            gpu1.cut("eth1")
            self._wait(lambda: not any(far.has_route(p) or far.has_bgp(p) for p in prefixes), "plane a has not withdrawn")
            by_b = gpu1.ping_until(gpu3.v4, SEEN)
        for name in ("spine-a", far.name):
            times = ", ".join(f"{p} {_ms(_last_removal(watches[name], p) - begun)}" for p in prefixes)
            self._say(None, f"plane a: gone from the FIB of {name}: {times}")
        watches["spine-b"].assert_silent()
        assert self._updates("b") == updates, f"plane b heard BGP updates: {updates} before, {self._updates('b')} now"
        self._say(None, f"plane b never noticed: {watches['spine-b'].polls} looks at spine-b, no change, no BGP update")
        self._say(by_b, "gpu1 still pings gpu3, through plane b")

    def _port_returns(self) -> None:
        gpu1, gpu3 = self._lab.host("gpu1"), self._lab.host("gpu3")
        prefixes = _prefixes(gpu1)
        far = self._far_leaf(gpu1, "a")
        self._head("The port returns, and gpu1 says so")
        with self._watched(far.name, "spine-b") as watches:
            begun = time.monotonic()
            gpu1.restore("eth1")
            wait_until(lambda: self._carrier("leaf-a1", "swp1"), SEEN, what="leaf-a1: swp1 has no carrier")
            gpu1.announce()
            self._wait(lambda: all(far.has_bgp(p) and far.has_route(p) for p in prefixes), "plane a has not come back")
        times = ", ".join(f"{p} {_ms(_first(watches[far.name], p) - begun)}" for p in prefixes)
        self._say(None, f"plane a: back in the FIB of {far.name}: {times}")
        watches["spine-b"].assert_never_left(prefixes)
        self._say(gpu1.ping_until(gpu3.v4, SEEN), "gpu1 pings gpu3")

    def _planed_is_killed(self) -> None:
        self._head("planed on leaf-a1 is killed (SIGKILL) and started again")
        leaf = self._lab["leaf-a1"]
        alive = [p for name in ("gpu1", "gpu2") for p in _prefixes(self._lab.host(name))]
        with self._watched("spine-a") as watches:
            begun = time.monotonic()
            leaf.planed.kill()
            logged = len(leaf.planed.log())
            held = sum(leaf.has_bgp(p) for p in alive)
            leaf.planed.start()
            leaf.planed.wait_log(READY, SEEN, since=logged)
            took = time.monotonic() - begun
            time.sleep(2.0)  # Zebra sweeps what was not confirmed, if it does, only after planed has said it is done.
            assert all(leaf.has_bgp(p) for p in alive), "a living host is missing"
        watches["spine-a"].assert_never_left(alive)
        self._say(took, f"ready again; {held} of {len(alive)} routes were there without it, and none ever left spine-a")

    def _planectl_tells(self) -> None:
        self._head("planectl on leaf-a1: is this leaf well, why is gpu1 a route, and what happens when its port is cut")
        leaf, gpu1 = self._lab["leaf-a1"], self._lab.host("gpu1")
        self._show(leaf, "status")
        status = json.loads(leaf.run(_planectl("status", "-o", "json")).stdout)
        assert status["ready"] and status["frr"]["routes_installed"] == 4, f"planectl status: {status}"
        self._show(leaf, "explain", gpu1.v4)
        explained = json.loads(leaf.run(_planectl("explain", gpu1.v4, "-o", "json")).stdout)
        assert explained["reason"] == "eligible", f"planectl explain {gpu1.v4}: {explained}"
        watcher = leaf.popen(_planectl("watch", "routes", "-o", "jsonl"), stdout=subprocess.PIPE)
        try:
            assert watcher.stdout is not None
            events = map(json.loads, watcher.stdout)
            assert next(events)["kind"] == "sync"
            gpu1.cut("eth1")
            gone = next(event for event in events if event.get("prefix") == f"{gpu1.v4}/32" and event["gone"])
            self._say(None, f"watch: {json.dumps(gone)}")
        finally:
            watcher.kill()
            watcher.communicate()

    # ---- seeing and saying ----

    def _show(self, leaf: Node, *words: str) -> None:
        self._say(None, f"$ planectl {' '.join(words)}")
        for line in leaf.run(_planectl(*words)).stdout.splitlines():
            self._say(None, line)

    def _head(self, text: str) -> None:
        self._steps += 1
        print(f"\n{_BOLD}{self._steps}. {text}{_PLAIN}", flush=True)

    def _say(self, seconds: float | None, text: str) -> None:
        print(f"  {_ms(seconds) if seconds is not None else '':>9}  {text}", flush=True)

    def _wait(self, predicate: Callable[[], Any], what: str) -> None:
        """Watches have the exact times; this only says when to stop looking."""
        wait_until(predicate, SEEN, every=0.02, what=what)

    @contextmanager
    def _watched(self, *names: str) -> Iterator[dict[str, TableWatch]]:
        with ExitStack() as stack:
            yield {name: stack.enter_context(self._lab.watch(name)) for name in names}

    def _far_leaf(self, host: Host, plane: str) -> Node:
        """The leaf of that plane which the host does not hang on."""
        own = {self._lab.peer(host.name, port)[0] for port in ("eth1", "eth2")}
        return next(leaf for leaf in self._lab.leaves(plane) if leaf.name not in own)

    def _updates(self, plane: str) -> int:
        """BGP updates that the leaves of a plane have received."""
        neighbors = (leaf.vtysh_json("show bgp neighbors json").values() for leaf in self._lab.leaves(plane))
        return sum(n["messageStats"]["updatesRecv"] for of_leaf in neighbors for n in of_leaf if isinstance(n, dict))

    def _carrier(self, node: str, port: str) -> bool:
        return "LOWER_UP" in self._lab[node].json(["ip", "-j", "link", "show", port])[0]["flags"]


def _config(leaf: Node) -> dict[str, Any]:
    """What an operator would write for this leaf; everything else is as planed has it."""
    return {
        "node": {"name": leaf.name, "plane": leaf.name.split("-")[1][0]},
        "interfaces": [{"name": "Vlan100", "proxy_arp": "routed"}],
        "uplinks": ["up0"],
    }


def _planectl(*words: str) -> list[str]:
    return [str(binary().parent / "planectl"), *words]


def _serves(leaf: Node) -> bool:
    assert leaf.planed.alive, f"{leaf.name}: planed has ended: {leaf.planed.log()[-1500:]}"
    return leaf.sysctl("net.ipv4.conf.Vlan100.proxy_arp") == "1"


def _prefixes(host: Host) -> list[str]:
    return [f"{host.v4}/32", f"{host.v6}/128"]


def _first(watch: TableWatch, prefix: str) -> float:
    """When the kernel of the watched node got it."""
    return min(c.at for c in watch.changes if c.prefix == prefix and c.source == "fib" and c.kind != "remove")


def _last_removal(watch: TableWatch, prefix: str) -> float:
    return max(c.at for c in watch.left(prefix) if c.source == "fib")


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"


def _take_down_leftover() -> None:
    """Of a demo that was kept, or that died."""
    with state.locked():
        found = state.LabState.read(NAME)
        if found is None:
            return
        if found.owner.alive and found.owner.pid != os.getpid():
            raise SystemExit(f"demo: another one is running, pid {found.owner.pid}")
        state.remove(found)


def _down() -> int:
    _take_down_leftover()
    print("The fabric is down.")
    return 0


def _show_logs(lab: Lab, lines: int = 15) -> None:
    """The end of each planed's log, for the fault is usually said there."""
    for file in sorted(Path(lab.folder).glob("leaf-*/planed.log")):
        print(f"--- {file.parent.name}: planed", file=sys.stderr)
        _print_tail(file.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


def _print_tail(lines: Iterable[str]) -> None:
    for line in lines:
        print(f"    {line}", file=sys.stderr)


def _print_ways_to_look() -> None:
    lab = f"{shlex.quote(os.path.relpath(REPO / 'tests/lab/lab'))}"
    file = shlex.quote(os.path.relpath(TOPOLOGY))
    print(f"\nThe fabric stays up. To look around:\n  in=\"{lab} exec --name {NAME} {file}\"")
    for command in (
        "leaf-a2 vtysh -c 'show bgp ipv4 unicast'",
        "leaf-a1 vtysh -c 'show ip route babel'",
        "leaf-a1 ip neigh show dev Vlan100",
        "gpu1 ping -c 3 10.0.0.13",
        "gpu1 ip link set eth1 down",
    ):
        print(f"  $in {command}")
    print(f"  tail -f {state.root() / NAME}/leaf-a1/planed.log")
    print("  tests/demo --down")


if __name__ == "__main__":
    sys.exit(main())
