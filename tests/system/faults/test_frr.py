# SPDX-License-Identifier: Apache-2.0
"""The same faults of a real FRR, where it decides what is right."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from farm import assert_idle, quick
from lab import Lab, Node, wait_until
from scene import announce, guests, host_routes, own, planed_config, prefixes_of, start, wait_gone, wait_routes

_OTHER = {"8.4": "10.3", "10.3": "8.4"}


@contextmanager
def frozen(leaf: Node, daemon: str = "zebra") -> Iterator[None]:
    """It lives, holds its sockets, and does nothing."""
    pid = leaf.frr_pids[daemon]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass  # The test has killed it.


def test_zebra_that_stands_still_and_wakes_has_the_last_state_at_once(lab: Lab) -> None:
    leaf, host = lab["leaf-a1"], lab.host("gpu1")
    planed = start(leaf)
    sessions = planed.log().count("zapi.up")
    living, dying, coming = guests(20), guests(20, first=100), guests(20, first=200)
    host.announce(port="eth1")
    announce(host, living + dying)
    wait_routes(leaf, own(host) + prefixes_of(living + dying))

    with frozen(leaf):
        for guest in dying:
            leaf.run(["ip", "neigh", "del", guest.v4, "dev", "Vlan100"])
            leaf.run(["ip", "neigh", "del", guest.v6, "dev", "Vlan100"])
        announce(host, coming)
        assert_idle(planed)

    wait_routes(leaf, own(host) + prefixes_of(living + coming), quick(2))
    wait_gone(leaf, prefixes_of(dying), quick(2))
    assert planed.log().count("zapi.up") == sessions


def test_planed_stops_within_a_second_though_zebra_stands_still(lab: Lab) -> None:
    leaf, host = lab["leaf-a1"], lab.host("gpu1")
    planed = start(leaf)
    host.announce(port="eth1")
    wait_routes(leaf, own(host))

    with frozen(leaf):
        planed.send_signal(signal.SIGTERM)
        assert planed.wait(quick(1.2)) == 0

    assert set(own(host)) <= host_routes(leaf)


def test_planed_starts_while_zebra_stands_still_and_is_ready_when_it_moves(lab: Lab) -> None:
    leaf, host = lab["leaf-a1"], lab.host("gpu1")
    with frozen(leaf):
        planed = start(leaf, ready=False)
        planed.wait_log('degraded.begin .*what="zebra" text="[^"]*does not answer', quick(20))
        host.announce(port="eth1")
        assert_idle(planed)

    wait_routes(leaf, own(host), quick(5))


def test_pinned_release_that_is_not_this_ones_gets_no_route(lab: Lab, frr: str) -> None:
    leaf, host = lab["leaf-a1"], lab.host("gpu1")
    config = planed_config(leaf, frr={"release": _OTHER[frr]})
    planed = start(leaf, config, ready=False)
    host.announce(port="eth1")

    planed.wait_log('degraded.begin .*what="zebra" text="[^"]*frr.release names', quick(5))

    assert_idle(planed)
    assert host_routes(leaf) == set()
    planed.write_config(planed_config(leaf, frr={"release": frr}))
    planed.restart()
    host.announce(port="eth1")
    wait_routes(leaf, own(host))


@pytest.mark.spoils_lab
def test_zebra_killed_while_it_stands_still_gets_everything_again(lab: Lab) -> None:
    leaf, host = lab["leaf-a1"], lab.host("gpu1")
    planed = start(leaf)
    living, dying = guests(20), guests(20, first=100)
    host.announce(port="eth1")
    announce(host, living + dying)
    wait_routes(leaf, own(host) + prefixes_of(living + dying))

    with frozen(leaf):
        for guest in dying:
            leaf.run(["ip", "neigh", "del", guest.v4, "dev", "Vlan100"])
            leaf.run(["ip", "neigh", "del", guest.v6, "dev", "Vlan100"])
        leaf.restart_frr(signal.SIGKILL)

    wait_routes(leaf, own(host) + prefixes_of(living), quick(10))
    wait_until(lambda: not set(prefixes_of(dying)) & host_routes(leaf), quick(4))
    assert planed.alive
