# SPDX-License-Identifier: Apache-2.0
"""planed, bgpd or all of FRR goes away and comes back while hosts come and go.

What lives never leaves the spine's BGP table; what died meanwhile is gone soon after.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from lab import Lab, Node, Planed, wait_until
from scene import (
    READY,
    SERVED,
    SOON,
    Guest,
    announce,
    guests,
    own,
    planed_config,
    prefixes_of,
    settle,
    start,
    tables_of,
    wait_gone,
    wait_routes,
)

# From the moment of recovery (planed started, FRR's configuration loaded) until the spine has forgotten the dead.
PORT_DOWN_DEADLINE = 2.0
NEIGHBOUR_DEADLINE = 4.0

LIVING = guests(12, first=0)
DYING = guests(6, first=100)  # Their neighbour entries are deleted or FAILED while nobody looks.
CUT = guests(6, first=200)  # Behind a port that loses carrier meanwhile.
CHURN = guests(200, first=300)  # Come and go all the time.


class Restarted:
    """One leaf with hosts of every fate, watched from its spine through a restart of something."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.leaf = lab["leaf-a1"]
        self.spine = lab["spine-a"]
        self.living = prefixes_of(LIVING) + own(lab.host("gpu1"))
        self.cut = prefixes_of(CUT) + own(lab.host("gpu2"))
        self.dying = prefixes_of(DYING)
        self.planed = start(self.leaf)
        self.speak()
        wait_routes(self.spine, self.living + self.cut + self.dying)

    def speak(self) -> None:
        gpu1, gpu2 = self.lab.host("gpu1"), self.lab.host("gpu2")
        announce(gpu1, LIVING + DYING)
        gpu1.announce(port="eth1")
        announce(gpu2, CUT)
        gpu2.announce(port="eth1")

    def let_die(self) -> None:
        """The kernel hears of every death, planed or zebra does not."""
        self.lab.host("gpu2").cut("eth1")
        deaths = []
        for number, guest in enumerate(DYING):
            for address in (guest.v4, guest.v6):
                if number % 2 == 0:
                    deaths.append(f"neigh del {address} dev {SERVED}")
                else:
                    deaths.append(f"neigh replace {address} lladdr {guest.mac} dev {SERVED} nud failed")
        self.leaf.ip_batch(deaths)

    def assert_dead_within(self, recovered: float) -> None:
        wait_gone(self.spine, self.cut, recovered + PORT_DOWN_DEADLINE - time.monotonic())
        wait_gone(self.spine, self.dying, recovered + NEIGHBOUR_DEADLINE - time.monotonic())


@contextmanager
def churn(lab: Lab) -> Iterator[None]:
    """Further hosts of the same leaf appear and vanish, some ten a second each way."""
    leaf, host = lab["leaf-a1"], lab.host("gpu1")
    ended = threading.Event()

    def come(guest: Guest) -> None:
        announce(host, [guest])

    def go(guest: Guest) -> None:
        leaf.run(["ip", "neigh", "del", guest.v4, "dev", SERVED], check=False)
        leaf.run(["ip", "neigh", "del", guest.v6, "dev", SERVED], check=False)

    def keep_going() -> None:
        for number in range(100_000):
            come(CHURN[number % len(CHURN)])
            go(CHURN[(number - 20) % len(CHURN)])
            if ended.wait(0.05):
                return

    thread = threading.Thread(target=keep_going, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.alone  # It counts the time from planed's start on.
@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "stopped"])
def test_planed_returns_and_only_the_dead_are_withdrawn(lab: Lab, ended_by: int) -> None:
    scene = Restarted(lab)
    with lab.watch("spine-a") as watch, churn(lab):
        scene.planed.send_signal(ended_by)
        scene.planed.wait()
        scene.let_die()
        settle()
        recovered = time.monotonic()
        scene.planed.start()
        scene.assert_dead_within(recovered)
        settle()

    watch.assert_never_left(scene.living)
    assert not watch.gaps


def test_planed_that_is_killed_and_started_in_the_same_instant_withdraws_nothing(lab: Lab) -> None:
    scene = Restarted(lab)
    with lab.watch("spine-a") as watch, lab.watch("leaf-a1") as at_home, churn(lab):
        for _ in range(3):
            since = len(scene.planed.log())
            scene.planed.restart(signal.SIGKILL)
            scene.planed.wait_log(READY, SOON, since)
        scene.let_die()
        scene.assert_dead_within(time.monotonic())
        settle()

    watch.assert_never_left(scene.living)
    at_home.assert_never_left(scene.living)  # Nor the leaf's own kernel, though all routes are put again.


def test_a_route_that_a_killed_planed_had_just_sent_is_kept_or_removed_by_the_next_one(lab: Lab) -> None:
    """zebra counts by whole seconds what a new session has refreshed; what was added in the last one looks fresh."""
    leaf, spine, host = lab["leaf-a1"], lab["spine-a"], lab.host("gpu1")
    planed = start(leaf)
    host.announce(port="eth1")
    wait_routes(spine, own(host))

    late = guests(20, first=600)
    announce(host, late)
    wait_until(lambda: leaf.has_route(late[-1].prefixes[0]), SOON)
    with lab.watch("spine-a") as watch:
        planed.kill()
        leaf.ip_batch([f"neigh del {address} dev {SERVED}" for guest in late[:10] for address in (guest.v4, guest.v6)])
        since = len(planed.log())
        planed.start()
        planed.wait_log(READY, SOON, since)
        wait_gone(spine, prefixes_of(late[:10]), NEIGHBOUR_DEADLINE)
        wait_routes(spine, prefixes_of(late[10:]))
    watch.assert_never_left(own(host) + prefixes_of(late[10:]))


def restart_all(leaf: Node) -> None:
    leaf.restart_frr()


def zebra_dies_and_all_restart(leaf: Node) -> None:
    leaf.kill_daemon("zebra")
    leaf.kill_daemon("bgpd", signal.SIGINT)
    for name in [name for name in leaf.frr_pids if name not in ("zebra", "bgpd")]:
        leaf.kill_daemon(name, signal.SIGINT)
    leaf.start_frr()


def bgpd_alone(leaf: Node) -> None:
    leaf.restart_daemon("bgpd")


def bgpd_is_killed(leaf: Node) -> None:
    leaf.restart_daemon("bgpd", signal.SIGKILL)


@pytest.mark.spoils_lab
@pytest.mark.parametrize("restart", [restart_all, zebra_dies_and_all_restart, bgpd_alone, bgpd_is_killed])
def test_frr_returns_and_only_the_dead_are_withdrawn(lab: Lab, restart: Callable[[Node], None]) -> None:
    scene = Restarted(lab)
    with lab.watch("spine-a") as watch, churn(lab):
        restarting = threading.Thread(target=restart, args=(scene.leaf,))
        restarting.start()
        scene.let_die()
        restarting.join()
        lab.wait_converged()
        scene.assert_dead_within(time.monotonic())
        wait_routes(scene.leaf, scene.living)
        settle(2)

    watch.assert_never_left(scene.living)
    assert scene.planed.alive


def test_a_port_that_was_cut_while_planed_was_away_is_noticed_without_a_forwarding_entry(lab: Lab) -> None:
    """The entry aged before and the port went down meanwhile: only the state file knows where the hosts were."""
    leaf, spine, host = lab["leaf-a1"], lab["spine-a"], lab.host("gpu2")
    planed = start(leaf)
    announce(host, CUT)
    wait_routes(spine, prefixes_of(CUT))
    wait_until(lambda: remembers(leaf, CUT), SOON)
    planed.kill()
    for guest in CUT:
        leaf.run(["bridge", "fdb", "del", guest.mac, "dev", "swp2", "master"])
    host.cut("eth1")

    planed.start()

    wait_gone(spine, prefixes_of(CUT), PORT_DOWN_DEADLINE)


def remembers(leaf: Node, of: list[Guest]) -> bool:
    files = [file for file in leaf.path("/var/lib/planed").iterdir() if file.is_file()]
    text = "".join(file.read_text(errors="replace") for file in files)
    return all(guest.mac in text for guest in of)


def test_a_second_planed_does_not_start(lab: Lab) -> None:
    leaf, spine, host = lab["leaf-a1"], lab["spine-a"], lab.host("gpu1")
    first = start(leaf)
    host.announce(port="eth1")
    wait_routes(spine, own(host))

    with lab.watch("spine-a") as watch:
        second = second_planed(leaf)
        assert second.wait() == 1
        settle()

    assert str(first.pid) in second.log(), "it says who is there already"
    watch.assert_never_left(own(host))
    assert first.alive


def second_planed(leaf: Node) -> Planed:
    second = Planed(leaf.popen, leaf.path("/etc/planed/planed.yaml"), leaf._folder / "second.log", [], {})
    second.write_config(planed_config(leaf))
    return second.start()


def test_the_spine_of_the_other_plane_never_notices(lab: Lab) -> None:
    for leaf in lab.leaves():
        start(leaf)
    hosts = lab.hosts()
    for host in hosts:
        host.announce()
    routes = [route for host in hosts for route in own(host)]
    for plane in "ab":
        wait_routes(lab.spine(plane), routes)

    with lab.watch("spine-b") as watch:
        lab["leaf-a1"].planed.kill()
        hosts[0].cut("eth1")
        lab["leaf-a1"].planed.start()
        wait_gone(lab.spine("a"), own(hosts[0]))
        settle()

    watch.assert_silent()
    assert set(routes) <= tables_of(lab.spine("b"))
