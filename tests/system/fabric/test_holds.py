# SPDX-License-Identifier: Apache-2.0
"""Between a verdict and a route: who comes and goes is held back, and many who fall silent at once are asked first."""

import time

from lab import Lab, Node
from scene import (
    SERVED,
    SOON,
    announce,
    assert_silent,
    guests,
    planed_config,
    prefixes,
    prefixes_of,
    settle,
    start,
    wait_gone,
    wait_routes,
)


def forget(leaf: Node, addresses: list[str]) -> None:
    """The kernel of the leaf loses these hosts, and says no more than that."""
    leaf.ip_batch([f"neigh del {address} dev {SERVED}" for address in addresses])


def test_a_host_that_comes_and_goes_is_held_back_and_then_released(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    [guest] = guests(1)
    hold = 10.0
    start(leaf, planed_config(leaf, routes={"damping": {"max_flaps": 2, "window": "5m", "hold": f"{hold:.0f}s"}}))
    for _ in range(2):
        announce(host, [guest])
        wait_routes(far, guest.prefixes)
        forget(leaf, [guest.v4, guest.v6])
        wait_gone(far, guest.prefixes)
    gone = time.monotonic()

    with lab.watch("leaf-a2") as watch:
        announce(host, [guest])
        settle(1)
    assert_silent(watch, guest.prefixes)

    wait_routes(far, guest.prefixes, hold + SOON)
    assert time.monotonic() - gone > hold / 2, "it was held back"


def test_hosts_that_fall_silent_at_once_are_asked_and_only_the_dead_go(lab: Lab) -> None:
    leaf, far, host = lab["leaf-a1"], lab["leaf-a2"], lab.host("gpu1")
    living = [f"10.0.200.{n}" for n in range(1, 11)] + [f"fd00:0:0:1::2{n:03x}" for n in range(1, 11)]
    dead = guests(2)
    host.add_addresses(living)
    shield = {"share": "0%", "at_least": 1, "window": "1s"}
    planed = start(leaf, planed_config(leaf, routes={"max_withdraw": shield}))
    host.announce(living, port="eth1")
    announce(host, dead)
    wait_routes(far, prefixes(living) + prefixes_of(dead))

    with lab.watch("leaf-a2") as watch:
        forget(leaf, living + [address for guest in dead for address in (guest.v4, guest.v6)])
        planed.wait_log(r'degraded.begin .*what="max_withdraw"', SOON)
        planed.wait_log(r'degraded.end .*what="max_withdraw"', 60)
        wait_gone(far, prefixes_of(dead), 40)  # They spoke a moment ago: for 21 s that counts.

    watch.assert_never_left(prefixes(living))
